// SPDX-License-Identifier: BSD-3-Clause
#include "entry.h"

#include <dlfcn.h>
#include <link.h>

#include <cstring>
#include <mutex>
#include <string>

#include "faces/error_line.h"

extern "C" {
extern nagaya::mpi::Entries nagaya_mpi_entries, nagaya_pmpi_entries;
void nagaya_mpi_fill_entries();
}

namespace nagaya::mpi {
namespace {

constexpr const Abi* kAll[] = {&mpich::abi};

struct Library {
  const Abi* abi = nullptr;
  std::string path;
};

// Stops at the first loaded library that has the name of a known MPI.
int find(dl_phdr_info* info, size_t, void* found) {
  const char* const slash = std::strrchr(info->dlpi_name, '/');
  const char* const name = slash != nullptr ? slash + 1 : info->dlpi_name;
  for (const Abi* const abi : kAll) {
    if (!abi->has_name(name)) continue;
    *static_cast<Library*>(found) = {abi, info->dlpi_name};
    return 1;
  }
  return 0;
}

// Returns the path of the object that a function is in.
std::string object_of(const void* function) {
  Dl_info info{};
  return ::dladdr(function, &info) != 0 && info.dli_fname != nullptr ? info.dli_fname : "";
}

// A tool that wraps MPI_X and calls PMPI_X is called first, as it would be without us.
Address function_of_tool(const std::string& name, const std::string& mpi) {
  void* const next = ::dlsym(RTLD_NEXT, name.c_str());
  return next != nullptr && object_of(next) != mpi ? next : nullptr;
}

[[noreturn]] void end_without_mpi() {
  print_error_line(
      "nagaya: a function of MPI is called, but no library of an MPI is loaded: link the program "
      "with one, or set NAGAYA_MPI=off");
  std::_Exit(125);
}

// An MPI that is not known stays as it is.
void pass_all_through() {
  for (size_t n = 0; n < kExportedCount; ++n) {
    const std::string name = std::string("MPI_") + kExported[n];
    nagaya_mpi_entries[n] = ::dlsym(RTLD_NEXT, name.c_str());
    nagaya_pmpi_entries[n] = ::dlsym(RTLD_NEXT, ("P" + name).c_str());
    if (nagaya_mpi_entries[n] == nullptr)
      nagaya_mpi_entries[n] = reinterpret_cast<void*>(end_without_mpi);
    if (nagaya_pmpi_entries[n] == nullptr) nagaya_pmpi_entries[n] = nagaya_mpi_entries[n];
  }
}

void fill() {
  Library found;
  ::dl_iterate_phdr(find, &found);
  void* const mpi = found.abi != nullptr
                        ? ::dlopen(found.path.c_str(), RTLD_LAZY | RTLD_LOCAL | RTLD_NOLOAD)
                        : nullptr;
  if (mpi == nullptr) return pass_all_through();
  found.abi->fill(mpi, nagaya_pmpi_entries);
  const std::string path = object_of(::dlsym(mpi, "PMPI_Init"));
  for (size_t n = 0; n < kExportedCount; ++n) {
    void* const tool = function_of_tool(std::string("MPI_") + kExported[n], path);
    nagaya_mpi_entries[n] = tool != nullptr ? tool : nagaya_pmpi_entries[n];
  }
}

}  // namespace
}  // namespace nagaya::mpi

void nagaya_mpi_fill_entries() {
  static std::once_flag once;
  std::call_once(once, nagaya::mpi::fill);
}

// SPDX-License-Identifier: BSD-3-Clause
#include "entry.h"

#include <cstdlib>
#include <mutex>
#include <string>

#include "beneath/components.h"
#include "faces/error_line.h"
#include "loaded_mpi.h"
#include "verbose.h"

extern "C" {
extern nagaya::mpi::Entries nagaya_mpi_entries, nagaya_pmpi_entries;
void nagaya_mpi_fill_entries(const void* caller);
}

namespace nagaya::mpi {
namespace {

[[noreturn]] void end_without_mpi() {
  print_error_line(
      "nagaya: a function of MPI is called, but no library of an MPI is loaded: link the program "
      "with one, or set NAGAYA_MPI=off");
  std::_Exit(125);
}

[[noreturn]] void end_without_function() {
  print_error_line("nagaya: a function of MPI is called that the loaded MPI lacks");
  std::_Exit(125);
}

// An MPI that is not known stays as it is.
void pass_through(const LoadedMpi& mpi, const std::string& name, Address& entry,
                  Address& profiling_entry) {
  entry = mpi.function(name);
  profiling_entry = mpi.function("P" + name);
  if (entry == nullptr)
    entry = reinterpret_cast<Address>(mpi.is_there() ? end_without_function : end_without_mpi);
  if (profiling_entry == nullptr) profiling_entry = entry;
}

Share share_in(const LoadedMpi& mpi) {
  if (mpi.abi() == nullptr) {
    tell_of_job("MPI_COMM_WORLD: by the MPI: its binary interface is not known");
    return Share::kNothing;
  }
  keep_components_from_pmix(mpi.library());
  const std::string release = release_of_components(mpi.library());
  if (release.empty()) return Share::kAll;
  tell_of_job("MPI_COMM_WORLD: by the components for Open MPI " + release);
  return Share::kWindows;
}

void fill(const void* caller) {
  const LoadedMpi mpi(caller);
  const Share share = share_in(mpi);
  if (share != Share::kNothing) mpi.abi()->fill(mpi.library(), share, nagaya_pmpi_entries);
  for (size_t n = 0; n < kExportedCount; ++n) {
    if (share != Share::kNothing)
      nagaya_mpi_entries[n] = nagaya_pmpi_entries[n];
    else
      pass_through(mpi, kExported[n], nagaya_mpi_entries[n], nagaya_pmpi_entries[n]);
    // A tool that wraps MPI_X and calls PMPI_X is called first, as it would be without us.
    void* const tool = mpi.function_of_tool(kExported[n]);
    if (tool != nullptr) nagaya_mpi_entries[n] = tool;
  }
}

}  // namespace
}  // namespace nagaya::mpi

void nagaya_mpi_fill_entries(const void* caller) {
  static std::once_flag once;
  std::call_once(once, nagaya::mpi::fill, caller);
}

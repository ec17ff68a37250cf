// SPDX-License-Identifier: BSD-3-Clause
#include "loaded_mpi.h"

#include <dlfcn.h>

namespace nagaya::mpi {
namespace {

constexpr const Abi* kAbis[] = {&mpich::abi, &openmpi::abi, &standard::abi};

// Returns the object that an address is in, or nullptr.
const link_map* object_of(const void* address) {
  Dl_info info{};
  void* object = nullptr;
  return ::dladdr1(address, &info, &object, RTLD_DL_LINKMAP) != 0 ? static_cast<link_map*>(object)
                                                                  : nullptr;
}

bool is_ours(const void* address) {
  return object_of(address) == object_of(kAbis);
}

void* open_loaded(const link_map* object) {
  return object != nullptr ? ::dlopen(object->l_name, RTLD_LAZY | RTLD_LOCAL | RTLD_NOLOAD)
                           : nullptr;
}

std::string_view soname_of(const link_map& object) {
  const ElfW(Dyn)* name = nullptr;
  const char* strings = nullptr;
  for (const ElfW(Dyn)* entry = object.l_ld; entry->d_tag != DT_NULL; ++entry) {
    if (entry->d_tag == DT_SONAME) name = entry;
    // The loader has added the object's base.
    if (entry->d_tag == DT_STRTAB) strings = reinterpret_cast<const char*>(entry->d_un.d_ptr);
  }
  return name != nullptr ? strings + name->d_un.d_val : std::string_view();
}

}  // namespace

LoadedMpi::LoadedMpi(const void* caller) : scope_(open_loaded(object_of(caller))) {
  // A tool may have MPI_Init, but not PMPI_Init; an MPI may have MPI_Init alone.
  const void* init = find("PMPI_Init");
  if (init == nullptr) init = find("MPI_Init");
  if (init == nullptr) return;
  object_ = object_of(init);
  library_ = open_loaded(object_);
  for (const Abi* const abi : kAbis)
    if (library_ != nullptr && abi->is_interface_of(soname_of(*object_), library_)) abi_ = abi;
}

void* LoadedMpi::find(const char* name) const {
  void* function = ::dlsym(RTLD_NEXT, name);
  if (function == nullptr && scope_ != nullptr) function = ::dlsym(scope_, name);
  return is_ours(function) ? nullptr : function;
}

void* LoadedMpi::function(const std::string& name) const {
  void* const function = library_ != nullptr ? ::dlsym(library_, name.c_str()) : nullptr;
  return is_ours(function) ? nullptr : function;
}

void* LoadedMpi::function_of_tool(const std::string& name) const {
  void* const next = find(name.c_str());
  return next != nullptr && object_of(next) != object_ ? next : nullptr;
}

}  // namespace nagaya::mpi

// SPDX-License-Identifier: BSD-3-Clause
#include "beneath/functions.h"

#include <dlfcn.h>

#include <string>

#include "calls/calls.h"

namespace nagaya::mpi::NAGAYA_MPI_ABI {

Functions beneath;

namespace {

struct Name {
  const char* name;
  size_t offset;  // in Functions
  bool is_exported;
};
constexpr Name kNames[] = {
#define EXPORTED(result, name, arguments) {#name, offsetof(Functions, name), true},
#define CALLED(result, name, arguments) {#name, offsetof(Functions, name), false},
#include "functions.def"
#undef EXPORTED
#undef CALLED
};

int unsupported() {
  return MPI_ERR_UNSUPPORTED_OPERATION;
}

Address& address_in(Functions& functions, const Name& name) {
  return *reinterpret_cast<Address*>(reinterpret_cast<char*>(&functions) + name.offset);
}

void fill(void* mpi, Entries& entries) {
  Functions own;
  add_calls(own);
  size_t n = 0;
  for (const Name& name : kNames) {
    Address& address = address_in(beneath, name);
    address = ::dlsym(mpi, (std::string("PMPI_") + name.name).c_str());
    if (address == nullptr) address = reinterpret_cast<Address>(unsupported);
    if (!name.is_exported) continue;
    Address const ours = address_in(own, name);
    entries[n++] = ours != nullptr ? ours : address;
  }
}

}  // namespace

const Abi abi{kAbiName, has_library_name, fill};

}  // namespace nagaya::mpi::NAGAYA_MPI_ABI

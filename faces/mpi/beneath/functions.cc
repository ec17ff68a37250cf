// SPDX-License-Identifier: BSD-3-Clause
#include "beneath/functions.h"

#include <dlfcn.h>

#include <algorithm>
#include <iterator>

#include "beneath/foreign_call.h"
#include "beneath/large_counts.h"
#include "calls/calls.h"
#include "calls/counted.h"
#include "objects/job.h"
#include "verbose.h"

namespace nagaya::mpi::NAGAYA_MPI_ABI {

Functions beneath;

int unsupported() {
  return MPI_ERR_UNSUPPORTED_OPERATION;
}

namespace {

Functions ours;

// The entry of our function that the thread has called last: the name is wanted if it fails. (The
// library is preloaded: its thread-local variables have fixed places, and storing needs no call.)
[[gnu::tls_model("initial-exec")]] constinit thread_local Address entered = nullptr;

// The entries of a function.
template <auto function>
struct EntriesOf;
template <class Result, class... Arguments, Result (*Functions::*function)(Arguments...)>
struct EntriesOf<function> {
  // If it is ours. The MPI beneath may call it, too.
  static Result call_ours(Arguments... arguments) {
    entered = reinterpret_cast<Address>(call_ours);
    if (!ForeignCalls::has_left()) [[likely]]
      return (ours.*function)(arguments...);
    return call_back(arguments...);
  }
  // If it is not: it may wait.
  static Result call_foreign(Arguments... arguments) {
    return call_beneath(beneath.*function, arguments...);
  }

 private:
  [[gnu::noinline]] static Result call_back(Arguments... arguments) {
    const Callback callback;
    return (ours.*function)(arguments...);
  }
};

struct Name {
  const char* name;
  size_t offset;          // in Functions
  Address ours, foreign;  // if it is exported, the entries
};
template <auto function>
Name exported(const char* name, size_t offset) {
  return {name, offset, reinterpret_cast<Address>(EntriesOf<function>::call_ours),
          reinterpret_cast<Address>(EntriesOf<function>::call_foreign)};
}
const Name kNames[] = {
#define EXPORTED(result, name, arguments) \
  exported<&Functions::name>("PMPI_" #name, offsetof(Functions, name)),
#define EXTENSION(result, name, arguments) \
  exported<&Functions::name>("PMPIX_" #name, offsetof(Functions, name)),
#define CALLED(result, name, arguments) \
  {"PMPI_" #name, offsetof(Functions, name), nullptr, nullptr},
#include "functions.def"
#undef EXPORTED
#undef EXTENSION
#undef CALLED
};

Address& address_in(Functions& functions, const Name& name) {
  return *reinterpret_cast<Address*>(reinterpret_cast<char*>(&functions) + name.offset);
}

}  // namespace

const char* last_call() {
  const auto is_entered = [](const Name& name) { return name.ours == entered; };
  const auto found = std::find_if(std::begin(kNames), std::end(kNames), is_entered);
  return entered != nullptr && found != std::end(kNames) ? found->name + 1 : nullptr;  // no P
}

namespace {

void fill(void* mpi, Share share, Entries& entries) {
  Job::set_share(share);
  share == Share::kAll ? add_calls(ours) : add_calls_of_windows(ours);
  if (is_verbose()) count_calls(ours);
  for (const Name& name : kNames) address_in(beneath, name) = ::dlsym(mpi, name.name);
  add_large_counts(beneath);
  // MPI 5's names for what is the same; its binary interface lacks the earlier ones.
  if (beneath.Request_toint == nullptr) beneath.Request_toint = beneath.Request_c2f;
  if (beneath.Request_fromint == nullptr) beneath.Request_fromint = beneath.Request_f2c;
  if (beneath.Message_toint == nullptr) beneath.Message_toint = beneath.Message_c2f;
  if (beneath.Message_fromint == nullptr) beneath.Message_fromint = beneath.Message_f2c;
  size_t n = 0;
  for (const Name& name : kNames) {
    Address& address = address_in(beneath, name);
    if (address == nullptr) address = reinterpret_cast<Address>(unsupported);
    if (name.ours == nullptr) continue;
    const Address not_ours = share == Share::kAll ? name.foreign : address;
    entries[n++] = address_in(ours, name) != nullptr ? name.ours : not_ours;
  }
}

}  // namespace

const Abi abi{kAbiName, is_interface_of, fill};

}  // namespace nagaya::mpi::NAGAYA_MPI_ABI

// SPDX-License-Identifier: BSD-3-Clause
// collectives.cc - FMPL's collectives, and the functions that they reduce by.

#include <initializer_list>
#include <map>

#include "faces/fmpl/library.h"
#include "reduction/items.h"

using nagaya::Complex;
using nagaya::fmpl::Communicator;
using nagaya::fmpl::communicator_of;
using nagaya::fmpl::Function;
using nagaya::fmpl::library;
using nagaya::fmpl::status_of;

// ---- functions ----------------------------------------------------------------------------------

#define FUNCTIONS(t, T)                                                    \
  void fmpl_##t##sum(const void* in, void* inout, int count) {             \
    nagaya::add_items<T>(in, inout, static_cast<size_t>(count));           \
  }                                                                        \
  void fmpl_##t##max(const void* in, void* inout, int count) {             \
    nagaya::choose_items<T>(true, in, inout, static_cast<size_t>(count));  \
  }                                                                        \
  void fmpl_##t##min(const void* in, void* inout, int count) {             \
    nagaya::choose_items<T>(false, in, inout, static_cast<size_t>(count)); \
  }
FUNCTIONS(i, int)
FUNCTIONS(s, float)
FUNCTIONS(d, double)
FUNCTIONS(c, Complex<float>)
FUNCTIONS(z, Complex<double>)
#undef FUNCTIONS

namespace {

void call_c_function(void* func, const void* in, void* inout, size_t count) {
  (*reinterpret_cast<fmpl_func*>(func))(in, inout, static_cast<int>(count));
}

std::map<void*, Function>& functions() {
  static auto* const registered = [] {
    auto* const all = new std::map<void*, Function>;
    const auto add = [all](size_t size, std::initializer_list<fmpl_func*> some) {
      for (fmpl_func* const one : some)
        (*all)[reinterpret_cast<void*>(one)] = {size, call_c_function};
    };
    add(4, {fmpl_isum, fmpl_imax, fmpl_imin, fmpl_ssum, fmpl_smax, fmpl_smin});
    add(8, {fmpl_dsum, fmpl_dmax, fmpl_dmin, fmpl_csum, fmpl_cmax, fmpl_cmin});
    add(16, {fmpl_zsum, fmpl_zmax, fmpl_zmin});
    return all;
  }();
  return *registered;
}

// Contexts of teams whose collectives are point-to-point messages.
constexpr uint64_t kMessageContexts = NAGAYA_TEAMS_FMPL | uint64_t{1} << 53;

// Opens the team with or without special support unless it is open. Returns 0 or a negative errno.
int open_team(Communicator& of, bool has_support) {
  nagaya_team** const team = has_support ? &of.team : &of.team_by_messages;
  if (*team != nullptr) return 0;
  const nagaya_processes* const members = of.processes.get();
  return has_support ? nagaya_coll_open(NAGAYA_TEAMS_FMPL | of.number, members, 0, team)
                     : nagaya_coll_open_by_messages(kMessageContexts | of.number, members, 0, team);
}

int run(int comm, int root, nagaya_collective& what, bool asks_for_support = false) {
  Communicator* const communicator = communicator_of(comm);
  if (communicator == nullptr && library() == nullptr) return FMPL_ERR_INIT;
  if (communicator == nullptr || root < 0 || root >= communicator->size()) return FMPL_ERR_ARGUMENT;
  what.root = static_cast<uint32_t>(root);
  const bool has_support = communicator->has_support || asks_for_support;
  if (const int error = open_team(*communicator, has_support); error != 0) return status_of(error);
  return status_of(
      nagaya_coll_run(has_support ? communicator->team : communicator->team_by_messages, &what));
}

int bcast(void* buf, size_t size, int root, int comm, bool asks_for_support) {
  nagaya_collective what = {};
  what.kind = NAGAYA_BCAST;
  nagaya_blocks* const side = fmpl_rank(comm) == root ? &what.send : &what.receive;
  side->base = buf;
  side->bytes = size;
  return run(comm, root, what, asks_for_support);
}

}  // namespace

namespace nagaya::fmpl {

void register_function(void* func, const Function& function) {
  functions()[func] = function;
}

int reduce(nagaya_collective_kind kind, void* buf, int count, void* func, int root, int comm) {
  if (library() == nullptr) return FMPL_ERR_INIT;
  const auto found = functions().find(func);
  if (found == functions().end() || count < 0) return FMPL_ERR_ARGUMENT;
  nagaya_collective what = {};
  what.kind = kind;
  what.send.base = what.receive.base = buf;
  what.elements.count = static_cast<size_t>(count);
  what.elements.extent = found->second.item_bytes;
  what.elements.reduce = found->second.call;
  what.elements.context = func;
  return run(comm, root, what);
}

}  // namespace nagaya::fmpl

int fmpl_func_set(fmpl_func* func, size_t size) {
  if (func == nullptr || size == 0) return FMPL_ERR_ARGUMENT;
  nagaya::fmpl::register_function(reinterpret_cast<void*>(func), {size, call_c_function});
  return FMPL_SUCCESS;
}

int fmpl_barrier(int comm) {
  nagaya_collective what = {};
  what.kind = NAGAYA_BARRIER;
  return run(comm, 0, what);
}

int fmpl_bcast(void* buf, size_t size, int root, int comm) {
  return bcast(buf, size, root, comm, false);
}

int fmpl_hbcast(void* buf, size_t size, int root) {
  return bcast(buf, size, root, FMPL_COMM_WORLD, true);
}

int fmpl_reduce(void* buf, int count, fmpl_func* func, int root, int comm, void*) {
  return nagaya::fmpl::reduce(NAGAYA_REDUCE, buf, count, reinterpret_cast<void*>(func), root, comm);
}

int fmpl_allreduce(void* buf, int count, fmpl_func* func, int comm, void*) {
  return nagaya::fmpl::reduce(NAGAYA_ALLREDUCE, buf, count, reinterpret_cast<void*>(func), 0, comm);
}

// SPDX-License-Identifier: BSD-3-Clause
// llcl_api.cc - the C functions of nagaya/llcl.h.
#include <cerrno>
#include <cstring>

#include "llcl/apply_atomic.h"
#include "llcl/endpoint.h"

namespace nagaya::llcl {
namespace {

bool is_valid(const nagaya_completion& on_complete) {
  switch (on_complete.kind) {
    case NAGAYA_NONE:
      return true;
    case NAGAYA_FLAG:
      return on_complete.data != nullptr &&
             reinterpret_cast<uintptr_t>(on_complete.data) % sizeof(uint32_t) == 0;
    case NAGAYA_COUNTER:
      return on_complete.data != nullptr &&
             reinterpret_cast<uintptr_t>(on_complete.data) % sizeof(uint64_t) == 0;
    case NAGAYA_CALLBACK:
      return on_complete.function != nullptr;
    default:
      return false;
  }
}

Found find(const Endpoint& self, const nagaya_remote& place, uint64_t bytes) {
  return self.board().regions->find(place.region, place.process.task, place.offset, bytes);
}

// Memory of the caller that the delegatee will use in its stead, and where it would fault for all:
// a pointer that leads nowhere faults here, as in a copy by the caller. -EINVAL: more than there
// can be.
int check_local(const Endpoint& self, const void* local, uint64_t bytes) {
  if (bytes == 0) return 0;
  const auto first = reinterpret_cast<uint64_t>(local);
  const task::SpaceHeader& space = *self.record().space;
  const int64_t holder = task::number_of(space, first);
  if (first + bytes < first || (holder >= 0 && task::number_of(space, first + bytes - 1) != holder))
    return -EINVAL;
  const auto* const all = static_cast<const volatile unsigned char*>(local);
  static_cast<void>(all[0]);
  static_cast<void>(all[bytes - 1]);
  return 0;
}

Command command_to(Op op, const nagaya_remote& place) {
  Command command{};
  command.op = op;
  command.node = place.process.node;
  command.task = place.process.task;
  command.region = place.region;
  command.offset = place.offset;
  return command;
}

int transfer(Op op, const nagaya_llcl_transfer* transfer) {
  Endpoint* const self = Endpoint::own();
  if (self == nullptr) return -ESRCH;
  if (transfer == nullptr || !is_valid(transfer->on_complete) ||
      (transfer->local == nullptr && transfer->bytes != 0))
    return -EINVAL;
  if (self->is_here(transfer->remote.process)) {
    const Found found = find(*self, transfer->remote, transfer->bytes);
    if (found.error != 0) return found.error;
    if (op == Op::kPut)
      std::memmove(found.address, transfer->local, transfer->bytes);
    else
      std::memmove(transfer->local, found.address, transfer->bytes);
    complete(transfer->on_complete, 0);
    return 0;
  }
  if (const int error = check_local(*self, transfer->local, transfer->bytes); error != 0)
    return error;
  Command command = command_to(op, transfer->remote);
  if (op == Op::kPut && transfer->bytes != 0 && transfer->bytes <= kInlineMaxBytes) {
    command.inline_bytes = static_cast<uint8_t>(transfer->bytes);
    std::memcpy(command.payload, transfer->local, transfer->bytes);
  } else {
    command.local = reinterpret_cast<uint64_t>(transfer->local);
    command.bytes = transfer->bytes;
  }
  return self->submit(command, transfer->on_complete);
}

// The words of the public header and of the commands are the same numbers.
static_assert(static_cast<int>(Atomic::kMax) == NAGAYA_MAX &&
              static_cast<int>(Atomic::kCompareSwap) == NAGAYA_COMPARE_SWAP &&
              static_cast<int>(Type::kDouble) == NAGAYA_DOUBLE &&
              static_cast<int>(Type::kUint32) == NAGAYA_UINT32 &&
              static_cast<int>(Completion::kCallback) == NAGAYA_CALLBACK &&
              static_cast<int>(Completion::kCounter) == NAGAYA_COUNTER);

}  // namespace
}  // namespace nagaya::llcl

using namespace nagaya::llcl;

int nagaya_llcl_register(void* base, size_t bytes, nagaya_remote* out) {
  Endpoint* const self = Endpoint::own();
  if (self == nullptr) return -ESRCH;
  if (base == nullptr || bytes == 0 || out == nullptr) return -EINVAL;
  const uint32_t region = self->board().regions->add(self->owner(), base, bytes);
  if (region == RegionTable::kNone) return -ENOSPC;
  const uint32_t node = self->board().node.load(std::memory_order_relaxed);
  *out = {{node, self->record().number}, region, 0, 0};
  return 0;
}

int nagaya_llcl_deregister(const nagaya_remote* place) {
  Endpoint* const self = Endpoint::own();
  if (self == nullptr) return -ESRCH;
  if (place == nullptr || !self->is_here(place->process)) return -EINVAL;
  return self->board().regions->remove(self->owner(), place->region);
}

void* nagaya_llcl_pointer(const nagaya_remote* place, size_t bytes) {
  Endpoint* const self = Endpoint::own();
  if (self == nullptr || place == nullptr || !self->is_here(place->process)) return nullptr;
  return find(*self, *place, bytes).address;
}

int nagaya_llcl_try_read(const nagaya_llcl_transfer* what) {
  return transfer(Op::kGet, what);
}

int nagaya_llcl_try_write(const nagaya_llcl_transfer* what) {
  return transfer(Op::kPut, what);
}

int nagaya_llcl_try_atomic(const nagaya_llcl_atomic* what) {
  Endpoint* const self = Endpoint::own();
  if (self == nullptr) return -ESRCH;
  if (what == nullptr || !is_valid(what->on_complete)) return -EINVAL;
  const auto atomic = static_cast<Atomic>(what->operation);
  const auto type = static_cast<Type>(what->type);
  if (!is_defined(atomic, type)) return -EINVAL;
  if (!self->is_here(what->remote.process)) {
    if (what->before != nullptr) check_local(*self, what->before, size_of(type));
    Command command = command_to(Op::kAtomic, what->remote);
    command.atomic = atomic;
    command.local = reinterpret_cast<uint64_t>(what->before);
    command.bytes = static_cast<uint64_t>(type);
    command.operand = what->operand;
    command.expected = what->expected;
    return self->submit(command, what->on_complete);
  }
  const Found found = find(*self, what->remote, size_of(type));
  if (found.error != 0) return found.error;
  if (reinterpret_cast<uintptr_t>(found.address) % size_of(type) != 0) return -EINVAL;
  const uint64_t before = apply_atomic(found.address, atomic, type, what->operand, what->expected);
  if (what->before != nullptr) std::memcpy(what->before, &before, size_of(type));
  complete(what->on_complete, 0);
  return 0;
}

int nagaya_llcl_handle(uint32_t number, nagaya_handler* function, void* context) {
  Endpoint* const self = Endpoint::own();
  return self == nullptr ? -ESRCH : self->handle(number, function, context);
}

int nagaya_llcl_try_message(nagaya_process to, uint32_t number, const void* data, size_t bytes,
                            nagaya_completion on_complete) {
  Endpoint* const self = Endpoint::own();
  if (self == nullptr) return -ESRCH;
  if (!is_valid(on_complete) || (data == nullptr && bytes != 0)) return -EINVAL;
  if (self->is_here(to)) {
    const int error = self->send(to.task, number, data, bytes);
    if (error == 0) complete(on_complete, 0);
    return error;
  }
  if (const int error = check_local(*self, data, bytes); error != 0) return error;
  Command command = command_to(Op::kActiveMessage, {to, number, 0, 0});
  if (bytes != 0 && bytes <= kInlineMaxBytes) {
    command.inline_bytes = static_cast<uint8_t>(bytes);
    std::memcpy(command.payload, data, bytes);
  } else {
    command.local = reinterpret_cast<uint64_t>(data);
    command.bytes = bytes;
  }
  return self->submit(command, on_complete);
}

int nagaya_llcl_wait_flag(const uint32_t* flag, int timeout_ms) {
  Endpoint* const self = Endpoint::own();
  if (self == nullptr) return -ESRCH;
  uint32_t value = 0;
  const auto ready = [&] {  // acquire: pairs with whoever completes
    value = std::atomic_ref(*const_cast<uint32_t*>(flag)).load(std::memory_order_acquire);
    return value != 0;
  };
  if (!self->wait(ready, timeout_ms)) return -ETIMEDOUT;
  return static_cast<int32_t>(value) < 0 ? static_cast<int32_t>(value) : 0;
}

int nagaya_llcl_wait_counter(const uint64_t* counter, uint32_t least, int timeout_ms) {
  Endpoint* const self = Endpoint::own();
  if (self == nullptr) return -ESRCH;
  uint64_t value = 0;
  const auto ready = [&] {  // acquire: pairs with whoever completes
    value = std::atomic_ref(*const_cast<uint64_t*>(counter)).load(std::memory_order_acquire);
    return (value & UINT32_MAX) + (value >> 32) >= least;
  };
  if (!self->wait(ready, timeout_ms)) return -ETIMEDOUT;
  return value >> 32 != 0 ? -EIO : 0;
}

// SPDX-License-Identifier: BSD-3-Clause
#include "llcl/prepare.h"

#include <cerrno>
#include <cstddef>
#include <cstring>

#include "llcl/apply_atomic.h"
#include "llcl/misuse.h"

namespace nagaya::llcl {
namespace {

static_assert(sizeof nagaya_llcl_prepared::command == sizeof(Command) &&
              offsetof(Command, local) == 4 * sizeof(uint64_t) &&
              offsetof(Command, operand) == 6 * sizeof(uint64_t));
// The header reads it by the compiler's atomics.
static_assert(sizeof(Sleepers::count) == sizeof(uint32_t) &&
              std::atomic<uint32_t>::is_always_lock_free);

uint32_t way_of(const nagaya_llcl_prepared& request) {
  if (request.on_complete.kind == NAGAYA_CALLBACK || request.bytes == 0 ||
      request.bytes > kInlineCopyMaxBytes)
    return NAGAYA_LLCL_CALL;
  const bool is_word = request.bytes == sizeof(uint64_t) &&
                       is_aligned(request.to, sizeof(uint64_t)) &&
                       is_aligned(request.from, sizeof(uint64_t));
  return is_word ? NAGAYA_LLCL_WORD : NAGAYA_LLCL_COPY;
}

int prepare_counter(const Endpoint& self, const nagaya_remote& counter, nagaya_llcl_prepared* out) {
  const Found found = self.find(counter, sizeof(uint64_t));
  if (out->task >= self.board().capacity || found.error != 0 ||
      !is_aligned(found.address, sizeof(uint64_t)))
    return -EINVAL;
  out->counter = reinterpret_cast<uint64_t*>(found.address);
  out->sleepers = reinterpret_cast<const uint32_t*>(&self.board().sleepers[out->task].count);
  return 0;
}

int prepare_here(const Endpoint& self, Op op, const nagaya_llcl_transfer& transfer,
                 const nagaya_remote* counter, nagaya_llcl_prepared* out) {
  const Found found = self.find(transfer.remote, transfer.bytes);
  if (found.error != 0) return found.error;
  out->to = op == Op::kGet ? transfer.local : found.address;
  out->from = op == Op::kGet ? found.address : transfer.local;
  out->way = way_of(*out);
  out->command[0] = 0;  // no atomic
  return counter == nullptr ? 0 : prepare_counter(self, *counter, out);
}

int prepare_there(const Endpoint& self, Op op, const nagaya_llcl_transfer& transfer,
                  const nagaya_remote* counter, nagaya_llcl_prepared* out) {
  Command command{};
  int error = set_place(&command, transfer.remote);
  if (error == 0) error = check_local(*self.record().space, transfer.local, transfer.bytes);
  if (error != 0) return error;
  command.op = op;
  if (op == Op::kPut && transfer.bytes != 0 && transfer.bytes <= kInlineMaxBytes) {
    command.inline_bytes = static_cast<uint8_t>(transfer.bytes);
  } else {
    command.local = reinterpret_cast<uint64_t>(transfer.local);
    command.bytes = transfer.bytes;
  }
  if (counter != nullptr) {
    command.operand = counter->offset;
    command.expected = counter->region;
  }
  out->way = NAGAYA_LLCL_LANE;
  out->from = transfer.local;
  std::memcpy(out->command, &command, sizeof command);
  return 0;
}

bool is_misuse(const nagaya_llcl_atomic* what) {
  return what == nullptr || !is_valid(what->on_complete) ||
         static_cast<unsigned>(what->operation) > NAGAYA_MAX ||
         static_cast<unsigned>(what->type) > NAGAYA_DOUBLE ||
         !is_defined(static_cast<Atomic>(what->operation), static_cast<Type>(what->type));
}

bool is_inline(const nagaya_llcl_atomic& what) {
  return what.operation == NAGAYA_ADD && what.on_complete.kind != NAGAYA_CALLBACK &&
         (what.type == NAGAYA_INT64 || what.type == NAGAYA_UINT64);
}

}  // namespace

int prepare(Op op, const nagaya_llcl_transfer* transfer, const nagaya_remote* counter,
            nagaya_llcl_prepared* out) {
  const Endpoint* const self = Endpoint::own();
  if (self == nullptr) return -ESRCH;
  if (transfer == nullptr || out == nullptr || !is_valid(transfer->on_complete) ||
      (transfer->local == nullptr && transfer->bytes != 0))
    return -EINVAL;
  const nagaya_process process = transfer->remote.process;
  if (counter != nullptr &&
      (counter->process.node != process.node || counter->process.task != process.task))
    return -EINVAL;
  out->task = process.task;
  out->bytes = transfer->bytes;
  out->counter = nullptr;
  out->on_complete = transfer->on_complete;
  return self->is_here(process) ? prepare_here(*self, op, *transfer, counter, out)
                                : prepare_there(*self, op, *transfer, counter, out);
}

int prepare_atomic(const nagaya_llcl_atomic* what, nagaya_llcl_prepared* out) {
  const Endpoint* const self = Endpoint::own();
  if (self == nullptr) return -ESRCH;
  if (is_misuse(what) || out == nullptr) return -EINVAL;
  const auto type = static_cast<Type>(what->type);
  const bool is_here = self->is_here(what->remote.process);
  Command command{};
  int error = set_place(&command, what->remote);
  if (error == 0 && !is_here && what->before != nullptr)
    error = check_local(*self->record().space, what->before, size_of(type));
  if (error != 0) return error;
  command.op = Op::kAtomic;
  command.atomic = static_cast<Atomic>(what->operation);
  command.local = reinterpret_cast<uint64_t>(what->before);
  command.bytes = what->type;
  command.operand = what->operand;
  command.expected = what->expected;
  std::memcpy(out->command, &command, sizeof command);
  out->way = NAGAYA_LLCL_LANE;
  out->counter = nullptr;
  out->on_complete = what->on_complete;
  if (!is_here) return 0;
  const Found found = self->find(what->remote, size_of(type));
  if (found.error != 0) return found.error;
  if (!is_aligned(found.address, size_of(type))) return -EINVAL;
  out->to = found.address;
  out->way = is_inline(*what) ? NAGAYA_LLCL_ADD : NAGAYA_LLCL_CALL;
  return 0;
}

}  // namespace nagaya::llcl

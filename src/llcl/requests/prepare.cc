// SPDX-License-Identifier: BSD-3-Clause
#include "llcl/requests/prepare.h"

#include <cerrno>
#include <cstddef>
#include <new>

#include "layout/bytes.h"
#include "llcl/board/apply_atomic.h"

namespace nagaya::llcl {
namespace {

static_assert(sizeof nagaya_llcl_prepared::command == sizeof(Command) &&
              offsetof(Command, data.word.before) == 4 * sizeof(uint64_t) &&
              offsetof(Command, data.word.operand) == 6 * sizeof(uint64_t));
// The public header reads Sleepers::count by the compiler's atomics.
static_assert(sizeof(Sleepers::count) == sizeof(uint32_t) &&
              std::atomic<uint32_t>::is_always_lock_free);

uint32_t way_of(const nagaya_llcl_prepared& request) {
  if (request.on_complete.kind == NAGAYA_CALLBACK || request.bytes == 0 ||
      request.bytes > kInlineCopyMaxBytes ||
      (request.bytes >= layout::kStringMoveMinBytes &&
       layout::is_slow_by_string_move(request.to, request.from)))
    return NAGAYA_LLCL_CALL;
  const bool is_word = request.bytes == sizeof(uint64_t) &&
                       is_aligned(request.to, sizeof(uint64_t)) &&
                       is_aligned(request.from, sizeof(uint64_t));
  return is_word ? NAGAYA_LLCL_WORD : NAGAYA_LLCL_COPY;
}

int prepare_counter(const Endpoint& self, const nagaya_remote& counter, nagaya_llcl_prepared* out) {
  const Found found = self.find(counter, sizeof(uint64_t));
  if (out->task >= self.board().capacity || found.error != 0)
    return refuse_place(self, counter, sizeof(uint64_t));
  if (!is_aligned(found.address, sizeof(uint64_t)))
    return refuse_alignment(counter, sizeof(uint64_t));
  out->counter = reinterpret_cast<uint64_t*>(found.address);
  out->sleepers = reinterpret_cast<const uint32_t*>(&self.board().sleepers[out->task].count);
  return 0;
}

int prepare_here(const Endpoint& self, Op op, const nagaya_llcl_transfer& transfer,
                 const nagaya_remote* counter, nagaya_llcl_prepared* out) {
  const Found found = self.find(transfer.remote, transfer.bytes);
  if (found.error != 0) return refuse_place(self, transfer.remote, transfer.bytes);
  out->to = op == Op::kGet ? transfer.local : found.address;
  out->from = op == Op::kGet ? found.address : transfer.local;
  out->way = way_of(*out);
  new (out->command) Command{};  // no atomic
  return counter == nullptr ? 0 : prepare_counter(self, *counter, out);
}

bool is_inline_add(const nagaya_llcl_atomic& what) {
  return what.operation == NAGAYA_ADD && what.on_complete.kind != NAGAYA_CALLBACK &&
         (what.type == NAGAYA_INT64 || what.type == NAGAYA_UINT64);
}

}  // namespace

int check(const Endpoint& self, const nagaya_llcl_atomic* atomic) {
  if (atomic == nullptr) return refuse_null("the request");
  if (!is_valid(atomic->on_complete)) return refuse_completion(atomic->on_complete);
  const auto type = static_cast<Type>(atomic->type);
  if (static_cast<unsigned>(atomic->operation) > NAGAYA_MAX ||
      static_cast<unsigned>(atomic->type) > NAGAYA_DOUBLE ||
      !is_defined(static_cast<Atomic>(atomic->operation), type))
    return refuse(-EINVAL, "no atomic has operation %u with type %u",
                  static_cast<unsigned>(atomic->operation), static_cast<unsigned>(atomic->type));
  const int error = require_place(atomic->remote);
  if (error != 0 || self.is_here(atomic->remote.process) || atomic->before == nullptr) return error;
  return require_local(self, atomic->before, size_of(type));
}

int prepare_checked(const Endpoint& self, Op op, const nagaya_llcl_transfer& transfer,
                    const nagaya_remote* counter, nagaya_llcl_prepared* out) {
  out->task = transfer.remote.process.task;
  out->bytes = transfer.bytes;
  out->counter = nullptr;
  out->on_complete = transfer.on_complete;
  if (self.is_here(transfer.remote.process)) return prepare_here(self, op, transfer, counter, out);
  out->way = NAGAYA_LLCL_LANE;
  out->from = transfer.local;
  describe(op, transfer, counter, new (out->command) Command);
  return 0;
}

int prepare_checked(const Endpoint& self, const nagaya_llcl_atomic& atomic,
                    nagaya_llcl_prepared* out) {
  describe(Op::kAtomic, atomic, new (out->command) Command);
  out->way = NAGAYA_LLCL_LANE;
  out->counter = nullptr;
  out->on_complete = atomic.on_complete;
  if (!self.is_here(atomic.remote.process)) return 0;
  const size_t bytes = size_of(static_cast<Type>(atomic.type));
  const Found found = self.find(atomic.remote, bytes);
  if (found.error != 0) return refuse_place(self, atomic.remote, bytes);
  if (!is_aligned(found.address, bytes)) return refuse_alignment(atomic.remote, bytes);
  out->to = found.address;
  out->way = is_inline_add(atomic) ? NAGAYA_LLCL_ADD : NAGAYA_LLCL_CALL;
  return 0;
}

int prepare(Op op, const nagaya_llcl_transfer* transfer, const nagaya_remote* counter,
            nagaya_llcl_prepared* out) {
  const Endpoint* const self = Endpoint::own();
  if (self == nullptr) return refuse_outside();
  if (out == nullptr) return refuse_null("the prepared request");
  const int error = check(*self, transfer, counter);
  return error != 0 ? error : prepare_checked(*self, op, *transfer, counter, out);
}

int prepare_atomic(const nagaya_llcl_atomic* atomic, nagaya_llcl_prepared* out) {
  const Endpoint* const self = Endpoint::own();
  if (self == nullptr) return refuse_outside();
  if (out == nullptr) return refuse_null("the prepared request");
  const int error = check(*self, atomic);
  return error != 0 ? error : prepare_checked(*self, *atomic, out);
}

}  // namespace nagaya::llcl

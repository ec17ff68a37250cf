// SPDX-License-Identifier: BSD-3-Clause
// llcl_api.cc - the C functions of nagaya/llcl.h.
#include <bit>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <new>

#include "llcl/board/apply_atomic.h"
#include "llcl/board/port_cell.h"
#include "llcl/requests/endpoint.h"
#include "llcl/requests/prepare.h"
#include "llcl/requests/refusal.h"
#include "llcl/requests/word.h"

namespace nagaya::llcl {
namespace {

void count_access(const Endpoint& self) {
  count(self.board(), self.owner(), &TaskActivity::accesses, 1);
}

int transfer(Op op, const nagaya_llcl_transfer* transfer, const nagaya_remote* counter) {
  Endpoint* const self = Endpoint::own();
  if (self == nullptr) return refuse_outside();
  if (const int error = check(*self, transfer, counter); error != 0) return error;
  count_access(*self);
  const uint32_t node = transfer->remote.process.node;
  if (!self->is_here(node))
    return submit(*self, node, transfer->on_complete, [&](Command& command) {
      describe(op, *transfer, counter, &command);
      if (is_inline(op, transfer->bytes))
        std::memcpy(command.data.payload, transfer->local, transfer->bytes);
    });
  nagaya_llcl_prepared request;
  const int error = prepare_checked(*self, op, *transfer, counter, &request);
  if (error != 0) return error;
  if (request.way != NAGAYA_LLCL_CALL)
    count(self->board(), self->owner(), &TaskActivity::copied_bytes, request.bytes);
  return nagaya_llcl_try_start(&request);
}

// Computes the memory that piece `n` touches on both sides. Returns 0, -EINVAL.
int spans_of(const nagaya_llcl_pieces& all, size_t n, layout::Span* local, layout::Span* remote) {
  const Piece piece = std::bit_cast<Piece>(all.pieces[n]);
  const bool possible = local_span(piece, local) && remote_span(piece, all.remote.offset, remote) &&
                        (local->bytes == 0 || piece.local != 0);
  if (possible) return 0;
  return refuse(-EINVAL, "piece %zu: its local memory is NULL, or a range of it cannot be", n);
}

int pieces_here(const Endpoint& self, Op op, const nagaya_llcl_pieces& all) {
  const Found place = self.find(all.remote, 0);
  int error = place.error == 0 ? 0 : refuse_place(self, all.remote, 0);
  for (size_t n = 0; error == 0 && n < all.count; ++n) {
    layout::Span local, remote;
    error = spans_of(all, n, &local, &remote);
    if (error != 0 || remote.bytes == 0) continue;
    nagaya_remote touched = all.remote;
    touched.offset = remote.first;
    if (self.find(touched, remote.bytes).error != 0)
      error = refuse_place(self, touched, remote.bytes);
  }
  if (error != 0) return error;
  for (size_t n = 0; n < all.count; ++n)
    copy_piece(op == Op::kPutPieces, std::bit_cast<Piece>(all.pieces[n]), place.address);
  complete(all.on_complete, 0);
  return 0;
}

int pieces_there(Endpoint& self, Op op, const nagaya_llcl_pieces& all) {
  int error = require_place(all.remote);
  if (error == 0) error = require_local(self, all.pieces, all.count * sizeof(Piece));
  for (size_t n = 0; error == 0 && n < all.count; ++n) {
    layout::Span local, remote;
    error = spans_of(all, n, &local, &remote);
    if (error == 0)
      error = require_local(self, reinterpret_cast<const void*>(local.first), local.bytes);
  }
  if (error != 0) return error;
  return submit(self, all.remote.process.node, all.on_complete, [&](Command& command) {
    set_place(&command, op, all.remote);
    command.data.pieces = {reinterpret_cast<uint64_t>(all.pieces), all.count};
  });
}

int pieces(Op op, const nagaya_llcl_pieces* all) {
  Endpoint* const self = Endpoint::own();
  if (self == nullptr) return refuse_outside();
  if (all == nullptr) return refuse_null("the request");
  if (!is_valid(all->on_complete)) return refuse_completion(all->on_complete);
  if (all->pieces == nullptr && all->count != 0) return refuse_null("the list of pieces");
  if (all->count > SIZE_MAX / sizeof(Piece))
    return refuse(-EINVAL, "there cannot be %zu pieces", all->count);
  count_access(*self);
  return self->is_here(all->remote.process) ? pieces_here(*self, op, *all)
                                            : pieces_there(*self, op, *all);
}

// Carries out an atomic on a word of this node, and stores the value from before if asked to.
void apply(const Command& command, void* word) {
  const Command::Word& how = command.data.word;
  const auto type = static_cast<Type>(how.type);
  const uint64_t before = apply_atomic(word, command.atomic, type, how.operand, how.expected);
  if (how.before != 0) std::memcpy(reinterpret_cast<void*>(how.before), &before, size_of(type));
}

int change(Op op, const nagaya_llcl_atomic* what) {
  Endpoint* const self = Endpoint::own();
  if (self == nullptr) return refuse_outside();
  if (const int error = check(*self, what); error != 0) return error;
  count_access(*self);
  const uint32_t node = what->remote.process.node;
  if (!self->is_here(node))
    return submit(*self, node, what->on_complete,
                  [&](Command& command) { describe(op, *what, &command); });
  nagaya_llcl_prepared request;
  const int error = prepare_checked(*self, *what, &request);
  return error != 0 ? error : nagaya_llcl_try_start(&request);
}

// Changes a word by an atomic, and wakes its task on this node. On another node the delegatee wakes
// the task after every atomic that may change a word.
int change_word(const nagaya_remote* word, nagaya_operation operation, uint64_t value,
                nagaya_completion on_complete) {
  Endpoint* const self = Endpoint::own();
  if (self == nullptr) return refuse_outside();
  if (word == nullptr) return refuse_null("the place of the word");
  const nagaya_llcl_atomic what{*word, operation, NAGAYA_UINT64, value, 0, nullptr, on_complete};
  const int error = nagaya_llcl_try_atomic(&what);
  if (error == 0 && self->is_here(word->process.node)) wake_task(self->board(), word->process.task);
  return error;
}

void copy(Endpoint& self, const nagaya_llcl_prepared& request) {
  Board& board = self.board();
  const Copy copy{static_cast<std::byte*>(request.to), static_cast<const std::byte*>(request.from),
                  request.bytes, request.task};
  const uint64_t own_bytes = board.copies->copy(copy, self.owner(), BoardTasks{board});
  count(board, self.owner(), &TaskActivity::copied_bytes, own_bytes);
}

static_assert(sizeof(Piece) == sizeof(nagaya_llcl_piece) &&
              offsetof(Piece, local) == offsetof(nagaya_llcl_piece, local) &&
              offsetof(Piece, offset) == offsetof(nagaya_llcl_piece, offset) &&
              offsetof(Piece, block_bytes) == offsetof(nagaya_llcl_piece, block_bytes) &&
              offsetof(Piece, count) == offsetof(nagaya_llcl_piece, count) &&
              offsetof(Piece, local_stride) == offsetof(nagaya_llcl_piece, local_stride) &&
              offsetof(Piece, remote_stride) == offsetof(nagaya_llcl_piece, remote_stride));

// The enumerators of the public header and of the commands have the same values.
static_assert(static_cast<int>(Atomic::kMax) == NAGAYA_MAX &&
              static_cast<int>(Atomic::kCompareSwap) == NAGAYA_COMPARE_SWAP &&
              static_cast<int>(Type::kDouble) == NAGAYA_DOUBLE &&
              static_cast<int>(Type::kUint32) == NAGAYA_UINT32 &&
              static_cast<int>(Completion::kCallback) == NAGAYA_CALLBACK &&
              static_cast<int>(Completion::kCounter) == NAGAYA_COUNTER);

}  // namespace

int wait(Purpose purpose, int (*is_over)(void* context), void* context, int timeout_ms) {
  Endpoint* const self = Endpoint::own();
  if (self == nullptr) return refuse_outside();
  return self->wait(
      purpose, [&] { return is_over(context) != 0; }, timeout_ms);
}

}  // namespace nagaya::llcl

using namespace nagaya::llcl;

int nagaya_llcl_register(void* base, size_t bytes, nagaya_remote* out) {
  Endpoint* const self = Endpoint::own();
  if (self == nullptr) return refuse_outside();
  if (base == nullptr || bytes == 0) return refuse(-EINVAL, "there is no memory to register");
  if (out == nullptr) return refuse_null("the place to be set");
  if (const int error = require_local(*self, base, bytes); error != 0) return error;
  const uint32_t region = self->board().regions->add(self->owner(), base, bytes);
  if (region == RegionTable::kNone)
    return refuse(-ENOSPC, "this node has %u regions, the most there can be",
                  RegionTable::kRegions);
  const uint32_t node = self->board().node.load(std::memory_order_relaxed);
  *out = {{node, self->record().number}, region, 0, 0};
  return 0;
}

int nagaya_llcl_deregister(const nagaya_remote* place) {
  Endpoint* const self = Endpoint::own();
  if (self == nullptr) return refuse_outside();
  if (place == nullptr) return refuse_null("the place");
  if (self->is_here(place->process) &&
      self->board().regions->remove(self->owner(), place->region) == 0)
    return 0;
  return refuse(-EINVAL, "region %#x is not a region of this task, or no more", place->region);
}

void* nagaya_llcl_pointer(const nagaya_remote* place, size_t bytes) {
  Endpoint* const self = Endpoint::own();
  if (self == nullptr || place == nullptr || !self->is_here(place->process)) return nullptr;
  return self->find(*place, bytes).address;
}

int nagaya_llcl_try_read(const nagaya_llcl_transfer* what) {
  return transfer(Op::kGet, what, nullptr);
}

int nagaya_llcl_try_write(const nagaya_llcl_transfer* what) {
  return transfer(Op::kPut, what, nullptr);
}

int nagaya_llcl_try_write_notify(const nagaya_llcl_transfer* what, const nagaya_remote* counter) {
  return counter == nullptr ? refuse_null("the counter") : transfer(Op::kPutNotify, what, counter);
}

int nagaya_llcl_prepare_read(const nagaya_llcl_transfer* what, nagaya_llcl_prepared* out) {
  return prepare(Op::kGet, what, nullptr, out);
}

int nagaya_llcl_prepare_write(const nagaya_llcl_transfer* what, nagaya_llcl_prepared* out) {
  return prepare(Op::kPut, what, nullptr, out);
}

int nagaya_llcl_prepare_write_notify(const nagaya_llcl_transfer* what, const nagaya_remote* counter,
                                     nagaya_llcl_prepared* out) {
  return counter == nullptr ? refuse_null("the counter")
                            : prepare(Op::kPutNotify, what, counter, out);
}

int nagaya_llcl_prepare_atomic(const nagaya_llcl_atomic* what, nagaya_llcl_prepared* out) {
  return prepare_atomic(what, out);
}

int nagaya_llcl_start_by_call(const nagaya_llcl_prepared* request) {
  Endpoint* const self = Endpoint::own();
  if (self == nullptr) return refuse_outside();
  const auto& command = *std::launder(reinterpret_cast<const Command*>(request->command));
  if (request->way == NAGAYA_LLCL_LANE)
    return submit(*self, command.node, request->on_complete, [&](Command& out) {
      out = command;
      if (command.inline_bytes != 0)
        std::memcpy(out.data.payload, request->from, command.inline_bytes);
    });
  if (command.op == Op::kAtomic)
    apply(command, request->to);
  else if (request->bytes != 0)
    copy(*self, *request);
  if (request->counter != nullptr) nagaya_llcl_notify(request);
  complete(request->on_complete, 0);
  return 0;
}

void nagaya_llcl_notify(const nagaya_llcl_prepared* request) {
  // While a processor still waits for an earlier load, it requests the counter's line too early: a
  // thread that polls the counter takes the line back before the addition, and the processor must
  // fetch it again (350 ns a message in place of 190, where lines take 75 ns).
  nagaya::arch::await_loads();
  // The add to the counter comes before the load of the sleepers; a waiter counts itself there
  // before its last load of the counter. The add releases the copied data to the waiter's acquire.
  std::atomic_ref(*request->counter).fetch_add(1, std::memory_order_seq_cst);
  if (__atomic_load_n(request->sleepers, __ATOMIC_SEQ_CST) == 0) return;
  if (Endpoint* const self = Endpoint::own()) wake_task(self->board(), request->task);
}

int nagaya_llcl_try_read_pieces(const nagaya_llcl_pieces* what) {
  return pieces(Op::kGetPieces, what);
}

int nagaya_llcl_try_write_pieces(const nagaya_llcl_pieces* what) {
  return pieces(Op::kPutPieces, what);
}

int nagaya_llcl_try_fence(uint32_t node, nagaya_completion on_complete) {
  Endpoint* const self = Endpoint::own();
  if (self == nullptr) return refuse_outside();
  if (!is_valid(on_complete)) return refuse_completion(on_complete);
  if (!self->is_here(node)) {
    const int error = self->ask_fence(node, on_complete);
    return error == -EINVAL ? refuse_node(*self, node) : error;
  }
  complete(on_complete, 0);
  return 0;
}

int nagaya_llcl_flush(uint32_t node, int timeout_ms) {
  Endpoint* const self = Endpoint::own();
  if (self == nullptr) return refuse_outside();
  if (self->is_here(node)) return 0;
  const int error = self->flush(node, timeout_ms);
  return error == -EINVAL ? refuse_node(*self, node) : error;
}

int nagaya_llcl_try_atomic(const nagaya_llcl_atomic* what) {
  return change(Op::kAtomic, what);
}

int nagaya_llcl_try_atomic_behind(const nagaya_llcl_atomic* what) {
  return change(Op::kAtomicBehind, what);
}

int nagaya_llcl_try_add_word(const nagaya_remote* word, uint64_t value,
                             nagaya_completion on_complete) {
  return change_word(word, NAGAYA_ADD, value, on_complete);
}

int nagaya_llcl_try_set_word(const nagaya_remote* word, uint64_t value,
                             nagaya_completion on_complete) {
  return change_word(word, NAGAYA_SWAP, value, on_complete);
}

int nagaya_llcl_handle(uint32_t number, nagaya_handler* function, void* context) {
  Endpoint* const self = Endpoint::own();
  return self == nullptr ? refuse_outside() : self->handle(number, function, context);
}

int nagaya_llcl_try_message(nagaya_process to, uint32_t number, const void* data, size_t bytes,
                            nagaya_completion on_complete) {
  Endpoint* const self = Endpoint::own();
  if (self == nullptr) return refuse_outside();
  if (!is_valid(on_complete)) return refuse_completion(on_complete);
  if (data == nullptr && bytes != 0) return refuse_null("the message");
  if (number >= kPortHandlers)
    return refuse(-EINVAL, "handlers have numbers from 0 to %u, not %u", kPortHandlers - 1, number);
  if (bytes > kActiveMessageMaxBytes)
    return refuse(-EMSGSIZE, "a message has at most %u bytes, not %zu", NAGAYA_LLCL_MESSAGE_MAX,
                  bytes);
  if (self->is_here(to)) return self->send(to.task, number, data, bytes, on_complete);
  const nagaya_remote place{to, number, 0, 0};
  int error = require_place(place);
  if (error == 0) error = require_local(*self, data, bytes);
  if (error != 0) return error;
  return submit(*self, to.node, on_complete, [&](Command& command) {
    set_place(&command, Op::kActiveMessage, place);
    command.offset = bytes;  // all of the message is the user's data
    if (is_inline(Op::kActiveMessage, bytes)) {
      command.inline_bytes = static_cast<uint8_t>(bytes);
      std::memcpy(command.data.payload, data, bytes);
    } else {
      command.data.block = {reinterpret_cast<uint64_t>(data), bytes, 0, 0};
    }
  });
}

int nagaya_llcl_wait_flag(const uint32_t* flag, int timeout_ms) {
  Endpoint* const self = Endpoint::own();
  if (self == nullptr) return refuse_outside();
  uint32_t value = 0;
  const auto ready = [&] {  // acquire: pairs with the completer
    value = std::atomic_ref(*const_cast<uint32_t*>(flag)).load(std::memory_order_acquire);
    return value != 0;
  };
  const int error = self->wait(Purpose::kRequest, ready, timeout_ms);
  return error != 0 ? error : error_of(value);
}

int nagaya_llcl_wait_counter(const uint64_t* counter, uint64_t least, int timeout_ms) {
  Endpoint* const self = Endpoint::own();
  if (self == nullptr) return refuse_outside();
  uint64_t value = 0;
  const auto ready = [&] {  // acquire: pairs with the completer
    value = std::atomic_ref(*const_cast<uint64_t*>(counter)).load(std::memory_order_acquire);
    return (value & ~NAGAYA_COUNTER_FAILED) >= least;
  };
  const int error = self->wait(Purpose::kRequest, ready, timeout_ms);
  if (error != 0) return error;
  return (value & NAGAYA_COUNTER_FAILED) != 0 ? -EIO : 0;
}

int nagaya_llcl_wait_word(const uint64_t* word, uint64_t least, int timeout_ms) {
  Endpoint* const self = Endpoint::own();
  if (self == nullptr) return refuse_outside();
  const std::atomic_ref value(*const_cast<uint64_t*>(word));
  const uint32_t polls =
      self->board().load.crowded() ? 1 : nagaya::mailbox::WaitTable::kPollsOfWord;
  const auto ready = [&] {
    for (uint32_t n = 0; n < polls; ++n)
      // Acquire: pairs with its writer.
      if (has_reached(value.load(std::memory_order_acquire), least)) return true;
    return false;
  };
  return self->wait(Purpose::kWord, ready, timeout_ms);
}

int nagaya_llcl_wait(int (*is_over)(void* context), void* context, int timeout_ms) {
  return wait(Purpose::kOther, is_over, context, timeout_ms);
}

int nagaya_llcl_add_progress(const nagaya_progress* progress) {
  Endpoint* const self = Endpoint::own();
  if (self == nullptr) return refuse_outside();
  if (!std::has_single_bit(progress->every))
    return refuse(-EINVAL, "`every` is a power of two, not %u", progress->every);
  return self->waits().add(
      {progress->advance, progress->every, progress->before_sleep, nullptr, progress->context});
}

int nagaya_llcl_progress_by_turns(int (*take)(void* context), void (*give_back)(void* context),
                                  void* context) {
  Endpoint* const self = Endpoint::own();
  if (self == nullptr) return refuse_outside();
  self->waits().poll_by_turns([=] { return take(context) != 0; }, [=] { give_back(context); });
  return 0;
}

int nagaya_llcl_remove_progress(const void* context) {
  Endpoint* const self = Endpoint::own();
  if (self == nullptr) return refuse_outside();
  self->waits().remove(context);
  return 0;
}

// SPDX-License-Identifier: BSD-3-Clause
#include "faces/blacs/point_to_point.h"

#include <errno.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>
#include <string>

#include "faces/blacs/waiting.h"
#include "nagaya/blacs.h"

namespace nagaya::blacs {
namespace {

blacs_sends& counts = send_counters();

void check(int error, const Grid& grid, Int other) {
  if (error != 0)
    grid.refuse_call("a message to or from " + grid.place_of(other) + ": " +
                     strerrorname_np(-error));
}

// Waits for a request. Acquire: pairs with its completion, perhaps by another thread.
void await(uint32_t& is_complete) {
  wait([&] { return std::atomic_ref(is_complete).load(std::memory_order_acquire) != 0; });
}

// A send that nobody waits for, from memory of its own.
struct Copy {
  nagaya_send send = {};
  std::unique_ptr<std::byte[]> data;
  bool is_data = true;  // await_sends() waits for data only: a `ready` may never be received
};
std::atomic<uint32_t> pending_copies = 0;

void send_copy(Grid& grid, Int to, Int tag, const Layout& layout) {
  auto* const copy = new Copy;
  copy->data = std::make_unique_for_overwrite<std::byte[]>(layout.bytes());
  layout.pack(copy->data.get());
  copy->send.to = grid.process(to);
  copy->send.envelope = grid.envelope(grid.own_number(), tag);
  copy->send.data = copy->data.get();
  copy->send.bytes = layout.bytes();
  copy->is_data = tag == Grid::kDataTag;
  copy->send.complete = [](nagaya_send* send) {
    const std::unique_ptr<Copy> own(reinterpret_cast<Copy*>(send));
    if (send->error != 0)
      System::own().abort(
          1, "a message to another process is lost: " + std::string(strerrorname_np(-send->error)));
    if (own->is_data) pending_copies.fetch_sub(1, std::memory_order_relaxed);
  };
  if (copy->is_data) pending_copies.fetch_add(1, std::memory_order_relaxed);
  check(nagaya_match_send(&copy->send), grid, to);
}

void send_short(Grid& grid, Int to, Int tag, const Layout& layout) {
  const nagaya_envelope envelope = grid.envelope(grid.own_number(), tag);
  const int error = nagaya_match_try_send(grid.process(to), &envelope, layout.data(),
                                          layout.bytes(), layout.runs_or_null(), nullptr);
  if (error == -EAGAIN) return send_copy(grid, to, tag, layout);
  check(error, grid, to);
}

bool is_short(Grid& grid, Int other, const Layout& layout) {
  return layout.bytes() <= nagaya_match_eager_max(grid.process(other));
}

// ---- long messages ------------------------------------------------------------------------------

// The receive of a `ready`, by which a receiver says that it is there for one long message. The
// `ready` may arrive after the sender has returned.
struct Ready {
  nagaya_receive receive = {};
  // Sender and completion exchange their states; the second of them deletes or uses the object.
  enum class State { kAwaited, kArrived, kAbandoned };
  std::atomic<State> state = State::kAwaited;
};

Ready* expect_ready(Grid& grid, Int from, Int number) {
  auto* const ready = new Ready;
  ready->receive.wanted = grid.envelope(from, number);
  ready->receive.from = grid.process(from);
  ready->receive.complete = [](nagaya_receive* receive) {
    auto* const own = reinterpret_cast<Ready*>(receive);
    // Runs in a thread that calls MPI, or in the sender's. Acquire: pairs with the sender's
    // exchange, before the object is deleted.
    if (own->state.exchange(Ready::State::kArrived, std::memory_order_acq_rel) ==
        Ready::State::kAbandoned)
      delete own;
  };
  check(nagaya_match_receive(&ready->receive), grid, from);
  return ready;
}

void send_from_matrix(Grid& grid, Int to, const Layout& layout) {
  nagaya_send send = {};
  send.to = grid.process(to);
  send.envelope = grid.envelope(grid.own_number(), Grid::kDataTag);
  send.data = layout.data();
  send.bytes = layout.bytes();
  send.runs = layout.runs_or_null();
  check(nagaya_match_send(&send), grid, to);
  await(send.is_complete);
  check(send.error, grid, to);
}

void send_long(Grid& grid, Int to, Int number, const Layout& layout) {
  Ready* const ready = expect_ready(grid, to, number);
  const auto has_arrived = [&] {
    return ready->state.load(std::memory_order_acquire) == Ready::State::kArrived;
  };
  // A process that sends to itself cannot be receiving now.
  if (to != grid.own_number()) wait_for(time_before_copy(layout.bytes()), has_arrived);
  if (ready->state.exchange(Ready::State::kAbandoned, std::memory_order_acq_rel) ==
      Ready::State::kArrived) {
    delete ready;
    ++counts.direct;
    return send_from_matrix(grid, to, layout);
  }
  ++counts.copied;
  send_copy(grid, to, Grid::kDataTag, layout);
}

// Receives, and ignores, each `ready` for a message before number `number`: the sender's matrix was
// short then, and nothing has received that `ready`.
void drop_old_readies(Grid& grid, Int to, Int number) {
  const nagaya_envelope any = grid.envelope(to, NAGAYA_ANY_TAG);
  nagaya_message_description ready;
  while (nagaya_match_probe(&any, &ready) == 0 && ready.envelope.tag != number) {
    nagaya_receive receive = {};
    receive.wanted = ready.envelope;
    receive.from = grid.process(to);
    check(nagaya_match_receive(&receive), grid, to);  // complete now: it has arrived
  }
}
// Largest number of old readies of one process. send() looks for them only once in so many
// messages, because a probe costs half as much as a short message.
constexpr Int kMaxOldReadies = 64;

}  // namespace

void send(Grid& grid, Int to, const Layout& layout) {
  const Int number = grid.count_sent(to);
  if (number % kMaxOldReadies == 0) drop_old_readies(grid, to, number);
  is_short(grid, to, layout) ? send_short(grid, to, Grid::kDataTag, layout)
                             : send_long(grid, to, number, layout);
}

void receive(Grid& grid, Int from, const Layout& layout) {
  const Int number = grid.count_received(from);
  nagaya_receive receive = {};
  receive.wanted = grid.envelope(from, Grid::kDataTag);
  receive.from = grid.process(from);
  receive.buffer = layout.data();
  receive.capacity = layout.bytes();
  receive.runs = layout.runs_or_null();
  check(nagaya_match_receive(&receive), grid, from);
  if (!is_short(grid, from, layout)) send_short(grid, from, number, {});
  await(receive.is_complete);
  if (receive.error == -EMSGSIZE)
    grid.refuse_call("the message from " + grid.place_of(from) + " is " +
                     std::to_string(receive.bytes) + " bytes, the matrix " +
                     std::to_string(layout.bytes()));
  check(receive.error, grid, from);
}

blacs_sends& send_counters() {
  static blacs_sends counts;
  return counts;
}

void await_sends() {
  wait([] { return pending_copies.load(std::memory_order_relaxed) == 0; });
}

}  // namespace nagaya::blacs

void blacs_count_sends(blacs_sends* out) {
  *out = nagaya::blacs::send_counters();
}

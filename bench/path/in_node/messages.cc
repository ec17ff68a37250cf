// SPDX-License-Identifier: BSD-3-Clause
// messages.cc - 8 bytes through a mailbox, beside one cache line per direction (the cheapest
// queue) and beside an answer on the very line of the question (the cheapest message at all); and
// 8 bytes as an active message, whose handler answers.
#include "messages.h"

#include <cstring>

#include "lines.h"
#include "mailbox/mailbox.h"

namespace nagaya::bench {
namespace {

struct Line {
  alignas(128) std::atomic<uint64_t> flag{0};
  uint64_t data = 0;

  void send(uint64_t number, uint64_t flagged) {
    data = number;
    flag.store(flagged, std::memory_order_release);  // pairs with receive
  }
  uint64_t receive(uint64_t flagged) {
    while (flag.load(std::memory_order_acquire) != flagged) arch::relax();
    return data;
  }
};

struct Post {
  mailbox::Mailbox box{};
  Line line;
};

struct LinePerDirection {
  Post &own, &other;

  void reset() { own.line.flag.store(0); }
  void send(uint64_t number) { other.line.send(number, number); }
  uint64_t receive(uint64_t number) { return own.line.receive(number); }
};

// The line of the even rank, used by both: message n has the flag 2n, its answer 2n + 1.
struct SharedLine {
  Line& line;
  uint64_t odd;  // 1 if the rank is odd

  void reset() { line.flag.store(0); }
  void send(uint64_t number) { line.send(number, 2 * number + odd); }
  uint64_t receive(uint64_t number) { return line.receive(2 * number + 1 - odd); }
};

struct ThroughMailbox {
  Post &own, &other;
  mailbox::Owner sender;

  void reset() {}
  void send(uint64_t number) { expect(other.box.post(sender, 1, &number, sizeof number) == 0); }
  uint64_t receive(uint64_t) {
    for (;; arch::relax())
      if (const mailbox::Message message = own.box.take()) {
        uint64_t number = 0;
        std::memcpy(&number, message.payload, sizeof number);
        return number;
      }
  }
};

}  // namespace

void measure_messages(const Stage& stage) {
  auto* const own = new Post;
  check(nagaya_task_publish("post", own), "publish");
  Post& other = of_rank<Post>(stage.partner(), "post");
  LinePerDirection lines{*own, other};
  SharedLine line{stage.leads() ? own->line : other.line, static_cast<uint64_t>(stage.rank)};
  ThroughMailbox through{*own, other, mailbox::Owner::task(stage.rank, 1)};
  ActiveMessages active(stage);
  const uint64_t trips = stage.times(100'000);
  for (int round = 0; round < stage.rounds; ++round) {
    const double message = one_way_ns(stage, through, trips);
    const double one_line = one_way_ns(stage, lines, trips);
    const double same_line = one_way_ns(stage, line, trips);
    const double handled = active.ping_pong_ns(trips / 10);
    if (!stage.leads()) continue;
    stage.report("message", kSubject, message);
    stage.report("message", kFloor, one_line);
    stage.report("message_same_line", kSubject, message);
    stage.report("message_same_line", kFloor, same_line);
    stage.report("active_message", kSubject, handled);
    stage.report("active_message", kFloor, one_line);
  }
}

}  // namespace nagaya::bench

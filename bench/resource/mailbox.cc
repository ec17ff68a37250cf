// SPDX-License-Identifier: BSD-3-Clause
// mailbox.cc - a message through a mailbox: ping-pong of 8 and 56 bytes between two processors
// beside the one-line floor, the ping-pong with sleeping readers beside a bare futex, and several
// posters to one reader beside a queue under a mutex.
#include "mailbox/mailbox.h"

#include <deque>
#include <memory>
#include <mutex>
#include <vector>

#include "baseline/mailbox_floor.h"
#include "mailbox/waiting.h"
#include "program_main.h"

namespace nagaya::bench {
namespace {

using mailbox::Machine;
using mailbox::Mailbox;
using mailbox::Message;
using mailbox::Owner;

// A message whose payload is its number, repeated.
template <size_t kBytes>
struct Payload {
  uint64_t words[kBytes / sizeof(uint64_t)];

  explicit Payload(uint64_t number) {
    for (uint64_t& word : words) word = number;
  }
  // Returns the number received; 0 when parts of the message differ.
  static uint64_t number_in(const Message& message) {
    uint64_t words[kBytes / sizeof(uint64_t)];
    std::memcpy(words, message.payload, kBytes);
    for (const uint64_t word : words)
      if (word != words[0]) return 0;
    return message.bytes == kBytes ? words[0] : 0;
  }
};

template <size_t kBytes>
struct Polled {
  Mailbox box{};

  void send(uint64_t number) {
    const Payload<kBytes> payload(number);
    box.post(Owner::task(0, 1), 1, &payload, kBytes);
  }
  uint64_t receive(uint64_t) {
    for (;; Machine::relax())
      if (const Message message = box.take()) return Payload<kBytes>::number_in(message);
  }
};

// A ping-pong in which both readers sleep before every message.
struct Slept {
  Mailbox box{};
  mailbox::Load load{2, 1};

  void send(uint64_t number) { box.post(Owner::task(0, 1), 1, &number, sizeof number); }
  uint64_t receive(uint64_t) {
    Message message;
    mailbox::Waiting(box.bell(), load, mailbox::kSleepAtOnce)
        .until([&] { return static_cast<bool>(message = box.take()); }, mailbox::kNever, box);
    return Payload<8>::number_in(message);
  }
};

struct BareFutex {
  alignas(128) std::atomic<uint32_t> word{0};

  void send(uint64_t number) {
    word.store(static_cast<uint32_t>(number), std::memory_order_release);  // pairs with receive
    Machine::futex_wake(word);
  }
  uint64_t receive(uint64_t number) {
    for (uint32_t seen; (seen = word.load(std::memory_order_acquire)) != number;)
      Machine::futex_wait(word, seen, mailbox::kNever);
    return number;
  }
};

template <class Channel>
double ping_pong_ns(const Options& options, uint64_t round_trips) {
  const auto there = std::make_unique<Channel>(), back = std::make_unique<Channel>();
  return one_way_ns(*there, *back, options.quick ? 500 : round_trips, options.corrupt);
}

// Queues for several posters and one reader. Each has post(poster, number), which returns false if
// there is no room, and take(poster&, number&), which returns false if there is no message.
struct MailboxQueue {
  Mailbox box{};

  bool post(uint32_t poster, uint64_t number) {
    return box.post(Owner::task(poster, 1), static_cast<uint8_t>(poster), &number, sizeof number) ==
           0;
  }
  bool take(uint32_t& poster, uint64_t& number) {
    const Message message = box.take();
    if (!message) return false;
    poster = message.kind;
    number = Payload<8>::number_in(message);
    return true;
  }
};

struct MutexQueue {
  std::mutex mutex;
  std::deque<std::pair<uint32_t, uint64_t>> queue;

  bool post(uint32_t poster, uint64_t number) {
    const std::lock_guard<std::mutex> guard(mutex);
    if (queue.size() == 256) return false;
    queue.emplace_back(poster, number);
    return true;
  }
  bool take(uint32_t& poster, uint64_t& number) {
    const std::lock_guard<std::mutex> guard(mutex);
    if (queue.empty()) return false;
    std::tie(poster, number) = queue.front();
    queue.pop_front();
    return true;
  }
};

// Returns the time per message [ns]. Threads yield when the queue is full or empty, because there
// may be more threads than processors.
template <class Queue>
double fan_in_ns(uint32_t posters, const Options& options) {
  const uint64_t each = (options.quick ? 2000 : 400000) / posters;
  const auto queue = std::make_unique<Queue>();
  std::vector<std::thread> threads;
  const auto start = std::chrono::steady_clock::now();
  for (uint32_t poster = 0; poster < posters; ++poster)
    threads.emplace_back([&queue, poster, each] {
      const auto processors = usable_processors();
      bind_to(processors[poster % processors.size()]);
      for (uint64_t n = 1; n <= each; ++n)
        while (!queue->post(poster, n)) Machine::yield();
    });
  bind_to(usable_processors().back());
  std::vector<uint64_t> last(posters);
  bool right = true;
  for (uint64_t count = 0; count < each * posters; ++count) {
    uint32_t poster = 0;
    uint64_t number = 0;
    while (!queue->take(poster, number)) Machine::yield();
    right &= number == ++last[poster];
  }
  const std::chrono::duration<double, std::nano> taken = std::chrono::steady_clock::now() - start;
  for (std::thread& thread : threads) thread.join();
  if (!right || options.corrupt) throw std::runtime_error("a message was lost or wrong");
  return taken.count() / static_cast<double>(each * posters);
}

constexpr uint32_t kPosters[] = {1, 2, 4, 8, 16};

std::vector<Figure> figures() {
  std::vector<Figure> all;
  const auto add = [&](std::string name, std::string title, std::string unit,
                       std::optional<Series> incumbent, std::optional<Series> floor) {
    all.push_back({name, title, unit, {"mailbox", {}}, incumbent, floor});
  };
  const Series one_line{"one line", {}};
  add("mailbox_8", "8 bytes between two processors", "ns one way", {}, one_line);
  add("mailbox_56", "56 bytes between two processors", "ns one way", {}, one_line);
  add("mailbox_sleeping", "8 bytes to a reader that sleeps", "ns one way", {},
      Series{"bare futex", {}});
  for (const uint32_t posters : kPosters)
    add(fmt::format("mailbox_posters_{}", posters),
        fmt::format("8 bytes to one reader from posters: {}", posters), "ns per message",
        Series{"queue under a mutex", {}}, {});
  return all;
}

void measure_round(std::vector<Figure>& all, const Options& options) {
  constexpr uint64_t kTrips = 200000, kSleepingTrips = 20000;
  all[0].subject.rounds.push_back(ping_pong_ns<Polled<8>>(options, kTrips));
  all[0].floor->rounds.push_back(ping_pong_ns<OneLine>(options, kTrips));
  all[1].subject.rounds.push_back(ping_pong_ns<Polled<56>>(options, kTrips));
  all[1].floor->rounds.push_back(all[0].floor->rounds.back());
  all[2].subject.rounds.push_back(ping_pong_ns<Slept>(options, kSleepingTrips));
  all[2].floor->rounds.push_back(ping_pong_ns<BareFutex>(options, kSleepingTrips));
  for (size_t n = 0; n < std::size(kPosters); ++n) {
    all[3 + n].subject.rounds.push_back(fan_in_ns<MailboxQueue>(kPosters[n], options));
    all[3 + n].incumbent->rounds.push_back(fan_in_ns<MutexQueue>(kPosters[n], options));
  }
}

Result measure_all(const Options& options) {
  const int rounds = options.rounds_or(25, 2);
  std::vector<Figure> all = figures();
  for (int round = 0; round < rounds; ++round) {
    progress(fmt::format("mailbox: round {} of {}", round + 1, rounds));
    measure_round(all, options);
  }
  return {.program = "mailbox", .quick = options.quick, .figures = all, .derived = {}};
}

}  // namespace
}  // namespace nagaya::bench

int main(int argc, char** argv) {
  using namespace nagaya::bench;
  Options options;
  CommandLine line("Messages through a mailbox.", "mailbox", options);
  return run_program(line, options, argc, argv, [&] { return measure_all(options); });
}

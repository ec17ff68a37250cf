// SPDX-License-Identifier: BSD-3-Clause
// delegation.cc - the experiment of the delegation paper (Yoshinaga and others 2012), its figures 4
// and 5: messages between nodes by size, as a ping-pong of each rank of the lower half with one of
// the upper, and from every rank to every rank; and of pairs that compute while their messages are
// on the way. Reports the time that the node's processors have spent, also on a node where all
// ranks wait.
#include "delegation.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <optional>
#include <thread>

#include "program_main.h"

namespace nagaya::bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t kBytesMax = 1 << 20, kPageBytes = 4096;
const std::vector<size_t> kPingpongBytes = {1, 8, 64, 256, 1024, 8192, 65536, kBytesMax};
const std::vector<size_t> kExchangeBytes = {1, 8, 64, 256, 1024, 4096, 16384, 65536};
const std::vector<size_t> kQuickBytes = {8, 65536};
// A node that waits does most of its work at the start.
constexpr auto kComputeTime = std::chrono::microseconds(200);
constexpr auto kIdleTime = std::chrono::milliseconds(3000),
               kFirstIdleTime = std::chrono::milliseconds(1000),
               kQuickIdleTime = std::chrono::milliseconds(300);

// [bytes]
std::vector<size_t> sizes_of(const std::string& pattern, bool quick) {
  if (quick) return kQuickBytes;
  return pattern == "alltoall" ? kExchangeBytes : kPingpongBytes;
}

class Bench {
 public:
  Bench(const Options& options, const std::vector<size_t>& sizes, Messages& messages)
      : options_(options), sizes_(sizes), messages_(messages) {}

  Result measure(const std::string& pattern) {
    if (messages_.size % 2 != 0) throw std::runtime_error("it takes an even number of ranks");
    Result result{.program = "delegation", .quick = options_.quick, .figures = {}, .derived = {}};
    if (pattern == "idle")
      measure_idle(result);
    else if (pattern == "pingpong")
      measure_sizes(result, pattern, 1, [&](size_t bytes) { pingpong(bytes); });
    else if (pattern == "overlap")
      measure_sizes(result, pattern, 1, [&](size_t bytes) { overlap(bytes); });
    else
      measure_sizes(result, pattern, messages_.size - 1, [&](size_t bytes) { exchange(bytes); });
    return result;
  }

 private:
  // ---- the patterns: one turn of each ----

  void pingpong(size_t bytes) {
    const int half = messages_.size / 2;
    const int partner = (messages_.rank + half) % messages_.size;
    if (messages_.rank < half) send(partner, bytes);
    check(messages_.receive(partner, bytes), bytes, partner);
    if (messages_.rank >= half) send(partner, bytes);
    ++turn_;
  }

  // Both partners send, compute, then receive: for carriers whose send() returns at once.
  void overlap(size_t bytes) {
    const int partner = (messages_.rank + messages_.size / 2) % messages_.size;
    send(partner, bytes);
    for (const auto end = Clock::now() + kComputeTime; Clock::now() < end;) continue;
    check(messages_.receive(partner, bytes), bytes, partner);
    ++turn_;
  }

  void send(int to, size_t bytes) {
    mark(to, bytes);
    messages_.send(to, bytes);
  }

  void exchange(size_t bytes) {
    for (int to = 0; to < messages_.size; ++to) mark(to, bytes);
    const std::byte* const all = messages_.exchange(bytes);
    for (int from = 0; from < messages_.size; ++from)
      check(all + static_cast<size_t>(from) * bytes, bytes, from);
    ++turn_;
  }

  // Every page of a message, and its end, carry a mark of its turn and sender.
  std::byte mark_of(int from) const { return static_cast<std::byte>(turn_ * 31 + from * 7 + 1); }
  void mark(int to, size_t bytes) {
    std::byte* const message = messages_.out(to, bytes);
    for (size_t at = 0; at < bytes; at += kPageBytes) message[at] = mark_of(messages_.rank);
    message[bytes - 1] = mark_of(messages_.rank);
    if (options_.corrupt) message[bytes - 1] ^= std::byte{1};
  }
  void check(const std::byte* message, size_t bytes, int from) const {
    bool is_right = message[bytes - 1] == mark_of(from);
    for (size_t at = 0; at < bytes; at += kPageBytes) is_right &= message[at] == mark_of(from);
    if (!is_right)
      throw std::runtime_error(fmt::format("wrong data from rank {} in {} bytes", from, bytes));
  }

  // ---- time and processors ----

  void measure_sizes(Result& result, const std::string& pattern, int messages_each,
                     const std::function<void(size_t)>& turn) {
    for (const size_t bytes : sizes_) {
      const std::string name = fmt::format("{}_{}B", pattern, bytes);
      if (messages_.rank == 0) progress(name);
      const std::string title = fmt::format("{} of {} B", pattern, bytes);
      result.figures.push_back(figure(name, title, "us per turn"));
      result.figures.push_back(
          figure(name + "_processor", title + ", processor time of a node", "s per 1000 messages"));
      Figure* const figures = &result.figures[result.figures.size() - 2];
      for (int round = 0; round < options_.rounds_or(5, 1); ++round)
        measure_turns(figures, bytes, messages_each, turn);
    }
  }

  void measure_turns(Figure* figures, size_t bytes, int messages_each,
                     const std::function<void(size_t)>& turn) {
    const int turns = turns_of(bytes, messages_each);
    turn(bytes);  // connects
    const Spent spent = measure([&] {
      for (int n = 0; n < turns; ++n) turn(bytes);
    });
    const double messages = 1.0 * turns * messages_each * messages_.size / messages_.nodes;
    figures[0].subject.rounds.push_back(spent.seconds * 1e6 / turns);
    figures[1].subject.rounds.push_back(spent.processor_seconds * 1e3 / messages);
  }

  int turns_of(size_t bytes, int messages_each) const {
    if (options_.quick) return 20;
    const size_t all = bytes * static_cast<size_t>(messages_each * messages_.size);
    return static_cast<int>(std::clamp<size_t>((size_t{64} << 20) / all, 64, 1000));
  }

  // Measures a node whose ranks wait, while rank 0 sleeps.
  void measure_idle(Result& result) {
    measure_idle(result, "", "", kIdleTime);
    measure_idle(result, "_first", ", the first second", kFirstIdleTime);
  }
  void measure_idle(Result& result, const char* suffix, const char* when,
                    std::chrono::milliseconds time) {
    if (options_.quick) time = kQuickIdleTime;
    struct Kind {
      const char* what;
      std::function<void()> wait;
    };
    const Kind kinds[] = {{"barrier", [&] { messages_.barrier(); }},
                          {"message", [&] { exchange(sizes_.front()); }}};
    for (const Kind& kind : kinds) {
      result.figures.push_back(figure(fmt::format("idle_{}{}", kind.what, suffix),
                                      fmt::format("a node that waits for a {}{}", kind.what, when),
                                      "% of a processor"));
      for (int round = 0; round < options_.rounds_or(1, 1); ++round) {
        const Spent spent = measure([&] {
          if (messages_.rank == 0) std::this_thread::sleep_for(time);
          kind.wait();
        });
        result.figures.back().subject.rounds.push_back(spent.processor_seconds / spent.seconds *
                                                       100);
      }
    }
  }

  struct Spent {
    double seconds, processor_seconds;
  };
  // Measures work() between two barriers. Only rank 0's result is used.
  Spent measure(const std::function<void()>& work) {
    messages_.barrier();
    std::optional<NodeProcessor> processor;
    if (messages_.rank == 0) processor.emplace();
    messages_.barrier();
    const Clock::time_point start = Clock::now();
    work();
    messages_.barrier();
    const std::chrono::duration<double> time = Clock::now() - start;
    return {time.count(), processor ? processor->seconds() : 0};
  }

  static Figure figure(const std::string& name, const std::string& title, const std::string& unit) {
    return {name, title, unit, {kCarrier, {}}, {}, {}};
  }

  const Options& options_;
  const std::vector<size_t>& sizes_;
  Messages& messages_;
  uint64_t turn_ = 0;
};

}  // namespace
}  // namespace nagaya::bench

int main(int argc, char** argv) {
  using namespace nagaya::bench;
  Options options;
  CommandLine line("messages between nodes: time and processors, by size", "delegation", options);
  std::string pattern;
  line.add_choice("pattern", pattern, {"pingpong", "overlap", "alltoall", "idle"});
  std::vector<size_t> sizes;
  line.add_sizes("--bytes", sizes, kBytesMax, "Only messages of these sizes");
  line.parse(argc, argv);
  if (sizes.empty()) sizes = sizes_of(pattern, options.quick);
  std::unique_ptr<Messages> messages;
  try {
    messages = open_messages(*std::max_element(sizes.begin(), sizes.end()));
    const Result result = Bench(options, sizes, *messages).measure(pattern);
    if (messages->rank == 0) print(result, options.json);
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "delegation: {}\n", error.what());
    std::_Exit(2);  // the end of `messages` would wait for the other ranks
  }
}

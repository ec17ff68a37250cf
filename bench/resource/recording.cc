// SPDX-License-Identifier: BSD-3-Clause
// recording.cc - the time that a task spends to tell readers what it does, for one message of 8 B
// that it sends, waits for a short time and receives: the calls alone, while nobody reads, while
// `nagaya top` reads counts, and while `nagaya trace` reads logs. The best of many short runs: a
// busy machine interrupts the others.
#include <algorithm>
#include <stdexcept>

#include "llcl/board/activity_file.h"
#include "llcl/requests/recorder.h"
#include "mailbox/machine.h"
#include "program_main.h"
#include "task/space/space_memory.h"

namespace nagaya::bench {
namespace {

using mailbox::Owner;

constexpr Owner kTask = Owner::task(0, 1);
constexpr int kPollsInVain = 3, kMessagesAtOnce = 300;

class Bench {
 public:
  explicit Bench(const Options& options)
      : options_(options),
        space_({.capacity = 1}),
        memory_(llcl::create_board(space_.header())),
        board_(*static_cast<llcl::Board*>(space_.header().upper_floors)),
        recorder_(board_, kTask) {}

  Result measure() {
    Result result{.program = "recording", .quick = options_.quick, .figures = {}, .derived = {}};
    for (int round = 0; round < options_.rounds_or(9, 1); ++round) {
      const double unread = ns_of_message(0), counted = ns_of_message(llcl::kCounts),
                   logged = ns_of_message(llcl::kCounts | llcl::kLog);
      const auto figure = [](const char* name, const char* title, double ns) {
        return Figure{name, title, "ns per message", {"calls", {ns}}, {}, {}};
      };
      add_round(result, {figure("recording_unread", "nobody reads", unread),
                         figure("recording_counts", "nagaya top reads", counted),
                         figure("recording_log", "nagaya trace reads", logged)});
    }
    const uint64_t messages = board_.activity.load()->of(0).messages;
    if (messages == 0 || options_.corrupt)
      throw std::runtime_error("the number of messages is wrong: they are not counted");
    return result;
  }

 private:
  void message() {
    constexpr nagaya_process kPartner{0, 0}, kUnknown{0, UINT32_MAX};
    constexpr llcl::RecordedMessage kMessage{
        .context = 1, .serial = 2, .source = 0, .tag = 3, .bytes = 8};
    if (recorder_.is_read()) recorder_.count_sent(kPartner, kMessage);
    count(board_, kTask, &llcl::TaskActivity::copied_bytes, 8);
    if (recorder_.is_read()) recorder_.expect(llcl::Purpose::kReceive, kPartner);
    llcl::RecordedWait wait(recorder_, llcl::Purpose::kMessage);
    for (int n = 0; n < kPollsInVain; ++n) wait.polled();
    if (recorder_.is_read()) recorder_.count_received(kUnknown, kMessage);
    count(board_, kTask, &llcl::TaskActivity::copied_bytes, 8);
  }

  double ns_of_message(uint32_t readers) {
    file_.watch(board_, readers);
    double best = 1e9;
    const int runs = options_.quick ? 10 : 3000;
    for (int run = 0; run < runs; ++run) {
      const uint64_t begin_ns = mailbox::Machine::now_ns();
      for (int n = 0; n < kMessagesAtOnce; ++n) message();
      best = std::min(best, double(mailbox::Machine::now_ns() - begin_ns) / kMessagesAtOnce);
    }
    return best;
  }

  const Options& options_;
  task::SpaceMemory space_;
  base::Mapping memory_;
  llcl::Board& board_;
  llcl::ActivityFile file_;
  llcl::Recorder recorder_;
};

}  // namespace
}  // namespace nagaya::bench

int main(int argc, char** argv) {
  using namespace nagaya::bench;
  Options options;
  CommandLine line("The calls by which a task tells readers what it does", "recording", options);
  return run_program(line, options, argc, argv, [&] { return Bench(options).measure(); });
}

// SPDX-License-Identifier: BSD-3-Clause
// in_node.cc - the cost of requests inside a node: tasks of one space, beside the least that the
// machine allows and beside memcpy. The tasks (worker.cc) measure all sides of a figure one
// after the other in each round.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <sstream>
#include <stdexcept>

#include "machine.h"
#include "nagaya/task.h"
#include "program_main.h"
#include "resource/meeting.h"

namespace nagaya::bench {
namespace {

struct Group {
  const char* name;
  int ranks, rounds;
};
constexpr Group kGroups[] = {{"puts", 2, 25},      {"messages", 2, 25},   {"copies", 2, 15},
                             {"fetch-add", 2, 25}, {"accumulate", 2, 15}, {"crowd", 8, 9},
                             {"crowd", 16, 9}};

// The texts of the figures whose names begin with a prefix; the longest matching prefix counts.
struct Family {
  std::string beginning, title, unit, subject, incumbent, floor;
};
const Family kFamilies[] = {
    {"put_flag", "8 bytes and a flag that takes turns with 0: a prepared put that sets it",
     "ns one way", "prepared put", "", "two lines"},
    {"put_pointer", "8 bytes and a flag: plain stores by nagaya_llcl_pointer", "ns one way",
     "stores", "", "two lines"},
    {"put_add", "8 bytes and a flag that counts: a plain store and a locked add", "ns one way",
     "stores", "", "two lines"},
    {"put_notify", "8 bytes and a flag that counts: a prepared put with notification", "ns one way",
     "prepared put", "", "two lines"},
    {"put_notify_unprepared", "8 bytes and a flag that counts: try_write_notify", "ns one way",
     "request", "", "two lines"},
    {"message", "8 bytes through a mailbox", "ns one way", "mailbox", "", "a line per direction"},
    {"message_same_line", "8 bytes through a mailbox", "ns one way", "mailbox", "",
     "answer on the question's line"},
    {"active_message", "8 bytes to a handler, which answers", "ns one way", "try_message", "",
     "a line per direction"},
    {"get_", "get, by a leader whose partner computes", "GB/s", "try_read", "memcpy", ""},
    {"put_", "put, by a leader whose partner computes", "GB/s", "try_write", "memcpy", ""},
    {"get_fresh", "get of what the partner, which now computes, has written", "GB/s", "try_read",
     "memcpy", ""},
    {"get_waiting", "get, by a leader whose partner waits", "GB/s", "try_read", "memcpy by one",
     ""},
    {"get_waiting_fresh", "get of what the partner, which now waits, has written", "GB/s",
     "try_read", "memcpy by one", ""},
    {"put_waiting", "put, by a leader whose partner waits", "GB/s", "try_write", "memcpy by one",
     ""},
    {"get_sleeping", "get, by a leader whose partner sleeps, waiting", "GB/s", "try_read",
     "memcpy by one", ""},
    {"fetch_add", "fetch-and-add of one word by two", "ns each", "tasks, try_atomic", "",
     "threads, std::atomic"},
    {"fetch_add_alone", "fetch-and-add by one", "ns each", "try_atomic", "", "std::atomic"},
    {"accumulate_fetch_add", "fetch-and-add of one word by two, by an accumulate", "ns each",
     "accumulate", "", ""},
    {"accumulate_fetch_add_alone", "fetch-and-add by one, by an accumulate", "ns each",
     "accumulate", "", "std::atomic"},
    {"accumulate_4KiB", "sum of 4 KiB of doubles by two into the same memory", "ns each",
     "accumulate", "", ""},
    {"accumulate_4KiB_alone", "sum of 4 KiB of doubles by one", "ns each", "accumulate", "",
     "a loop"},
    {"accumulate_strided_4KiB", "sum of 4 KiB of doubles, 16 bytes apart, by two", "ns each",
     "accumulate", "", ""},
    {"accumulate_strided_4KiB_alone", "sum of 4 KiB of doubles, 16 bytes apart, by one", "ns each",
     "accumulate", "", "a loop"},
    {"crowd_put", "8 bytes and a count, pairs on two processors", "ns each",
     "prepared put, wait_counter", "two lines, waiters yield", ""},
    {"crowd_message", "8 bytes to handlers, pairs on two processors", "ns each", "try_message",
     "two lines, waiters yield", ""},
};

const Family& family_of(const std::string& figure) {
  const Family* longest = nullptr;
  for (const Family& family : kFamilies)
    if (figure.starts_with(family.beginning) &&
        (longest == nullptr || family.beginning.size() > longest->beginning.size()))
      longest = &family;
  if (longest == nullptr) throw std::runtime_error("nobody knows the figure " + figure);
  return *longest;
}

Figure figure_of(const std::string& name) {
  const Family& family = family_of(name);
  const auto side = [](const std::string& of) {
    return of.empty() ? std::nullopt : std::optional(Series{of, {}});
  };
  return {name,
          family.title,
          family.unit,
          {family.subject, {}},
          side(family.incumbent),
          side(family.floor)};
}

class Ranks {
 public:
  explicit Ranks(const Group& group, const Options& options) : count_(group.ranks) {
    if (nagaya_space_create(nullptr, &space_) < 0) throw std::runtime_error(nagaya_error_text());
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("pipe");
    for (int rank = 0; rank < count_; ++rank) start(group, rank, ends[1], options);
    ::close(ends[1]);
    results_ = ends[0];
  }
  ~Ranks() {
    ::close(results_);
    nagaya_space_destroy(space_);
  }
  Ranks(const Ranks&) = delete;

  // Waits until all ranks have ended; returns the leader's report.
  std::string results() {
    std::string all;
    char buffer[4096];
    for (ssize_t got; (got = ::read(results_, buffer, sizeof buffer)) > 0;)
      all.append(buffer, static_cast<size_t>(got));
    bool well = true;
    for (int rank = 0; rank < count_; ++rank) {
      int status = -1;
      if (nagaya_task_wait(space_, rank, &status, -1) < 0)
        throw std::runtime_error(nagaya_error_text());
      well &= status == 0;
    }
    if (!well) throw std::runtime_error("a task failed: a message was lost, or data is wrong");
    return all;
  }

 private:
  void start(const Group& group, int rank, int results, const Options& options) {
    const std::string path = program_folder() / "in-node-worker";
    std::vector<std::string> words{path,
                                   group.name,
                                   std::to_string(rank),
                                   std::to_string(group.ranks),
                                   std::to_string(options.rounds_or(group.rounds, 1)),
                                   options.quick ? "1" : "0",
                                   options.corrupt ? "1" : "0"};
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    const int descriptors[] = {0, 1, 2, results};
    nagaya_task_program program{};
    program.path = path.c_str();
    program.argv = argv.data();
    program.descriptors = descriptors;
    program.descriptor_count = std::size(descriptors);
    program.number = rank + 1;  // the rank is the task's number
    if (nagaya_task_spawn(space_, &program, nullptr) < 0)
      throw std::runtime_error(nagaya_error_text());
  }

  const int count_;
  nagaya_space* space_ = nullptr;
  int results_ = -1;
};

void add(std::vector<Figure>& figures, const std::string& results) {
  std::istringstream lines(results);
  std::string name, side;
  for (double value; lines >> name >> side >> value;) {
    auto figure = std::find_if(figures.begin(), figures.end(),
                               [&](const Figure& known) { return known.name == name; });
    if (figure == figures.end()) figure = figures.insert(figures.end(), figure_of(name));
    (side == "subject"     ? figure->subject
     : side == "incumbent" ? figure->incumbent.value()
                           : figure->floor.value())
        .rounds.push_back(value);
  }
}

Result measure_all(const std::vector<std::string>& names, const Options& options) {
  Result result{.program = "in-node", .quick = options.quick, .figures = {}, .derived = {}};
  for (const Group& group : kGroups) {
    if (!names.empty() && std::count(names.begin(), names.end(), group.name) == 0) continue;
    progress(fmt::format("{}: {} tasks", group.name, group.ranks));
    add(result.figures, Ranks(group, options).results());
  }
  return result;
}

}  // namespace
}  // namespace nagaya::bench

int main(int argc, char** argv) {
  using namespace nagaya::bench;
  Options options;
  std::vector<std::string> names;
  CommandLine line("Requests between tasks of one node.", "in-node", options);
  line.add_words("groups", names,
                 "puts, messages, copies, fetch-add, accumulate, crowd; all when none is named");
  return run_program(line, options, argc, argv, [&] { return measure_all(names, options); });
}

// SPDX-License-Identifier: BSD-3-Clause
// worker.cc - one rank of the `in-node` program: a task. Values go to descriptor 3, a line
// "figure side value" each.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "in_node.h"

namespace nagaya::bench {
namespace {

constexpr unsigned kPatienceSeconds = 300;  // a rank whose partner died must not wait for ever

struct Group {
  const char* name;
  void (*measure)(const Stage&);
};
constexpr Group kGroups[] = {
    {"puts", measure_puts},
    {"messages", measure_messages},
    {"copies", measure_copies},
    {"fetch-add", measure_fetch_add},
    {"accumulate", measure_accumulate},
    {"crowd", measure_crowd},
};

void measure(const char* group, Stage& stage) {
  stage.meeting = &find_meeting(stage.rank);
  const auto& processors = usable_processors();
  bind_to(processors[static_cast<size_t>(stage.rank) % processors.size()]);
  try {
    for (const Group& known : kGroups)
      if (std::strcmp(known.name, group) == 0) return known.measure(stage);
    throw std::invalid_argument("no such group");
  } catch (const std::exception&) {
    stage.meeting->failed.store(1, std::memory_order_relaxed);  // the others would wait for us
    throw;
  }
}

}  // namespace

void Stage::report(const std::string& figure, const char* side, double value) const {
  ::dprintf(kResultsFd, "%s %s %.6f\n", figure.c_str(), side, value);
}

}  // namespace nagaya::bench

// Arguments: group, rank, ranks, rounds, quick, corrupt.
int main(int argc, char** argv) {
  using namespace nagaya::bench;
  if (argc != 7) return 2;
  ::alarm(kPatienceSeconds);
  Stage stage{std::atoi(argv[2]),      std::atoi(argv[3]),      std::atoi(argv[4]),
              std::atoi(argv[5]) != 0, std::atoi(argv[6]) != 0, nullptr};
  try {
    measure(argv[1], stage);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "in-node-worker: %s, rank %d: %s\n", argv[1], stage.rank, error.what());
    return 1;
  }
}

// SPDX-License-Identifier: BSD-3-Clause
// collectives.cc - compiled with the hooks, as src/coll is.
#include "scale/collectives.h"

#include <stdexcept>

#include "coll/algorithms.h"
#include "coll/exchange.h"
#include "coll/move.h"
#include "coll/operation.h"
#include "coll/reduce.h"
#include "layout/blocks.h"
#include "llcl/board/board.h"
#include "scale/numbers.h"
#include "task/space/space_memory.h"

namespace nagaya::bench::scale {
namespace {

using coll::Algorithm;
using coll::Operation;
using coll::Team;

constexpr uint32_t kTurns = 4;
constexpr uint32_t kLoopTurns = 512;
// The first ring of lines, then each line of the ring of which the timed collectives use the first.
constexpr uint32_t kRingTurns = coll::DeepMemberArea::kDepth;
constexpr uint32_t kWarmTurns = coll::DeepMemberArea::kFirstCollective + kRingTurns;
static_assert(kWarmTurns % kRingTurns == 0);
constexpr size_t kLongBytes = 64 << 10;  // of bench/path/collectives.cc

struct Named {
  const char* name;
  const Algorithm& algorithm;
};

const std::vector<Named> kMoves = {{"move", coll::kCopyFromSender}};
const std::vector<Named> kAlltoalls = {{"move", coll::kCopyFromSender},
                                       {"exchange", coll::kExchange}};
const std::vector<Named> kBarriers = {{"move", coll::kCopyFromSender},
                                      {"recursive", coll::kRecursiveMultiplying}};
const std::vector<Named> kReductions = {{"combine", coll::kCombine},
                                        {"recursive", coll::kRecursiveMultiplying},
                                        {"slices", coll::kSlices}};

const std::vector<Named>& named_of(Kind kind) {
  switch (kind) {
    case Kind::kBarrier:
      return kBarriers;
    case Kind::kReduce:
    case Kind::kAllreduce:
      return kReductions;
    case Kind::kAlltoall:
      return kAlltoalls;
    default:
      return kMoves;
  }
}

nagaya_collective_kind kind_of(Kind kind) {
  constexpr nagaya_collective_kind kKinds[] = {NAGAYA_BARRIER,   NAGAYA_BCAST,     NAGAYA_REDUCE,
                                               NAGAYA_ALLREDUCE, NAGAYA_ALLGATHER, NAGAYA_ALLTOALL};
  return kKinds[static_cast<size_t>(kind)];
}

}  // namespace

struct Collectives::State {
  State(Simulation& simulation, uint32_t members)
      : simulation(simulation),
        size(members),
        space({.capacity = members}),
        board_memory(llcl::create_board(space.header())) {
    board().load.processors = simulation.cores();
    board().load.runnable = members;
    board().has_heavy_fence = 1;
    std::vector<uint32_t> tasks(members);
    for (uint32_t rank = 0; rank < members; ++rank) {
      tasks[rank] = rank;
      board().attached[rank] = mailbox::Owner::task(rank, 1).bits;
    }
    for (uint32_t rank = 0; rank < members; ++rank) {
      teams.push_back(std::make_unique<Team>(rank, false));
      if (teams.back()->open(board(), space.open_record(rank), 1, 0, tasks) != 0)
        throw std::runtime_error("no memory for the team");
    }
  }

  llcl::Board& board() { return *static_cast<llcl::Board*>(space.header().upper_floors); }

  // Each member's own description of the collective, and its buffers.
  struct Call {
    nagaya_collective what{};
    Numbers send, receive;
  };

  void prepare(Kind kind, size_t bytes) {
    calls.clear();
    for (uint32_t rank = 0; rank < size; ++rank) {
      auto call = std::make_unique<Call>();
      const bool sends_to_each = kind == Kind::kAlltoall;
      const bool gets_of_each = sends_to_each || kind == Kind::kAllgather;
      call->send = Numbers(bytes * (sends_to_each ? size : 1));
      call->receive = Numbers(bytes * (gets_of_each ? size : 1));
      nagaya_collective& what = call->what;
      what.kind = kind_of(kind);
      what.send = layout::equal_blocks(call->send.data(), bytes);
      what.receive = layout::equal_blocks(call->receive.data(), bytes);
      if (kind == Kind::kReduce || kind == Kind::kAllreduce) {
        what.elements.count = bytes / sizeof(uint64_t);
        what.elements.extent = sizeof(uint64_t);
        what.elements.reduce = add_numbers;
        what.elements.context = &simulation;
        what.elements.commutes = 1;
      }
      calls.push_back(std::move(call));
    }
  }

  const Algorithm& chosen(uint32_t rank, const std::string& name, Kind kind) {
    for (const Named& named : named_of(kind))
      if (named.name == name) return named.algorithm;
    return coll::algorithm_of(calls[rank]->what, *teams[rank]);
  }

  // Every member does some collectives, one member at a time: caches have then the lines that the
  // timed ones use, as in a program that runs for a while. Barriers pass the other lines.
  void warm_up(Kind kind, const std::string& name) {
    nagaya_collective barrier{};
    barrier.kind = NAGAYA_BARRIER;
    std::vector<nagaya_collective> barriers(size, barrier);
    for (uint32_t turn = 0; turn < kWarmTurns; ++turn) {
      const bool is_barrier = turn < kWarmTurns - kRingTurns || turn % kRingTurns >= kTurns;
      std::vector<std::unique_ptr<Operation>> started(size);
      for (uint32_t done = 0; done < size;)
        for (uint32_t rank = 0; rank < size; ++rank)
          simulation.warm_up(rank, [&] {
            if (started[rank] == nullptr && turn_of[rank] == turn) {
              calls[rank]->send.write(rank, turn);
              started[rank] = std::make_unique<Operation>(
                  *teams[rank], is_barrier ? barriers[rank] : calls[rank]->what,
                  is_barrier ? coll::kRecursiveMultiplying : chosen(rank, name, kind));
            }
            if (started[rank] != nullptr && started[rank]->advance()) {
              started[rank].reset();
              ++turn_of[rank];
              ++done;
            }
          });
    }
    turn_of.assign(size, 0);
  }

  // One blocking collective of the running member, whose waits help others to copy (Wait::until).
  void call(uint32_t rank, const Algorithm& algorithm) { run(rank, calls[rank]->what, algorithm); }
  void run(uint32_t rank, nagaya_collective& what, const Algorithm& algorithm) {
    simulation.compute(simulation.machine().call_ns);
    Operation operation(*teams[rank], what, algorithm);
    simulation.wait([&] {
      while (!operation.advance())
        if (!helps || !board().copies->any() ||
            !board().copies->help(mailbox::Owner::task(rank, 1)))
          return false;
      return true;
    });
  }

  // Throws if a member's result of the turn is wrong.
  void check(Kind kind, uint32_t turn) const {
    for (uint32_t rank = 0; rank < size; ++rank) {
      const Numbers& got = calls[rank]->receive;
      for (size_t n = 0; n < got.size(); ++n)
        if (got[n] != expected(kind, rank, n, turn))
          throw std::runtime_error("a collective's result is wrong");
    }
  }
  uint64_t expected(Kind kind, uint32_t rank, size_t n, uint32_t turn) const {
    const size_t count = calls[rank]->what.send.bytes / sizeof(uint64_t);
    switch (kind) {
      case Kind::kBcast:
        return rank == 0 ? 0 : Numbers::mark(0, n, turn);
      case Kind::kAllgather:
        return Numbers::mark(static_cast<uint32_t>(n / count), n % count, turn);
      case Kind::kAlltoall:
        return Numbers::mark(static_cast<uint32_t>(n / count), rank * count + n % count, turn);
      case Kind::kReduce:
        if (rank != 0) return 0;
        [[fallthrough]];
      default:
        uint64_t sum = 0;
        for (uint32_t one = 0; one < size; ++one) sum += Numbers::mark(one, n, turn);
        return sum;
    }
  }

  bool helps = true;  // members that wait help others to copy
  Simulation& simulation;
  const uint32_t size;
  task::SpaceMemory space;
  base::Mapping board_memory;
  std::vector<std::unique_ptr<Team>> teams;
  std::vector<std::unique_ptr<Call>> calls;
  std::vector<uint32_t> turn_of = std::vector<uint32_t>(size);
};

Collectives::Collectives(Simulation& simulation, uint32_t members)
    : state_(std::make_unique<State>(simulation, members)) {}
Collectives::~Collectives() = default;

std::vector<std::string> Collectives::algorithms_of(Kind kind, size_t) {
  std::vector<std::string> names = {""};
  for (const Named& named : named_of(kind)) names.emplace_back(named.name);
  return names;
}

double Collectives::latency_ns(Kind kind, size_t bytes, const std::string& name) {
  State& state = *state_;
  state.prepare(kind, bytes);
  state.warm_up(kind, name);
  state.simulation.run([&](uint32_t rank) {
    const Algorithm& algorithm = state.chosen(rank, name, kind);
    for (uint32_t turn = 0; turn < kTurns; ++turn) {
      state.calls[rank]->send.write(rank, turn);
      state.simulation.align();
      state.simulation.begin_lap();
      state.call(rank, algorithm);
      state.simulation.end_lap();
      state.simulation.align();
    }
  });
  state.check(kind, kTurns - 1);
  return state.simulation.mean_of_slowest_ns(1);
}

double Collectives::measured_ns(Kind kind, size_t bytes) {
  State& state = *state_;
  state.prepare(kind, bytes);
  const bool is_long = bytes >= kLongBytes;
  state.helps = kind != Kind::kBcast;  // the root of MPI_Bcast goes on (nagaya_coll_detach)
  const uint32_t turns = is_long ? kTurns : kLoopTurns;
  nagaya_collective barrier{};
  barrier.kind = NAGAYA_BARRIER;
  std::vector<nagaya_collective> barriers(state.size, barrier);
  state.simulation.run([&](uint32_t rank) {
    if (!is_long) state.simulation.begin_lap();
    for (uint32_t turn = 0; turn < turns; ++turn) {
      state.calls[rank]->send.write(rank, turn);
      if (is_long) {
        state.run(rank, barriers[rank], coll::algorithm_of(barriers[rank], *state.teams[rank]));
        state.simulation.begin_lap();
      }
      state.call(rank, state.chosen(rank, "", kind));
      if (is_long) state.simulation.end_lap();
      state.calls[rank]->receive.read();
      // As in a bcast's loop, where only the first turns find the others waiting.
      if (!is_long && turn + 1 == turns / 2) {
        state.simulation.end_lap();
        state.simulation.begin_lap();
      }
    }
    if (!is_long) state.simulation.end_lap();
  });
  state.check(kind, turns - 1);
  const double laps_ns = state.simulation.slowest_of_means_ns(1);
  return is_long ? laps_ns : laps_ns / (turns - turns / 2);
}

}  // namespace nagaya::bench::scale

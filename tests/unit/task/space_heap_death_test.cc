// SPDX-License-Identifier: BSD-3-Clause
// Death of a task at every instruction of a heap operation, and at random moments under load.
//
// The victim is a process that shares this one's memory, as a task does. It is stepped through
// its operation one machine instruction at a time, N of them, and then killed; N grows until the
// operation completes. Each time: another task works on while the victim stands still, the host
// reclaims, and nothing is lost, leaked or overwritten.
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <random>
#include <thread>

#include "stepped_process.h"
#include "task/handmade_space.h"

namespace nagaya::task {
namespace {

constexpr size_t kStackBytes = 256 << 10;
constexpr uint32_t kChunks = 24;
constexpr uint32_t kVictim = 0, kOther = 1;

using Operation = void (*)(HandmadeSpace&, void* block);

struct Victim {
  HandmadeSpace* space;
  void* block;  // prepared before it starts
  Operation operation;

  static void operate(void* self) {
    auto* victim = static_cast<Victim*>(self);
    victim->operation(*victim->space, victim->block);
  }
};

struct Case {
  const char* name;
  // Prepares the block that the operation works on; may be nullptr.
  void* (*prepare)(HandmadeSpace&);
  Operation operation;
};

const Case kCases[] = {
    {"FirstSmallBlock", nullptr,
     [](HandmadeSpace& space, void*) { heap_allocate(space.task(kVictim), 100); }},
    {"SmallBlockFromTheFreeList",
     [](HandmadeSpace& space) {
       void* block = heap_allocate(space.task(kVictim), 100);
       heap_free(space.task(kVictim), block);
       return block;
     },
     [](HandmadeSpace& space, void*) { heap_allocate(space.task(kVictim), 100); }},
    {"SmallBlockFromTheReturnedOnes",
     [](HandmadeSpace& space) {
       for (int n = 0; n < 3; ++n)
         heap_free(space.task(kOther), heap_allocate(space.task(kVictim), 100));
       return static_cast<void*>(nullptr);
     },
     [](HandmadeSpace& space, void*) { heap_allocate(space.task(kVictim), 100); }},
    {"LargeBlock", nullptr,
     [](HandmadeSpace& space, void*) { heap_allocate(space.task(kVictim), 3 * kChunkBytes); }},
    {"LargeBlockBehindOthersChunks",
     [](HandmadeSpace& space) {
       void* first = heap_allocate(space.task(kOther), 2 * kChunkBytes);
       heap_allocate(space.task(kOther), 64);
       heap_free(space.task(kOther), first);
       return static_cast<void*>(nullptr);
     },
     [](HandmadeSpace& space, void*) { heap_allocate(space.task(kVictim), 3 * kChunkBytes); }},
    {"FreeOfItsOwnBlock",
     [](HandmadeSpace& space) { return heap_allocate(space.task(kVictim), 100); },
     [](HandmadeSpace& space, void* block) { heap_free(space.task(kVictim), block); }},
    {"FreeOfItsOwnLargeBlock",
     [](HandmadeSpace& space) { return heap_allocate(space.task(kVictim), 3 * kChunkBytes); },
     [](HandmadeSpace& space, void* block) { heap_free(space.task(kVictim), block); }},
    {"FreeOfAnothersBlock",
     [](HandmadeSpace& space) { return heap_allocate(space.task(kOther), 100); },
     [](HandmadeSpace& space, void* block) { heap_free(space.task(kVictim), block); }},
    {"FreeOfAnothersLargeBlock",
     [](HandmadeSpace& space) { return heap_allocate(space.task(kOther), 3 * kChunkBytes); },
     [](HandmadeSpace& space, void* block) { heap_free(space.task(kVictim), block); }},
};

class HeapDeath : public testing::TestWithParam<Case> {};

// A living task can do everything at once beside a victim that stands still.
void expect_others_work(HandmadeSpace& space, void* victims_block, int steps) {
  TaskRecord& other = space.task(kOther);
  void* small = heap_allocate(other, 3000);
  void* large = heap_allocate(other, 2 * kChunkBytes);
  ASSERT_NE(small, nullptr) << steps;
  ASSERT_NE(large, nullptr) << steps;
  std::memset(small, 0x11, 3000);
  std::memset(large, 0x22, 2 * kChunkBytes);
  if (victims_block != nullptr) {
    ASSERT_EQ(heap_free(other, victims_block), 0) << steps;
  }
  ASSERT_EQ(heap_free(other, small), 0) << steps;
  ASSERT_EQ(heap_free(other, large), 0) << steps;
}

// Afterwards the whole heap can be used, and in one piece when nobody else has any of it.
void expect_nothing_leaked(HandmadeSpace& space, int steps) {
  ASSERT_EQ(space.chunks_of(kVictim), 0u) << "after " << steps << " instructions";
  reclaim_heap(space.task(kOther));
  ASSERT_EQ(space.free_chunks(), kChunks) << "after " << steps << " instructions";
  TaskRecord& next = space.open(kVictim);
  ASSERT_NE(heap_allocate(next, kChunks * kChunkBytes), nullptr) << steps;
}

TEST_P(HeapDeath, AtEveryInstructionLosesNothing) {
  SKIP_UNDER_THREAD_SANITIZER();
  bool finished = false;
  for (int steps = 0; !finished; steps += stride()) {
    HandmadeSpace space(kChunks);
    auto* kept = static_cast<unsigned char*>(heap_allocate(space.task(kOther), 5000));
    std::memset(kept, 0x33, 5000);
    void* victims = heap_allocate(space.task(kVictim), 200);
    Victim victim{&space, nullptr, GetParam().operation};
    if (GetParam().prepare != nullptr) victim.block = GetParam().prepare(space);
    {
      SteppedProcess process(Victim::operate, &victim);
      if (!process.can_step()) GTEST_SKIP() << "ptrace is not permitted here";
      finished = !process.step(steps);
      ASSERT_NO_FATAL_FAILURE(expect_others_work(space, victims, steps));
      process.kill();
    }
    reclaim_heap(space.task(kVictim));
    for (int n = 0; n < 5000; ++n) ASSERT_EQ(kept[n], 0x33) << "after " << steps;
    ASSERT_NO_FATAL_FAILURE(expect_nothing_leaked(space, steps));
    ASSERT_LT(steps, 2000000) << "the operation does not end";
  }
}

INSTANTIATE_TEST_SUITE_P(Operations, HeapDeath, testing::ValuesIn(kCases),
                         [](const auto& info) { return std::string(info.param.name); });

// --- killed at random moments, while others allocate --------------------------------------------

struct Worker {
  HandmadeSpace* space;
  uint32_t number;
  uint32_t seed;
  volatile uint64_t operations;
};

// Allocates and frees for ever. No libc: a linear congruential generator instead of <random>.
int work_until_killed(void* argument) {
  auto* worker = static_cast<Worker*>(argument);
  TaskRecord& self = worker->space->task(worker->number);
  void* held[32] = {};
  uint32_t random = worker->seed * 2654435761u + 1;
  for (;;) {
    random = random * 1664525u + 1013904223u;
    void*& slot = held[(random >> 8) % 32];
    if (slot != nullptr) {
      heap_free(self, slot);
      slot = nullptr;
    } else {
      const bool large = (random >> 16) % 8 == 0;
      slot = heap_allocate(self, large ? kChunkBytes + (random >> 12) : (random >> 20) + 1);
      if (slot != nullptr) *static_cast<volatile uint32_t*>(slot) = random;
    }
    worker->operations = worker->operations + 1;
  }
}

TEST(HeapDeathUnderLoad, LosesNothingWhoeverIsKilledWhenever) {
  SKIP_UNDER_THREAD_SANITIZER();
  HandmadeSpace space(128);
  TaskRecord& steady = space.task(7);
  auto* kept = static_cast<unsigned char*>(heap_allocate(steady, 3 * kChunkBytes));
  std::memset(kept, 0x44, 3 * kChunkBytes);
  std::mt19937 random(20150901);
  for (int round = 0; round < 40; ++round) {
    constexpr uint32_t kWorkers = 3;
    Worker workers[kWorkers];
    base::Mapping stacks[kWorkers];
    pid_t pids[kWorkers];
    for (uint32_t n = 0; n < kWorkers; ++n) {
      space.open(n);
      workers[n] = {&space, n, static_cast<uint32_t>(random()), 0};
      stacks[n] = base::reserve_memory(kStackBytes, "stack");
      pids[n] = ::clone(work_until_killed, stacks[n].data() + kStackBytes, CLONE_VM | SIGCHLD,
                        &workers[n]);
      ASSERT_GT(pids[n], 0);
    }
    for (uint32_t n = 0; n < kWorkers; ++n) {
      while (workers[n].operations < 50) ::sched_yield();
      ::usleep(static_cast<useconds_t>(random() % 2000));
      void* mine = heap_allocate(steady, 1000);  // may be nullptr: the workers fill the heap
      ::kill(pids[n], SIGKILL);
      int status;
      ASSERT_EQ(::waitpid(pids[n], &status, 0), pids[n]);
      ASSERT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) << status;
      reclaim_heap(space.task(n));
      ASSERT_EQ(space.chunks_of(n), 0u) << "round " << round;
      if (mine != nullptr) {
        ASSERT_EQ(heap_free(steady, mine), 0);
      }
    }
    for (size_t n = 0; n < 3 * kChunkBytes; ++n) ASSERT_EQ(kept[n], 0x44) << "round " << round;
    ASSERT_EQ(space.free_chunks() + space.chunks_of(7), 128u);
  }
}

}  // namespace
}  // namespace nagaya::task

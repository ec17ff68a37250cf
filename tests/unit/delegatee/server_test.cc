// SPDX-License-Identifier: BSD-3-Clause
// The host's side: what of a task that has ended is still in use, as the host asks.
#include "delegatee/server.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>

#include <functional>
#include <utility>

#include "task/space_memory.h"

namespace nagaya::delegatee {
namespace {

using mailbox::Owner;

// A host with its board, and its tasks.
class ServerTest : public testing::Test {
 protected:
  // Its record, as if its program had made its first request.
  task::TaskRecord& start_task() {
    task::TaskRecord& record = space_.open_record(-1);
    server_.task_starts(record, {});
    board_.attached[record.number] = owner_of(record).bits;
    return record;
  }
  static Owner owner_of(const task::TaskRecord& record) {
    return Owner::task(record.number, record.generation);
  }
  void end(task::TaskRecord& record) {
    space_.mark_ended(record, 0);
    server_.task_ended(record);
  }
  // The next task gets its number.
  void close(task::TaskRecord& record) {
    space_.close_record(record);
    space_.free_closed();
  }

  task::SpaceMemory space_{{.capacity = 4}};
  Server server_{space_.header()};
  llcl::Board& board_ = *static_cast<llcl::Board*>(space_.header().upper_floors);
};

// Pages that nobody may touch; the first thread that does is stopped, and lets `meanwhile` run.
class StoppingPages {
 public:
  explicit StoppingPages(size_t bytes)
      : bytes_(bytes),
        data_(static_cast<std::byte*>(
            ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))) {}
  ~StoppingPages() { ::munmap(data_, bytes_); }
  std::byte* data() const { return data_; }

  void stop_in(const std::function<void()>& work, std::function<void()> meanwhile) {
    meanwhile_ = [&, meanwhile = std::move(meanwhile)] {
      meanwhile();
      ::mprotect(data_, bytes_, PROT_READ | PROT_WRITE);
    };
    struct sigaction action {
    }, before{};
    action.sa_handler = [](int) { std::exchange(meanwhile_, [] { std::abort(); })(); };
    ::sigaction(SIGSEGV, &action, &before);
    ::mprotect(data_, bytes_, PROT_NONE);
    work();
    ::sigaction(SIGSEGV, &before, nullptr);
  }

 private:
  static inline std::function<void()> meanwhile_;
  const size_t bytes_;
  std::byte* const data_;
};

// A copier that dies as soon as its copy is offered.
struct DeathWhenOffered {
  mailbox::Load idle{1, 2};

  const mailbox::Load& load() const { return idle; }
  bool is_alive(Owner) const { return true; }
  [[noreturn]] void wake(uint32_t) const { throw DeathWhenOffered(); }
};

TEST_F(ServerTest, HoldsADeadTasksMemoryAsLongAsAnotherTaskStandsStillInAChunkOfItsCopy) {
  constexpr size_t kBytes = 1 << 20;
  const StoppingPages unused(kBytes);
  StoppingPages source(kBytes);
  task::TaskRecord& copier = start_task();
  task::TaskRecord& helper = start_task();
  try {
    board_.copies->copy({unused.data(), source.data(), kBytes, helper.number}, owner_of(copier),
                        DeathWhenOffered());
    FAIL() << "was not offered";
  } catch (const DeathWhenOffered&) {
  }
  source.stop_in([&] { EXPECT_TRUE(board_.copies->help(owner_of(helper))); },
                 [&] {
                   end(copier);
                   EXPECT_FALSE(board_.copies->any());
                   EXPECT_TRUE(server_.holds(copier));
                   EXPECT_TRUE(server_.holds(copier));
                   EXPECT_FALSE(server_.holds(helper));
                 });
  EXPECT_FALSE(server_.holds(copier));
}

TEST_F(ServerTest, HoldsNothingOfATaskThatDiedInACopyOnceItsHelperHasEnded) {
  constexpr size_t kBytes = 1 << 20;
  const StoppingPages unused(kBytes);
  StoppingPages source(kBytes);
  task::TaskRecord& copier = start_task();
  task::TaskRecord& helper = start_task();
  EXPECT_THROW(board_.copies->copy({unused.data(), source.data(), kBytes, helper.number},
                                   owner_of(copier), DeathWhenOffered()),
               DeathWhenOffered);
  source.stop_in([&] { board_.copies->help(owner_of(helper)); },
                 [&] {
                   end(copier);
                   EXPECT_TRUE(server_.holds(copier));
                   end(helper);
                   EXPECT_FALSE(server_.holds(copier));
                 });
}

}  // namespace
}  // namespace nagaya::delegatee

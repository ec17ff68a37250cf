// SPDX-License-Identifier: BSD-3-Clause
// The host's side: whether anything of a task that has ended is still in use, as the host asks.
#include "delegatee/server.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <utility>

#include "llcl/board/message.h"
#include "task/clear_space.h"
#include "task/space/space_heap.h"

// Signal handlers here run where the test itself touches a page, and not in the middle of anything.
extern "C" [[gnu::visibility("default")]] const char* __tsan_default_options();
extern "C" const char* __tsan_default_options() {
  return "report_signal_unsafe=0";
}

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

  task::ClearSpace space_{{.capacity = 4}};
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
  task::TaskRecord& bystander = start_task();
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
                   EXPECT_TRUE(server_.holds(helper)) << "the other side";
                   EXPECT_FALSE(server_.holds(bystander));
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

// ---- messages that a dead task has not read -----------------------------------------------------

// Messages that a task finds in its mailboxes.
class MessagesOfADeadTask : public ServerTest {
 protected:
  // Of `bytes`, which only the body of a longer one may be.
  static llcl::ActiveMessage message(size_t bytes, void* body = nullptr,
                                     std::atomic<uint32_t>* done = nullptr) {
    llcl::ActiveMessage message{};
    message.bytes = bytes;
    if (body != nullptr) message.longer = {static_cast<std::byte*>(body), done};
    return message;
  }
  void post(mailbox::Mailbox* boxes, Owner sender, uint8_t kind, llcl::ActiveMessage message) {
    if (sender != Owner::host()) message.sender = sender.bits;
    ASSERT_EQ(boxes[dead_.number].post(sender, kind, &message, sizeof message), 0);
  }
  // Of the next task of that number.
  task::TaskRecord& next_task() {
    end(dead_);
    close(dead_);
    task::TaskRecord& next = start_task();
    EXPECT_EQ(next.number, dead_.number);
    return next;
  }
  static bool is_empty(mailbox::Mailbox& box) {
    for (int n = 0; n < 100; ++n)
      if (box.take()) return false;
    return true;
  }

  // In the dead task's port, of a process of that node: a message whose body is lent.
  void lend(Owner poster, uint32_t node, std::byte* body, std::atomic<uint32_t>* returned) {
    llcl::PortCell cell{};
    cell.sourced.source = {node, 0};
    cell.sourced.lent = {kLong, {body, returned, 1}};
    board_.ports[dead_.number].post(poster, static_cast<uint8_t>(llcl::Form::kLent), &cell,
                                    sizeof cell);
  }

  static constexpr uint8_t kActive = static_cast<uint8_t>(llcl::MessageKind::kActive),
                           kCompletion = static_cast<uint8_t>(llcl::MessageKind::kCompletion);
  static constexpr uint32_t kOtherNode = 1;
  static constexpr size_t kLong = 1000;

  task::TaskRecord& dead_ = start_task();
  task::TaskRecord& sender_ = start_task();
};

TEST_F(MessagesOfADeadTask, AreNotForTheNextTaskOfItsNumber) {
  post(board_.mailboxes, owner_of(sender_), kActive, message(8));
  post(board_.mailboxes, Owner::host(), kCompletion, message(8));
  std::atomic<uint32_t> returned{};
  lend(Owner::host(), kOtherNode, nullptr, &returned);
  for (const auto form : {llcl::Form::kShort, llcl::Form::kNote})
    post(board_.ports, owner_of(sender_), static_cast<uint8_t>(form), message(8));
  const uint32_t number = next_task().number;
  EXPECT_TRUE(is_empty(board_.mailboxes[number]));
  EXPECT_TRUE(is_empty(board_.ports[number]));
}

TEST_F(MessagesOfADeadTask, GiveBackTheirBodiesToTheDelegateeUnlessTheTaskHadThemInItsHands) {
  std::byte body[kLong];
  std::atomic<uint32_t> held{}, in_mailbox{}, in_port{};
  post(board_.mailboxes, Owner::host(), kActive, message(kLong, body, &held));
  post(board_.mailboxes, Owner::host(), kActive, message(kLong, body, &in_mailbox));
  lend(Owner::host(), kOtherNode, body, &in_port);
  EXPECT_TRUE(board_.mailboxes[dead_.number].take());
  next_task();
  EXPECT_EQ(held, 0U) << "its body may have been given back, and freed";
  EXPECT_EQ(in_mailbox, 1U);
  EXPECT_EQ(in_port, 1U);
}

// The memory of a task of this node may be gone.
TEST_F(MessagesOfADeadTask, LeaveABlockToItsSenderOfThisNode) {
  lend(owner_of(sender_), board_.node, nullptr, reinterpret_cast<std::atomic<uint32_t>*>(8));
  EXPECT_TRUE(is_empty(board_.ports[next_task().number]));
}

TEST_F(MessagesOfADeadTask, GiveBackTheirBlocksToASenderThatLives) {
  for (const size_t bytes : {kLong, 2 * task::kHeapBlockMaxBytes}) {
    void* const block = task::heap_allocate(sender_, bytes);
    post(board_.mailboxes, owner_of(sender_), kActive, message(bytes, block));
    next_task();
    EXPECT_EQ(task::heap_allocate(sender_, bytes), block);
  }
}

TEST_F(MessagesOfADeadTask, GiveNoBlockToTheNextTaskOfASendersNumber) {
  const Owner sender = owner_of(sender_);
  void* const block = task::heap_allocate(sender_, kLong);
  post(board_.mailboxes, sender, kActive, message(kLong, block));
  end(sender_);
  close(sender_);
  task::TaskRecord& next_sender = start_task();
  ASSERT_EQ(next_sender.number, sender.number());
  ASSERT_EQ(task::heap_allocate(next_sender, kLong), block);
  next_task();
  EXPECT_NE(task::heap_allocate(next_sender, kLong), block) << "is used by two";
}

// ---- files ----

std::vector<base::Fd> new_file() {
  std::vector<base::Fd> one;
  one.emplace_back(::memfd_create("file", MFD_CLOEXEC));
  return one;
}

std::string question_of(uint32_t task) {
  return encode(Question{Question::Kind::kFile, {}, task, {}});
}

TEST_F(ServerTest, HoldsATaskWhileItsFileIsWritten) {
  task::TaskRecord& record = start_task();
  record.state = task::TaskState::kRunning;
  std::vector<base::Fd> file = new_file();
  const base::Fd same(::dup(file[0].get()));
  const auto opened = task::decode_plain<files::Opened>(
      server_.answer(question_of(record.number), std::move(file)));
  std::vector<std::byte> data(64 << 20, std::byte{7});
  nagaya_file_request request{};
  ASSERT_TRUE(opened.intake->lanes->push(
      opened.lane,
      files::Command{files::Op::kWrite, opened.file, 0, data.data(), data.size(), &request}));
  opened.intake->bell.ring_after_fence();
  struct stat status {};
  while (status.st_size == 0) ::fstat(same.get(), &status);
  end(record);
  while (server_.holds(record)) continue;
  ::fstat(same.get(), &status);
  const off_t written = status.st_size;
  std::fill(data.begin(), data.end(), std::byte{1});
  std::vector<std::byte> there(static_cast<size_t>(written));
  ASSERT_EQ(::pread(same.get(), there.data(), there.size(), 0), written);
  EXPECT_EQ(std::count(there.begin(), there.end(), std::byte{7}), written);
}

TEST_F(ServerTest, ClosesAFileThatItCannotTakeOverBecauseNoLaneIsFree) {
  const auto start_running = [&]() -> task::TaskRecord& {
    task::TaskRecord& record = start_task();
    record.state = task::TaskState::kRunning;
    return record;
  };
  task::TaskRecord& first = start_running();
  const auto opened =
      task::decode_plain<files::Opened>(server_.answer(question_of(first.number), new_file()));
  while (opened.intake->lanes->claim(Owner::host()) != files::Lanes::kNoLane) continue;
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  const base::Fd reader(ends[0]);
  std::vector<base::Fd> refused;
  refused.emplace_back(ends[1]);
  try {
    server_.answer(question_of(start_running().number), std::move(refused));
    ADD_FAILURE() << "was taken over";
  } catch (const base::Error& error) {
    EXPECT_EQ(error.code(), -ENOBUFS);
  }
  char none;
  EXPECT_EQ(::read(reader.get(), &none, 1), 0) << "the host has it open";
  const auto again =
      task::decode_plain<files::Opened>(server_.answer(question_of(first.number), new_file()));
  EXPECT_EQ(again.lane, opened.lane) << "a task has one lane";
}

TEST_F(ServerTest, RefusesAFileThatNoLivingTaskHasOpened) {
  task::TaskRecord& record = start_task();
  record.state = task::TaskState::kRunning;
  EXPECT_THROW(server_.answer(question_of(record.number), {}), base::Error);
  EXPECT_THROW(server_.answer(question_of(4), new_file()), base::Error);
  end(record);
  EXPECT_THROW(server_.answer(question_of(record.number), new_file()), base::Error);
}

}  // namespace
}  // namespace nagaya::delegatee

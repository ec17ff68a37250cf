// SPDX-License-Identifier: BSD-3-Clause
// The host's loop, in this process, with tasks that make nothing but system calls; and the seeds of
// its fuzzer.
#include "task/host/host.h"

#include <gtest/gtest.h>

#include "../../fuzz/host_target.h"
#include "corpus.h"
#include "task/process_state.h"
#include "task/refused_call.h"

namespace nagaya {
namespace {

using namespace fuzz;

TEST(Host, ServesOthersWhateverItsClientsDo) {
  EXPECT_GT(replay("host", serve_liars), 10u);
}

// The host counted a task's end once when it could not tell the client of the start, and once more
// when the task ended: it took the job for complete before the second task had come.
TEST(Host, WaitsForTheTasksThatAreStillToComeWhenAClientLeavesDuringALaunch) {
  const BlockedSignal blocked;
  HostUnderTest host(0);
  {
    task::Channel client(host.connect());
    task::Hello hello = right_hello();
    hello.keeps_tasks = 0;
    hello.group_tasks = 2;
    client.send(MessageType::kHello, task::encode_plain(hello));
    for (int round = 0; round < 10; ++round) (*host).serve_once(1);
    ASSERT_TRUE(client.receive());
    const base::Fd folder(::open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC));
    client.send(MessageType::kLaunch, task::encode(launch_of(1)), {folder.get()});
  }
  const task::TaskRecord& record = *(*host).space().record(0);
  for (const Deadline deadline; !deadline.has_passed() && record.state != task::TaskState::kEnded;)
    (*host).serve_once(1);
  EXPECT_EQ(record.state, task::TaskState::kEnded);
  EXPECT_FALSE((*host).has_ended());
}

// Serves until the tasks of the clients, which have left by then, have ended.
struct AtEnd {
  HostUnderTest& host;
  ~AtEnd() { finish(*host); }
};

// A client whose one task ends at once, and how it hears of that.
class ClientOfOneTask {
 public:
  explicit ClientOfOneTask(HostUnderTest& host) : host_(host), channel_(host.connect()) {
    channel_.send(MessageType::kHello, task::encode_plain(right_hello()));
    const base::Fd folder(::open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC));
    channel_.send(MessageType::kLaunch, task::encode(launch_of(1)), {folder.get()});
    for (const Deadline deadline; !deadline.has_passed() && !has(MessageType::kStarted);)
      (*host_).serve_once(1);
  }
  // Until the host's task has ended, whether the reaper has reaped it or not.
  void await_end() const {
    for (const Deadline deadline; !deadline.has_passed(); ::usleep(1000))
      if (const char state = state_of(pid_); state == 'Z' || state == ' ') return;
  }
  // Whether that has come. Messages of other types are dropped.
  bool has(MessageType type) {
    while (const auto message = channel_.receive()) {
      if (message->type == MessageType::kStarted)
        pid_ = task::decode_plain<task::Started>(message->payload).pid;
      if (message->type == MessageType::kEnded)
        wait_status_ = task::decode_end(message->payload).wait_status;
      if (message->type == type) return true;
    }
    return false;
  }
  bool hears_of_end() {
    for (const Deadline deadline; !deadline.has_passed(); (*host_).serve_once(1))
      if (has(MessageType::kEnded)) return true;
    return false;
  }
  int wait_status() const { return wait_status_; }

 private:
  HostUnderTest& host_;
  task::Channel channel_;
  pid_t pid_ = 0;
  int wait_status_ = -1;
};

void serve_until_refused(HostUnderTest& host) {
  for (const Deadline deadline; !deadline.has_passed() && refused_calls == 0;)
    (*host).serve_once(1);
}

// The host looked for ended tasks after SIGCHLD only: a proxy whose task's signal was lost waited
// for ever.
TEST(Host, FindsATaskThatHasEndedWithoutASignal) {
  const BlockedSignal blocked;
  HostUnderTest host;
  const AtEnd at_end{host};
  ClientOfOneTask client(host);
  client.await_end();
  sigset_t ended;
  ::sigemptyset(&ended);
  ::sigaddset(&ended, SIGCHLD);
  const timespec limit{8, 0};
  EXPECT_EQ(::sigtimedwait(&ended, nullptr, &limit), SIGCHLD);
  EXPECT_TRUE(client.hears_of_end());
  EXPECT_EQ(client.wait_status(), 0);
}

TEST(Host, HearsOfAnEndOnceThereIsMemoryToAskTheReaper) {
  const BlockedSignal blocked;
  HostUnderTest host;
  const AtEnd at_end{host};
  ClientOfOneTask client(host);
  client.await_end();
  EXPECT_GT(in_thread_that_refuses({SYS_write}, ENOMEM, [&] { serve_until_refused(host); }), 0);
  EXPECT_TRUE(client.hears_of_end());
  EXPECT_EQ(client.wait_status(), 0);
}

// A proxy of whose task's end the kernel had no memory to tell was cut off, and said that the host
// had died.
TEST(Host, TellsOfAnEndOnceThereIsMemory) {
  const BlockedSignal blocked;
  HostUnderTest host;
  const AtEnd at_end{host};
  ClientOfOneTask client(host);
  client.await_end();
  EXPECT_GT(
      in_thread_that_refuses({SYS_sendto, SYS_sendmsg}, ENOMEM, [&] { serve_until_refused(host); }),
      0);
  EXPECT_TRUE(client.hears_of_end());
  EXPECT_EQ(client.wait_status(), 0);
}

// One connection beyond fs.epoll.max_user_watches ended the host, and with it all tasks.
TEST(Host, RefusesAClientThatCannotBeWatchedAndServesTheOthers) {
  const BlockedSignal blocked;
  HostUnderTest host;
  const AtEnd at_end{host};
  Honest witness(host);
  const task::Started task = witness.launch_waiting_task();
  task::Channel unwatched(host.connect());
  EXPECT_EQ(in_thread_that_refuses({SYS_epoll_ctl}, ENOSPC, [&] { (*host).serve_once(100); }), 1);
  const auto said = unwatched.receive();
  ASSERT_TRUE(said && said->type == MessageType::kRefused);
  const base::Error reason = task::decode_refusal(said->payload);
  EXPECT_EQ(reason.code(), -ENOSPC);
  EXPECT_NE(std::string(reason.what()).find("fs.epoll.max_user_watches"), std::string::npos);
  EXPECT_THROW(unwatched.receive(), base::Error);
  check_witness(host, witness, task);
}

// A client that could not be accepted for want of memory woke the host again and again.
TEST(Host, LooksRarelyForAClientThatItCannotAccept) {
  const BlockedSignal blocked;
  HostUnderTest host;
  const AtEnd at_end{host};
  const base::Fd waiting = host.connect();
  const int accepts = in_thread_that_refuses({SYS_accept4}, ENOMEM, [&] {
    for (int n = 0; n < 50; ++n) (*host).serve_once(1);
  });
  EXPECT_EQ(accepts, 1);
  Honest served_later(host);
}

// A launcher tells when the MPI of a rank begins and ends; a task knows about its own calls.
TEST(Host, MarksTheTasksOfARankWhoseMpiHasStarted) {
  const BlockedSignal blocked;
  HostUnderTest host;
  const AtEnd at_end{host};
  task::Channel launcher(host.connect());
  launcher.send(MessageType::kHello, task::encode_plain(right_hello()));
  const base::Fd folder(::open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC));
  for (int rank = 0; rank < 3; ++rank) {
    task::Launch launch = launch_of(0);
    launch.stands_for = launch.wanted_number = rank;
    launcher.send(MessageType::kLaunch, task::encode(launch), {folder.get()});
  }
  const auto tell = [&](int32_t rank, uint32_t has_begun) {
    launcher.send(MessageType::kCommunication,
                  task::encode_plain(task::Communication{rank, has_begun}));
    for (int round = 0; round < 10; ++round) (*host).serve_once(1);
  };
  const auto communicates = [&](uint32_t number) {
    return (*host).space().record(number)->communicates != 0;
  };
  tell(1, 1);
  EXPECT_FALSE(communicates(0));
  EXPECT_TRUE(communicates(1));
  tell(1, 0);
  EXPECT_FALSE(communicates(1));
  (*host).space().record(2)->communicates = 1;
  tell(2, 1);
  tell(2, 0);
  EXPECT_TRUE(communicates(2)) << "the task itself has said so";
}

// A proxy of a launched job of one task, named `job`. Returns the number of its task once that has
// ended.
uint32_t run_job_of_one(HostUnderTest& host, char job) {
  task::Channel proxy(host.connect());
  task::Hello hello = right_hello();
  hello.keeps_tasks = 0;
  hello.group_tasks = 1;
  hello.group[0] = job;
  proxy.send(MessageType::kHello, task::encode_plain(hello));
  const base::Fd folder(::open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC));
  proxy.send(MessageType::kLaunch, task::encode(launch_of(1)), {folder.get()});
  for (const Deadline deadline; !deadline.has_passed(); (*host).serve_once(1))
    while (const auto message = proxy.receive()) {
      if (message->type == MessageType::kRefused)
        throw base::Error(task::decode_refusal(message->payload));
      if (message->type == MessageType::kEnded) return task::decode_end(message->payload).number;
    }
  throw base::Error(-ETIMEDOUT, "a launched task ends");
}

// A master that started one worker after the other was ended once all numbers had been used.
TEST(Host, UsesTheNumbersOfFinishedJobsAgain) {
  const BlockedSignal blocked;
  HostUnderTest host;
  const AtEnd at_end{host};
  Honest master(host);
  master.launch_waiting_task();
  for (char job = 'a'; job < 'a' + 3 * static_cast<int>(kHostCapacity); ++job)
    EXPECT_LT(run_job_of_one(host, job), kHostCapacity);
}

TEST(Host, KeepsTheNumberOfAFinishedTaskThatALivingOneHolds) {
  const BlockedSignal blocked;
  HostUnderTest host;
  const AtEnd at_end{host};
  task::SpaceHeader& space = (*host).space();
  Honest master(host);
  const uint32_t own = master.launch_waiting_task().number;
  const uint32_t held = run_job_of_one(host, 'a');
  space.hold(own, held) = 1;
  for (char job = 'b'; job < 'b' + 2 * static_cast<int>(kHostCapacity); ++job)
    EXPECT_NE(run_job_of_one(host, job), held);
  EXPECT_EQ(space.record(held)->state, task::TaskState::kEnded);
  space.hold(own, held) = 0;
  bool is_used = false;
  for (char job = 'b'; job < 'b' + 2 * static_cast<int>(kHostCapacity); ++job)
    is_used |= run_job_of_one(host, job) == held;
  EXPECT_TRUE(is_used);
}

TEST(Host, SaysThatNumbersHaveRunOutWhenAllAreHeld) {
  const BlockedSignal blocked;
  HostUnderTest host;
  const AtEnd at_end{host};
  Honest master(host);
  const uint32_t own = master.launch_waiting_task().number;
  for (uint32_t n = 0; n < kHostCapacity; ++n) (*host).space().hold(own, n) = 1;
  for (uint32_t n = 1; n < kHostCapacity; ++n) run_job_of_one(host, 'a' + static_cast<char>(n));
  const base::Error error = [&] {
    try {
      run_job_of_one(host, 'z');
    } catch (const base::Error& thrown) {
      return thrown;
    }
    return base::Error(0, "");
  }();
  EXPECT_EQ(error.code(), -EAGAIN);
  EXPECT_NE(std::string(error.what()).find("all 6 task numbers are in use"), std::string::npos);
}

}  // namespace
}  // namespace nagaya

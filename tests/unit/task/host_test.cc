// SPDX-License-Identifier: BSD-3-Clause
// The host's loop, in this process, with tasks that make nothing but system calls; and the seeds of
// its fuzzer.
#include "task/host.h"

#include <gtest/gtest.h>

#include "../../fuzz/host_target.h"
#include "corpus.h"

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

}  // namespace
}  // namespace nagaya

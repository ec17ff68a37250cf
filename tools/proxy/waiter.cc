// SPDX-License-Identifier: BSD-3-Clause
// waiter.cc - `nagaya-waiter`: the proxy while its task runs (attendance.h). A message that it does
// not expect it leaves unread to `nagaya attend`.
#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>

#include "death.h"
#include "proxy/attendance.h"
#include "task/host/frame.h"

namespace nagaya::tools {
namespace {

struct EndedFrame {
  task::Frame frame;
  task::Ended ended;
};
struct SignalFrame {
  task::Frame frame;
  task::SignalRequest request;
};

// Becomes `nagaya attend`. If that fails, the process ends as one whose task is lost.
[[noreturn]] void leave_to_tool(const Attendance& own, char** words) {
  char* all[kAttendanceWords + 3] = {const_cast<char*>("nagaya"), const_cast<char*>("attend")};
  for (int n = 0; n < kAttendanceWords; ++n) all[n + 2] = words[n];
  ::execv(own.tool, all);
  end_like(W_EXITCODE(0, SIGKILL));
}

// Copies the next message into `out`, and leaves it unread in the socket. Returns true if it says
// that the task has ended.
bool has_ended(const Attendance& own, EndedFrame& out) {
  const ssize_t bytes = ::recv(own.socket, &out, sizeof out, MSG_PEEK | MSG_DONTWAIT);
  return bytes == sizeof out && out.frame.magic == task::kFrameMagic &&
         out.frame.type == task::MessageType::kEnded &&
         out.frame.payload_bytes == sizeof out.ended && out.frame.descriptors == 0 &&
         out.ended.number == own.task;
}

[[noreturn]] void attend(const Attendance& own, char** words) {
  for (;;) {
    pollfd ready[] = {{own.socket, POLLIN, 0}, {own.signals, POLLIN, 0}, {own.launcher, POLLIN, 0}};
    ::poll(ready, 3, -1);
    EndedFrame message;
    if (ready[0].revents != 0) {
      if (!has_ended(own, message)) leave_to_tool(own, words);
      tell_of_fault(message.ended);
      end_like(message.ended.wait_status);
    }
    if (ready[1].revents != 0)
      forward(own, [&](int signal) {
        const SignalFrame wish{
            {task::kFrameMagic, task::MessageType::kSignal, sizeof(task::SignalRequest), 0},
            {own.pid, signal}};
        if (::send(own.socket, &wish, sizeof wish, MSG_NOSIGNAL) != sizeof wish)
          leave_to_tool(own, words);
      });
    if (ready[2].revents != 0) end_like(W_EXITCODE(0, SIGKILL));
  }
}

}  // namespace
}  // namespace nagaya::tools

// Arguments: the words of an Attendance, then the words of the task's program, for ps(1).
int main(int argc, char** argv) {
  using namespace nagaya::tools;
  if (argc <= kAttendanceWords) {
    fputs("nagaya-waiter: a part of nagaya exec, which starts it\n", stderr);
    return 125;
  }
  attend(attendance_of(argv + 1), argv + 1);
}

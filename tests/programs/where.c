/* SPDX-License-Identifier: BSD-3-Clause */
/* where.c - a program without MPI says where it runs: "HOST: task NUMBER of COUNT", and makes sure
 * that task 0 of its space is on the same host; outside of a space it says "HOST: no task". Then it
 * does what ending.h's acts say, if one is named. */
#include <limits.h>

#include "ending.h"
#include "meeting.h"

static char host[HOST_NAME_MAX + 1];

static void expect_same_host_as_task_0(void) {
  if (nagaya_task_self() == 0) EXPECT_EQUAL(nagaya_task_publish("host", host), 0);
  EXPECT(strcmp(memory_of(0, "host"), host) == 0);
  meet();
}

int main(int argc, char** argv) {
  char line[HOST_NAME_MAX + 64];
  EXPECT(gethostname(host, sizeof host - 1) == 0);
  int length = snprintf(line, sizeof line, "%s: no task\n", host);
  if (nagaya_task_self() >= 0) {
    expect_same_host_as_task_0();
    length = snprintf(line, sizeof line, "%s: task %d of %d\n", host, nagaya_task_self(),
                      nagaya_task_count());
  }
  /* At once: launchers mix the output of their processes. */
  EXPECT(write(STDOUT_FILENO, line, (size_t)length) == length);
  return argc > 1 ? act(argc, argv) : 0;
}

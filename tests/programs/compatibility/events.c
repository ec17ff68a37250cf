// SPDX-License-Identifier: BSD-3-Clause
// Acts of programs that wait for events by descriptors.
#define _GNU_SOURCE
#include <fcntl.h>
#include <liburing.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "acts.h"

static void descriptors(void) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  EXPECT(sigprocmask(SIG_BLOCK, &set, NULL) == 0);
  int fds[3] = {signalfd(-1, &set, 0), timerfd_create(CLOCK_MONOTONIC, 0), eventfd(0, 0)};
  struct itimerspec soon = {{0, 0}, {0, 1000000}};
  uint64_t value = 3;
  EXPECT(timerfd_settime(fds[1], 0, &soon, NULL) == 0);
  EXPECT(kill(getpid(), SIGUSR1) == 0 && write(fds[2], &value, sizeof value) == sizeof value);
  int queue = epoll_create1(0), seen = 0;
  for (int n = 0; n < 3; ++n) {
    struct epoll_event event = {.events = EPOLLIN | EPOLLONESHOT, .data.u32 = (uint32_t)n};
    EXPECT(epoll_ctl(queue, EPOLL_CTL_ADD, fds[n], &event) == 0);
  }
  for (struct epoll_event event; seen != 7; seen |= 1 << event.data.u32)
    EXPECT(epoll_wait(queue, &event, 1, 5000) == 1);
  struct signalfd_siginfo about;
  EXPECT(read(fds[0], &about, sizeof about) == sizeof about && about.ssi_pid == (uint32_t)getpid());
  printf("signal, timer and event seen\n");
}

static void ring(void) {
  struct io_uring uring;
  int result = io_uring_queue_init(8, &uring, 0);
  if (result < 0) {
    printf("refused: %s\n", strerror(-result));
    return;
  }
  char text[8] = "", *buffer = malloc(4096);
  int ends[2];
  struct iovec registered = {buffer, 4096};
  EXPECT(pipe(ends) == 0 && io_uring_register_buffers(&uring, &registered, 1) == 0);
  io_uring_prep_read(io_uring_get_sqe(&uring), ends[0], text, sizeof text, 0);
  strcpy(buffer, "by ring");
  io_uring_prep_write_fixed(io_uring_get_sqe(&uring), ends[1], buffer, 8, 0, 0);
  EXPECT(io_uring_submit_and_wait(&uring, 2) == 2);
  for (int n = 0; n < 2; ++n) {
    struct io_uring_cqe* done;
    EXPECT(io_uring_wait_cqe(&uring, &done) == 0 && done->res == 8);
    io_uring_cqe_seen(&uring, done);
  }
  printf("%s\n", text);
  io_uring_queue_exit(&uring);
}

static void folder_changes(void) {
  char name[] = "watched-XXXXXX", inside[40], event[4096];
  EXPECT(mkdtemp(name) != NULL);
  int watch = inotify_init();
  EXPECT(watch >= 0 && inotify_add_watch(watch, name, IN_CREATE) > 0);
  snprintf(inside, sizeof inside, "%s/new", name);
  close(open(inside, O_CREAT | O_WRONLY, 0600));
  EXPECT(read(watch, event, sizeof event) > 0);
  printf("created %s\n", ((struct inotify_event*)event)->name);
  EXPECT(unlink(inside) == 0 && rmdir(name) == 0);
}

static void passed_descriptor(void) {
  int pair[2], ends[2];
  char room[CMSG_SPACE(sizeof(int))] = {0}, byte = 'x';
  struct iovec part = {&byte, 1};
  struct msghdr message = {
      .msg_iov = &part, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof room};
  EXPECT(socketpair(AF_UNIX, SOCK_DGRAM, 0, pair) == 0 && pipe(ends) == 0);
  struct cmsghdr* header = CMSG_FIRSTHDR(&message);
  *header = (struct cmsghdr){CMSG_LEN(sizeof(int)), SOL_SOCKET, SCM_RIGHTS};
  memcpy(CMSG_DATA(header), &ends[1], sizeof(int));
  EXPECT(sendmsg(pair[0], &message, 0) == 1 && recvmsg(pair[1], &message, 0) == 1);
  int got;
  memcpy(&got, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof got);
  EXPECT(got != ends[1] && write(got, "passed", 7) == 7);
  char text[7];
  EXPECT(read(ends[0], text, 7) == 7);
  printf("%s\n", text);
}

int main(int argc, char** argv) {
  static const Act acts[] = {{"signalfd_timerfd_eventfd", descriptors},
                             {"io_uring", ring},
                             {"inotify", folder_changes},
                             {"scm_rights", passed_descriptor},
                             {NULL, NULL}};
  return perform_chosen(acts, argc, argv);
}

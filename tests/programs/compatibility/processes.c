// SPDX-License-Identifier: BSD-3-Clause
// Acts of programs that start, trace and restrict processes.
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "acts.h"

extern char** environ;

static int status_of(pid_t child) {
  int status = -1;
  EXPECT(waitpid(child, &status, 0) == child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

static void fork_exec(void) {
  for (int n = 0; n < 3; ++n) {
    fflush(stdout);
    pid_t child = fork();
    EXPECT(child >= 0);
    if (child == 0) execlp("sh", "sh", "-c", "exit $0", n == 0 ? "0" : n == 1 ? "7" : "255", NULL);
    printf("ended %d\n", status_of(child));
  }
}

// The child's changes are its own; so are the parent's.
static void fork_private(void) {
  static int variable = 1;
  int* heap = malloc(1 << 20);
  heap[1000] = 1;
  int ends[2];
  EXPECT(pipe(ends) == 0);
  pid_t child = fork();
  if (child == 0) {
    char go;
    if (read(ends[0], &go, 1) != 1) _exit(90);
    _exit(variable * 10 + heap[1000] + (malloc(3 << 20) == NULL ? 50 : 0));
  }
  variable = heap[1000] = 2;
  EXPECT(write(ends[1], "g", 1) == 1);
  printf("child saw %d, parent %d\n", status_of(child), variable * 10 + heap[1000]);
}

static void vfork_exec(void) {
  pid_t child = vfork();
  if (child == 0) {
    execl("/bin/false", "false", (char*)NULL);
    _exit(99);
  }
  printf("ended %d\n", status_of(child));
}

static void spawned(void) {
  char* const words[] = {"sh", "-c", "echo spawned; kill -9 $$", NULL};
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  EXPECT(posix_spawn_file_actions_init(&actions) == 0 && posix_spawnattr_init(&attributes) == 0);
  EXPECT(posix_spawn_file_actions_adddup2(&actions, 1, 2) == 0);
  EXPECT(posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP) == 0);
  pid_t child;
  EXPECT(posix_spawnp(&child, "sh", &actions, &attributes, words, environ) == 0);
  printf("ended %d\n", status_of(child));
}

static void shell_commands(void) {
  fflush(stdout);
  printf("system %d\n", WEXITSTATUS(system("exit 5")));
  char line[80] = "";
  FILE* out = popen("echo read through a pipe", "r");
  EXPECT(out != NULL && fgets(line, sizeof line, out) != NULL && pclose(out) == 0);
  printf("%s", line);
}

// As daemons start: two forks and a session, the grandchild works on after its parents.
static void daemon_starts(void) {
  int ends[2];
  EXPECT(pipe(ends) == 0);
  pid_t child = fork();
  if (child == 0) {
    setsid();
    if (fork() != 0) _exit(0);
    char word[20];
    int length = snprintf(word, sizeof word, "own session %d", getsid(0) != getppid() || 1);
    _exit(write(ends[1], word, (size_t)length) == length ? 0 : 1);
  }
  char said[20] = "";
  EXPECT(status_of(child) == 0 && read(ends[0], said, sizeof said - 1) > 0);
  printf("%s\n", said);
}

static void trace_child(void) {
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) {
    ptrace(PTRACE_TRACEME, 0, NULL, NULL);
    raise(SIGSTOP);
    syscall(SYS_getppid);
    _exit(4);
  }
  int status, calls = 0;
  EXPECT(waitpid(child, &status, 0) == child && WIFSTOPPED(status));
  EXPECT(ptrace(PTRACE_SETOPTIONS, child, NULL, PTRACE_O_TRACESYSGOOD) == 0);
  for (;;) {
    EXPECT(ptrace(PTRACE_SYSCALL, child, NULL, NULL) == 0 && waitpid(child, &status, 0) == child);
    if (!WIFSTOPPED(status)) break;
    calls += WSTOPSIG(status) == (SIGTRAP | 0x80);
  }
  printf("calls seen %d, ended %d\n", calls > 2, WEXITSTATUS(status));
}

static void read_child_memory(void) {
  static char text[32] = "from the parent";
  pid_t child = fork();
  if (child == 0) {
    strcpy(text, "from the child");
    pause();
  }
  char copy[32] = "";
  struct iovec here = {copy, sizeof copy}, there = {text, sizeof text};
  for (int n = 0; n < 2000 && strcmp(copy, "from the child") != 0; ++n) {
    if (process_vm_readv(child, &here, 1, &there, 1, 0) != sizeof copy) break;
    usleep(1000);
  }
  kill(child, SIGKILL);
  status_of(child);
  printf("%s | %s\n", copy, text);
}

// Filters one call, in this process and its threads only.
static void seccomp_filter(void) {
  struct sock_filter code[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),
                               BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getppid, 0, 1),
                               BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EDOM),
                               BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  struct sock_fprog program = {sizeof code / sizeof code[0], code};
  EXPECT(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
  EXPECT(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) == 0);
  long result = syscall(SYS_getppid);
  printf("filtered: %s\n", result < 0 ? strerror(errno) : "no");
}

static void limits(void) {
  struct rlimit limit = {64, 64};
  EXPECT(setrlimit(RLIMIT_NOFILE, &limit) == 0);
  int last = -1, fd;
  while ((fd = open("/dev/null", O_RDONLY | O_CLOEXEC)) >= 0) last = fd;
  printf("last descriptor %d: %s\n", last, strerror(errno));
  struct rlimit none = {0, 0};
  EXPECT(setrlimit(RLIMIT_CORE, &none) == 0);
  close(last);
  pid_t child = fork();
  if (child == 0) {
    struct rlimit second = {1, 1};
    setrlimit(RLIMIT_CPU, &second);
    for (volatile long spin = 0;; ++spin) continue;
  }
  printf("child ended %d\n", status_of(child) >= 1000);
}

static void address_limit(void) {
  struct rlimit limit = {256 << 20, 256 << 20};
  EXPECT(setrlimit(RLIMIT_AS, &limit) == 0);
  void* block = malloc(512 << 20);
  printf("512 MB within a limit of 256 MB: %s\n", block == NULL ? "refused" : "given");
  void* small = malloc(16 << 20);
  printf("16 MB: %s\n", small == NULL ? "refused" : "given");
}

int main(int argc, char** argv) {
  static const Act acts[] = {{"fork_exec", fork_exec},
                             {"fork_private", fork_private},
                             {"vfork", vfork_exec},
                             {"posix_spawn", spawned},
                             {"system_popen", shell_commands},
                             {"daemon", daemon_starts},
                             {"ptrace", trace_child},
                             {"process_vm_readv", read_child_memory},
                             {"seccomp", seccomp_filter},
                             {"setrlimit", limits},
                             {"limit_as", address_limit},
                             {NULL, NULL}};
  return perform_chosen(acts, argc, argv);
}

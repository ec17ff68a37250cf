/* SPDX-License-Identifier: BSD-3-Clause */
/* restricted.c - restricts itself as some machines restrict everybody, then runs a command.
 *
 *   restricted RESTRICTION VALUE COMMAND [ARGUMENT...]     (COMMAND may be another `restricted`)
 *
 *   clone3 ERRNO     clone3 fails so (38, ENOSYS: the default filter of containers)
 *   clone ERRNO      clone with memory in common, but not a thread nor a vfork, fails so
 *   fork ERRNO       clone without memory in common fails so
 *   wait ERRNO       wait4 fails so
 *   watch ERRNO      nothing can be added to an epoll (ENOSPC: fs.epoll.max_user_watches)
 *   affinity ERRNO   nobody binds itself to processors
 *   text ERRNO       nothing becomes executable by mprotect (SELinux, where text was changed)
 *   writable-text ERRNO   nothing is mapped writable and executable at once
 *   memory-file ERRNO     memfd_create fails so
 *   other-memory ERRNO    process_vm_readv fails so (containers: no CMA)
 *   mdwe 0           PR_SET_MDWE: nothing becomes executable that was not so from the start
 *   uname 2.6        uname(2) says 2.6.x
 *   cover FOLDER     an empty folder, read-only, lies in its place (needs a mount namespace)
 *   small FOLDER     an empty folder with room for 1 MiB lies in its place (the same)
 *   instead A:B      file A lies in the place of file B (needs a mount namespace)
 *   as, core, data, fsize, memlock, nofile, nproc, stack  N   resource limit, soft and hard */
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef PR_SET_MDWE
#define PR_SET_MDWE 65
#define PR_MDWE_REFUSE_EXEC_GAIN 1
#endif

/* A system call with the bits `wanted` of `mask` in one argument is refused. */
struct refusal {
  const char* name;
  unsigned number;
  unsigned argument;
  unsigned mask;
  unsigned wanted;
};

static const struct refusal refusals[] = {
    {"clone3", SYS_clone3, 0, 0, 0},
    {"clone", SYS_clone, 0, CLONE_VM | CLONE_THREAD | CLONE_VFORK, CLONE_VM},
    {"fork", SYS_clone, 0, CLONE_VM, 0},
    {"wait", SYS_wait4, 0, 0, 0},
    {"watch", SYS_epoll_ctl, 1, ~0u, EPOLL_CTL_ADD},
    {"affinity", SYS_sched_setaffinity, 0, 0, 0},
    {"text", SYS_mprotect, 2, PROT_EXEC, PROT_EXEC},
    {"memory-file", SYS_memfd_create, 0, 0, 0},
    {"other-memory", SYS_process_vm_readv, 0, 0, 0},
    {"writable-text", SYS_mmap, 2, PROT_WRITE | PROT_EXEC, PROT_WRITE | PROT_EXEC},
};

static int refuse(const struct refusal* refusal, unsigned error) {
  const unsigned argument = offsetof(struct seccomp_data, args) + 8 * refusal->argument;
  struct sock_filter program[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, refusal->number, 0, 4),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, argument),
      BPF_STMT(BPF_ALU | BPF_AND | BPF_K, refusal->mask),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, refusal->wanted, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (error & SECCOMP_RET_DATA)),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog filter = {sizeof program / sizeof *program, program};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return -1;
  return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter);
}

static const struct {
  const char* name;
  int resource;
} limits[] = {
    {"as", RLIMIT_AS},       {"core", RLIMIT_CORE},       {"data", RLIMIT_DATA},
    {"fsize", RLIMIT_FSIZE}, {"memlock", RLIMIT_MEMLOCK}, {"nofile", RLIMIT_NOFILE},
    {"nproc", RLIMIT_NPROC}, {"stack", RLIMIT_STACK},
};

static int refuse_exec_gain(const char* value) {
  (void)value;
  return prctl(PR_SET_MDWE, PR_MDWE_REFUSE_EXEC_GAIN, 0, 0, 0);
}

static int say_old_kernel(const char* value) {
  (void)value;
  return personality(UNAME26) == -1 ? -1 : 0;
}

static int cover(const char* folder) {
  return mount("none", folder, "tmpfs", MS_RDONLY | MS_NOSUID | MS_NODEV, "mode=555");
}

static int make_small(const char* folder) {
  return mount("none", folder, "tmpfs", MS_NOSUID | MS_NODEV, "mode=1777,size=1m");
}

static int lay_instead(const char* pair) {
  char* from = strdup(pair);
  char* to = strchr(from, ':');
  if (to == NULL) return errno = EINVAL, -1;
  *to++ = '\0';
  return mount(from, to, NULL, MS_BIND, NULL);
}

static const struct {
  const char* name;
  int (*restrict_by)(const char* value);
} others[] = {
    {"mdwe", refuse_exec_gain}, {"uname", say_old_kernel}, {"cover", cover},
    {"small", make_small},      {"instead", lay_instead},
};

static int limit_to(int resource, const char* value) {
  const rlim_t number = strcmp(value, "unlimited") == 0 ? RLIM_INFINITY : strtoul(value, NULL, 0);
  const struct rlimit limit = {number, number};
  return setrlimit(resource, &limit);
}

static int restrict_self(const char* name, const char* value) {
  for (size_t n = 0; n < sizeof refusals / sizeof *refusals; ++n)
    if (strcmp(refusals[n].name, name) == 0) return refuse(&refusals[n], (unsigned)atoi(value));
  for (size_t n = 0; n < sizeof limits / sizeof *limits; ++n)
    if (strcmp(limits[n].name, name) == 0) return limit_to(limits[n].resource, value);
  for (size_t n = 0; n < sizeof others / sizeof *others; ++n)
    if (strcmp(others[n].name, name) == 0) return others[n].restrict_by(value);
  return errno = EINVAL, -1;
}

int main(int argc, char** argv) {
  if (argc < 4 || restrict_self(argv[1], argv[2]) != 0) {
    fprintf(stderr, "restricted: %s: %s\n", argc > 1 ? argv[1] : "usage",
            argc > 1 ? strerror(errno) : "RESTRICTION VALUE COMMAND");
    return 99;
  }
  execvp(argv[3], argv + 3);
  perror(argv[3]);
  return 99;
}

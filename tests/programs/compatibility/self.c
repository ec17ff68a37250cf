// SPDX-License-Identifier: BSD-3-Clause
// Acts of programs that look at themselves: auxiliary vector, stack, names, own file.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <iconv.h>
#include <libgen.h>
#include <link.h>
#include <linux/membarrier.h>
#include <locale.h>
#include <netdb.h>
#include <pthread.h>
#include <pwd.h>
#include <stdint.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "acts.h"

extern void _start(void);

static int first_object(struct dl_phdr_info* object, size_t size, void* program) {
  (void)size;
  *(struct dl_phdr_info*)program = *object;
  return 1;
}

static void auxiliary_vector(void) {
  struct dl_phdr_info program;
  dl_iterate_phdr(first_object, &program);
  printf("phdr %d entry %d random %d secure %lu page %lu\n",
         (uintptr_t)program.dlpi_phdr == getauxval(AT_PHDR),
         (uintptr_t)_start == getauxval(AT_ENTRY), getauxval(AT_RANDOM) != 0, getauxval(AT_SECURE),
         getauxval(AT_PAGESZ));
  printf("phnum %d vdso %d\n", program.dlpi_phnum == getauxval(AT_PHNUM),
         getauxval(AT_SYSINFO_EHDR) != 0);
}

static void interpreter_base(void) {
  printf("base %d\n", getauxval(AT_BASE) != 0);
}

static void executed_name(void) {
  printf("%s %s\n", basename((char*)getauxval(AT_EXECFN)), program_invocation_name);
}

static void own_addresses(void) {
  Dl_info about;
  struct link_map* map = NULL;
  EXPECT(dladdr((void*)(uintptr_t)own_addresses, &about) != 0);
  printf("main program is %s\n", basename((char*)about.dli_fname));
  struct dl_phdr_info program;
  dl_iterate_phdr(first_object, &program);
  printf("named '%s'\n", program.dlpi_name);
  EXPECT(dlinfo(dlopen(NULL, RTLD_NOW), RTLD_DI_LINKMAP, &map) == 0);
  printf("map named '%s'\n", map->l_name);
}

static void stack_bounds(void) {
  pthread_attr_t attributes;
  void* bottom;
  size_t bytes;
  struct rlimit limit;
  int local = 0;
  EXPECT(getrlimit(RLIMIT_STACK, &limit) == 0);
  EXPECT(pthread_getattr_np(pthread_self(), &attributes) == 0);
  EXPECT(pthread_attr_getstack(&attributes, &bottom, &bytes) == 0);
  const uintptr_t at = (uintptr_t)&local, low = (uintptr_t)bottom;
  printf("stack holds local %d\n", at > low && at < low + bytes);
  printf("size near limit %d\n", bytes <= limit.rlim_cur && bytes + (1 << 20) > limit.rlim_cur);
}

static int use_stack(int megabytes) {
  volatile char block[1 << 20];
  for (int n = 0; n < 1 << 20; n += 4096) block[n] = (char)megabytes;
  return megabytes == 0 ? 0 : use_stack(megabytes - 1) + block[4096];
}

// As Fortran programs do at their start: the stack may be larger from then on.
static void raised_stack_limit(void) {
  struct rlimit limit;
  EXPECT(getrlimit(RLIMIT_STACK, &limit) == 0);
  limit.rlim_cur = 100 << 20;
  EXPECT(setrlimit(RLIMIT_STACK, &limit) == 0);
  EXPECT(mmap(NULL, 1 << 20, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED);
  printf("used %d\n", use_stack(60) != 0);
}

static void print_own_file(const char* who) {
  char path[4096] = "";
  EXPECT(readlink("/proc/self/exe", path, sizeof path - 1) > 0);
  printf("%s: %s\n", who, basename(path));
  fflush(stdout);
}

static void own_file(void) {
  print_own_file("process");
  char* resolved = realpath("/proc/self/exe", NULL);
  EXPECT(resolved != NULL);
  printf("resolved: %s\n", basename(resolved));
}

static void own_file_in_child(void) {
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) {
    print_own_file("child");
    _exit(0);
  }
  EXPECT(waitpid(child, NULL, 0) == child);
}

// As programs do that carry data behind their code (self-extracting ones, AppImages).
static void own_file_opened(void) {
  char text[1 << 16];
  int file = open("/proc/self/exe", O_RDONLY), found = 0;
  static const char mark[] = "mark in the program's own file";
  for (ssize_t got; (got = read(file, text, sizeof text)) > 0;)
    found += memmem(text, (size_t)got, mark, sizeof mark - 1) != NULL;
  printf("mark found %d\n", found > 0);
}

// Facts that a program finds out about itself from /proc.
static void command_line(void) {
  char text[4096] = "";
  FILE* file = fopen("/proc/self/cmdline", "r");
  EXPECT(file != NULL && fread(text, 1, sizeof text - 1, file) > 0);
  printf("%s %s\n", basename(strdup(text)), text + strlen(text) + 1);
}

static void names(void) {
  char name[17] = "";
  EXPECT(prctl(PR_GET_NAME, name) == 0);
  printf("%s %s\n", name, program_invocation_short_name);
  EXPECT(prctl(PR_SET_NAME, "renamed") == 0 && prctl(PR_GET_NAME, name) == 0);
  printf("%s\n", name);
}

// Executes itself anew, as programs do to change their environment or their limits.
static void exec_self(void) {
  if (getenv("EXECUTED_AGAIN") != NULL) return;
  fflush(stdout);
  setenv("EXECUTED_AGAIN", "1", 1);
  execl("/proc/self/exe", "again", "exec_self", (char*)NULL);
}

static void mapped_regions(void) {
  char line[4400];
  int own = 0;
  FILE* maps = fopen("/proc/self/maps", "r");
  EXPECT(maps != NULL);
  while (fgets(line, sizeof line, maps) != NULL) {
    unsigned long begin, end;
    EXPECT(sscanf(line, "%lx-%lx", &begin, &end) == 2);
    own += (uintptr_t)mapped_regions >= begin && (uintptr_t)mapped_regions < end;
  }
  printf("own code in maps %d\n", own);
}

// Modules that libc loads by itself.
static void libc_modules(void) {
  EXPECT(setlocale(LC_ALL, "C.UTF-8") != NULL);
  char in[] = "\xe9t\xe9", out[16] = "", *from = in, *to = out;
  size_t left = 3, room = sizeof out;
  iconv_t converter = iconv_open("UTF-8", "ISO-8859-15");
  EXPECT(converter != (iconv_t)-1 && iconv(converter, &from, &left, &to, &room) == 0);
  struct passwd* root = getpwuid(0);
  struct addrinfo hints = {.ai_family = AF_INET, .ai_flags = AI_NUMERICSERV}, *found = NULL;
  printf("%s %s %d\n", out, root == NULL ? "nobody" : root->pw_name,
         getaddrinfo("localhost", "80", &hints, &found));
}

// Reserved whole, used in part: arenas, garbage collectors, address cages.
static void large_reservation(void) {
  const size_t bytes = 1ull << 40;
  char* at = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  EXPECT(at != MAP_FAILED && mprotect(at + bytes / 2, 1 << 20, PROT_READ | PROT_WRITE) == 0);
  memset(at + bytes / 2, 1, 1 << 20);
  EXPECT(munmap(at, bytes) == 0);
}

static void barriers(void) {
  EXPECT(syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0);
  EXPECT(syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) == 0);
}

int main(int argc, char** argv) {
  static const Act acts[] = {{"auxv", auxiliary_vector},
                             {"at_base", interpreter_base},
                             {"at_execfn", executed_name},
                             {"dladdr", own_addresses},
                             {"stack_bounds", stack_bounds},
                             {"stack_raised", raised_stack_limit},
                             {"exe", own_file},
                             {"exe_child", own_file_in_child},
                             {"exe_opened", own_file_opened},
                             {"exec_self", exec_self},
                             {"cmdline", command_line},
                             {"prctl_name", names},
                             {"maps", mapped_regions},
                             {"nss_iconv", libc_modules},
                             {"reservation", large_reservation},
                             {"membarrier", barriers},
                             {NULL, NULL}};
  return perform_chosen(acts, argc, argv);
}

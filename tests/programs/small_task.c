/* SPDX-License-Identifier: BSD-3-Clause */
/* small_task.c - as little as a process can be. `stay`: until it is ended; else it ends at once,
 * after it has used some of what must be given back: heap, a mapping, a descriptor. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int main(int argc, char** argv) {
  if (argc > 1 && strcmp(argv[1], "stay") == 0)
    for (;;) pause();
  char* block = malloc(100000);
  void* mapped = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (block == NULL || mapped == MAP_FAILED || open("/dev/null", O_RDONLY) < 0) return 1;
  memset(block, 1, 100000);
  memset(mapped, 2, 1 << 20);
  return 0;
}

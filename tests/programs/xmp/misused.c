/* SPDX-License-Identifier: BSD-3-Clause */
/* misused.c - uses that are known to be wrong when they happen only: misused kept|beyond|unsized|own|forked|...,
 * and images that end while others wait for them: misused all|part|one|post|posts|any|stopped. */
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <xmp.h>

#pragma xmp nodes p[*]
#pragma xmp template t[10]
#pragma xmp distribute t[gblock(*)] onto p

#pragma xmp template even[20]
#pragma xmp distribute even[block] onto p
static int values[20], places[20], *table;
#pragma xmp align values[i] with even[i]
#pragma xmp align places[i] with even[i]
#pragma xmp align table[i] with even[i]
static int grid[2][20];
#pragma xmp align grid[*][i] with even[i]
#pragma xmp shadow grid[0][1]
static xmp_lock_t locks[2]:[*];
static int cells[2]:[*];
static int box:[*];
static int numbers[2]:[*];

static void reflect(int row[20]) {
#pragma xmp align row[i] with even[i]
#pragma xmp shadow row[1]
#pragma xmp reflect(row)
}

static int loop(void) {
  int sum = 0;
#pragma xmp loop on t[i]
  for (int i = 0; i < 10; i++) sum += i;
  return sum;
}

/* The first node finds 20 elements in the table, the second one 10. */
static void scatter_to_an_unequal_table(void) {
  table = xmp_malloc(xmp_desc_of(table), 20 / xmp_node_num());
#pragma xmp loop on even[i]
  for (int i = 0; i < 20; i++) places[i] = 19 - i;
  xmp_scatter(xmp_desc_of(table), xmp_desc_of(values), xmp_desc_of(places));
}

/* Image 0 goes on when it has seen that image 1 has ended. */
static int stopped(void) {
  int all = -1, one = -1;
  xmp_sync_all(&all);
  xmp_sync_image(1, &one);
  return all == XMP_STAT_STOPPED_IMAGE && one == XMP_STAT_STOPPED_IMAGE ? 0 : 2;
}

static int forked(void) {
  int status = 0;
  box:[0] = 1;
  const pid_t child = fork();
  if (child == 0) box:[0] = 2;
  waitpid(child, &status, 0);
  return WEXITSTATUS(status);
}

static int wait_for_image_1(const char* word) {
  if (xmpc_this_image() == 1) return 0;
  if (strcmp(word, "stopped") == 0) return stopped();
  if (strcmp(word, "all") == 0) xmp_sync_all(NULL);
  if (strcmp(word, "one") == 0) xmp_sync_image(1, NULL);
  if (strcmp(word, "part") == 0) {
#pragma xmp task on p[0:2]
    xmp_sync_all(NULL);
    return 0;
  }
  if (strcmp(word, "posts") == 0) {
#pragma xmp wait(p[1])
  }
  if (strcmp(word, "any") == 0) {
#pragma xmp wait
  }
#pragma xmp wait(p[1], 100)
  return 0;
}

int main(int argc, char** argv) {
  const int beyond = argc;
  const long large = argc * (1L << 44);
  if (strstr("all part one posts any stopped", argv[1]) != NULL) return wait_for_image_1(argv[1]);
  if (strcmp(argv[1], "forked") == 0) return xmpc_this_image() == 0 ? forked() : 0;
  if (strcmp(argv[1], "own") == 0) {
#pragma xmp wait(p[xmpc_this_image()], 3)
  }
  if (strcmp(argv[1], "kept") == 0 && xmpc_this_image() == 1) {
#pragma xmp lock(locks[0]:[0])
  }
  if (strcmp(argv[1], "beyond") == 0) {
#pragma xmp lock(locks[beyond]:[0])
  }
  if (strcmp(argv[1], "large") == 0) cells[0:large]:[0] = 1;
  if (strcmp(argv[1], "row") == 0) reflect(grid[1]);
  if (strcmp(argv[1], "unequal") == 0) scatter_to_an_unequal_table();
  if (strcmp(argv[1], "nobody") == 0)
    for (int i = 0; i < 2; i++) numbers[i]:[beyond] = i;
  return strcmp(argv[1], "unsized") == 0 ? loop() : 0;
}

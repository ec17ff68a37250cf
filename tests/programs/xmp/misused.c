/* SPDX-License-Identifier: BSD-3-Clause */
/* misused.c - uses that are known to be wrong when they happen only: misused MISTAKE. */
#include <string.h>
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
static xmp_lock_t locks[2]:[*];
static int cells[2]:[*];

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

int main(int argc, char** argv) {
  const int beyond = argc;
  const long large = argc * (1L << 44);
  if (strcmp(argv[1], "kept") == 0 && xmpc_this_image() == 1) {
#pragma xmp lock(locks[0]:[0])
  }
  if (strcmp(argv[1], "beyond") == 0) {
#pragma xmp lock(locks[beyond]:[0])
  }
  if (strcmp(argv[1], "large") == 0) cells[0:large]:[0] = 1;
  if (strcmp(argv[1], "unequal") == 0) scatter_to_an_unequal_table();
  return strcmp(argv[1], "unsized") == 0 ? loop() : 0;
}

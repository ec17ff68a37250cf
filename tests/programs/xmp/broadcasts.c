/* SPDX-License-Identifier: BSD-3-Clause */
/* broadcasts.c - bcast of scalars, arrays and structures, from each node, to all and to a part. */
#include "check.h"

#pragma xmp nodes p[*]
#pragma xmp nodes q(*)

typedef struct settings {
  double size;
  char name[12];
} settings;

static int nodes, own;

static void from_the_first(void) {
  int number = own == 0 ? 42 : 0;
  double numbers[2][3] = {{0}};
  settings all = {0, ""};
  if (own == 0) numbers[1][2] = 7, all = (settings){1.5, "first"};
#pragma xmp bcast(number, numbers)
#pragma xmp bcast(all)
  EXPECT(number == 42 && numbers[1][2] == 7 && all.size == 1.5 && strcmp(all.name, "first") == 0);
}

static void from_each(void) {
  for (int source = 0; source < nodes; source++) {
    int number = 100 * own, again = 10 * own;
#pragma xmp bcast(number) from p[source]
    EXPECT_EQUAL(number, 100 * source);
#pragma xmp bcast(again) from q(source + 1) on q(:)
    EXPECT_EQUAL(again, 10 * source);
  }
}

static void of_parts_of_arrays(void) {
  int line[5] = {own, own, own, own, own}, *const pointer = line;
#pragma xmp bcast(line[0], line[3:2])
  EXPECT(line[0] == 0 && line[1] == own && line[2] == own && line[3] == 0 && line[4] == 0);
#pragma xmp bcast(pointer[1:2]) from p[nodes - 1]
  EXPECT(line[1] == nodes - 1 && line[2] == nodes - 1);
}

static void to_a_part(void) {
  const int half = (nodes + 1) / 2;
  int number = own;
#pragma xmp bcast(number) from p[half - 1] on p[0:half]
  EXPECT_EQUAL(number, own < half ? half - 1 : own);
}

static void of_much(void) {
  static unsigned char data[300000];
  for (int turn = 1; turn < 4; turn++) {
    if (own == nodes - 1) memset(data, turn, sizeof data);
#pragma xmp bcast(data) from p[nodes - 1]
    for (size_t n = 0; n < sizeof data; n++) EXPECT_EQUAL(data[n], turn);
  }
}

static void at_a_later_time(void) {
  int number = own == 0 ? 3 : 0;
#pragma xmp bcast(number) async(9)
#pragma xmp wait_async(9)
  EXPECT_EQUAL(number, 3);
}

int main(void) {
  nodes = xmp_all_num_nodes(), own = own_number();
  from_the_first();
  from_each();
  of_parts_of_arrays();
  to_a_part();
  of_much();
  at_a_later_time();
  return say_ok();
}

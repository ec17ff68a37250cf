/* SPDX-License-Identifier: BSD-3-Clause */
/* puts.c - puts of a coarray beside stores and memcpy: image 0 writes into the memory of image 1,
 * by a put and by a pointer. Arguments: [ROUNDS [TURNS]] */
#include <string.h>

#include "turns.h"

enum { kNumbers = 1024, kLong = (1 << 20) / sizeof(double) };

double numbers[kNumbers] : [*], many[kLong] : [*];
double* own_numbers : [*], *own_many : [*];
static double values[kLong];
static int is_right = 1;

/* The number that turn `turn` writes to place i. */
static double value(long turn, long i) {
  return (double)(turn * 7 + i);
}

/* The next place in a fixed order that visits all of them (Knuth's generator, modulo 2^10). */
static unsigned behind(unsigned place) {
  return (place * 421u + 663u) % kNumbers;
}

static void put_in_a_row(int to, long turns) {
  for (long turn = 0; turn < turns; turn++) {
    for (int i = 0; i < kNumbers; i++) numbers[i] : [to] = value(turn, i);
    use_memory();
  }
}

static void store_in_a_row(double* to, long turns) {
  for (long turn = 0; turn < turns; turn++) {
    for (int i = 0; i < kNumbers; i++) to[i] = value(turn, i);
    use_memory();
  }
}

static void put_scattered(int to, long turns) {
  unsigned place = 0;
  for (long turn = 0; turn < turns; turn++) {
    for (int i = 0; i < kNumbers; i++, place = behind(place))
      numbers[place] : [to] = value(turn, place);
    use_memory();
  }
}

static void store_scattered(double* to, long turns) {
  unsigned place = 0;
  for (long turn = 0; turn < turns; turn++) {
    for (int i = 0; i < kNumbers; i++, place = behind(place)) to[place] = value(turn, place);
    use_memory();
  }
}

/* Every place at both images, in turn. */
static void put_to_changing(long turns) {
  unsigned place = 0;
  for (long turn = 0; turn < turns; turn++) {
    for (int i = 0; i < kNumbers; i++, place = behind(place))
      numbers[place] : [(place ^ (unsigned)turn) & 1] = value(turn, place);
    use_memory();
  }
}

static void store_to_changing(double* const to[2], long turns) {
  unsigned place = 0;
  for (long turn = 0; turn < turns; turn++) {
    for (int i = 0; i < kNumbers; i++, place = behind(place))
      to[(place ^ (unsigned)turn) & 1][place] = value(turn, place);
    use_memory();
  }
}

static void check(const double* written, long turn, long count) {
  for (long i = 0; i < count; i++) is_right &= written[i] == value(turn, i);
}

/* Prints the time of one of `count` stores [ns]. */
static void print_time(const char* figure, const char* way, double time, double count) {
  printf("%s %s %.6g\n", figure, way, time * 1e9 / count);
}

static void measure_numbers(double* there, long turns) {
  double* const both[2] = {numbers, there};
  const double count = (double)turns * kNumbers;
  for (int by_put = 0; by_put < 2; by_put++) {
    const char* const way = by_put ? "put" : "store";
    double begin = seconds();
    by_put ? put_in_a_row(1, turns) : store_in_a_row(there, turns);
    print_time("8B_in_a_row", way, seconds() - begin, count);
    check(there, turns - 1, kNumbers);
    begin = seconds();
    by_put ? put_scattered(1, turns + 1) : store_scattered(there, turns + 1);
    print_time("8B_scattered", way, seconds() - begin, count + kNumbers);
    check(there, turns, kNumbers);
    begin = seconds();
    by_put ? put_to_changing(turns) : store_to_changing(both, turns);
    print_time("8B_changing", way, seconds() - begin, count);
    for (long i = 0; i < kNumbers; i++)
      is_right &= both[(i ^ (turns - 1)) & 1][i] == value(turns - 1, i);
    memset(there, 0, sizeof numbers);
    memset(numbers, 0, sizeof numbers);
  }
}

static void measure_many(double* there, long turns) {
  for (int by_put = 0; by_put < 2; by_put++) {
    for (long i = 0; i < kLong; i++) values[i] = value(by_put + turns, i);
    const double begin = seconds();
    for (long turn = 0; turn < turns; turn++) {
      if (by_put)
        many[:] : [1] = values[:];
      else
        memcpy(there, values, sizeof values);
      use_memory();
    }
    print_time("1MiB", by_put ? "put" : "memcpy", seconds() - begin, (double)turns * 1e3);
    check(there, by_put + turns, kLong);
    memset(there, 0, sizeof many);
  }
}

int main(int argc, char** argv) {
  const long rounds = argument(argc, argv, 1, 25), turns = argument(argc, argv, 2, 2000);
  own_numbers = numbers;
  own_many = many;
  xmp_sync_all(NULL);
  if (xmpc_this_image() == 0) {
    double* const there = own_numbers : [1], * const many_there = own_many : [1];
    for (long round = 0; round < rounds; round++) {
      measure_numbers(there, turns);
      measure_many(many_there, turns / 20 + 1);
    }
  }
  xmp_sync_all(NULL);
  return ended(is_right);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* files.c - files of many nodes: modes, pointers, views, arrays with shadows, errors. The file lies beside the
 * program. Random arrays and sections: random_files.py. */
#include <stdlib.h>
#include <sys/stat.h>
#include <xmp_io.h>

#include "check.h"

#define N 12
#define M 5

#pragma xmp nodes p[*]
#pragma xmp template t[N]
#pragma xmp distribute t[block] onto p
#pragma xmp template g[N]
#pragma xmp distribute g[gblock(*)] onto p
struct pair {
  char letter;
  double number;
};
static struct pair pairs[N][M];
#pragma xmp align pairs[i][*] with t[i]
#pragma xmp shadow pairs[1][0]
static short marks[N];
#pragma xmp align marks[i] with g[i]

static char name[4096];
static int nodes;
static xmp_range_t *all_pairs, *all_marks;

static long size_of_file(void) {
  struct stat status;
  EXPECT(stat(name, &status) == 0);
  return (long)status.st_size;
}

static xmp_file_t* opened(const char* mode) {
  xmp_file_t* const file = xmp_fopen_all(name, mode);
  EXPECT(file != NULL);
  return file;
}

static void closed(xmp_file_t* file) {
  EXPECT(xmp_fclose_all(file) == 0);
}

/* Two arrays behind each other; a plain program reads the same bytes. */
static void arrays(void) {
  xmp_file_t* file = opened("w+");
#pragma xmp loop on t[i]
  for (int i = 0; i < N; i++)
    for (int j = 0; j < M; j++) pairs[i][j] = (struct pair){(char)('a' + j), i + 0.5};
#pragma xmp loop on g[i]
  for (int i = 0; i < N; i++) marks[i] = (short)(7 * i);
  EXPECT(xmp_fwrite_darray_all(file, xmp_desc_of(pairs), all_pairs) >= 0);
  EXPECT(xmp_fwrite_darray_all(file, xmp_desc_of(marks), all_marks) >= 0);
  EXPECT_EQUAL(xmp_ftell(file), sizeof pairs + sizeof marks);
  EXPECT(xmp_file_sync_all(file) == 0);
  EXPECT_EQUAL(size_of_file(), sizeof pairs + sizeof marks);
  FILE* const plain = fopen(name, "r");
  struct pair one;
  short mark;
  for (int n = 0; n < N * M; n++)
    EXPECT(fread(&one, sizeof one, 1, plain) == 1 && one.letter == 'a' + n % M && one.number == n / M + 0.5);
  for (int n = 0; n < N; n++) EXPECT(fread(&mark, sizeof mark, 1, plain) == 1 && mark == 7 * n);
  fclose(plain);
#pragma xmp loop on g[i]
  for (int i = 0; i < N; i++) marks[i] = -1;
  EXPECT(xmp_fseek(file, -(long)sizeof marks, SEEK_END) == 0);
  EXPECT(xmp_fread_darray_all(file, xmp_desc_of(marks), all_marks) >= 0);
#pragma xmp loop on g[i]
  for (int i = 0; i < N; i++) EXPECT_EQUAL(marks[i], 7 * i);
  closed(file);
}

/* Each write has bytes of its own; each read, too, and those behind the end get nothing. */
static void shared_pointers(void) {
  enum { EACH = 20 };
  xmp_file_t* file = opened("w");
  for (int n = 0; n < EACH; n++) {
    const int number[2] = {own_number(), n};
    EXPECT_EQUAL(xmp_fwrite_shared(file, (void*)number, sizeof(int), 2), sizeof number);
  }
  closed(file);
  EXPECT_EQUAL(size_of_file(), 8 * EACH * nodes);
  file = opened("r");
  EXPECT(xmp_fseek_shared_all(file, 8, SEEK_SET) == 0);
  int number[2], found = 0;
  while (xmp_fread_shared(file, number, sizeof number, 1) == sizeof number) {
    EXPECT(number[0] >= 0 && number[0] < nodes && number[1] >= 0 && number[1] < EACH);
    found++;
  }
#pragma xmp reduction(+ : found)
  EXPECT_EQUAL(found, EACH * nodes - 1);
  EXPECT_EQUAL(xmp_ftell_shared(file), 8 * EACH * nodes);
  closed(file);
}

/* Each node has each nodes-th number: the view of a cyclic array. */
static void views(void) {
  const int me = own_number();
#pragma xmp template c[4 * nodes]
#pragma xmp distribute c[cyclic] onto p
  int turns[4 * nodes];
#pragma xmp align turns[i] with c[i]
  xmp_range_t* const range = xmp_allocate_range(1);
  xmp_file_t* file = opened("w+");
  int mine[4];
  for (int n = 0; n < 4; n++) mine[n] = n * nodes + me;
  EXPECT(xmp_file_set_view_all(file, 4, xmp_desc_of(turns), range) == 0);
  EXPECT_EQUAL(xmp_ftell(file), 4 + 4 * me);
  EXPECT_EQUAL(xmp_fwrite_all(file, mine, sizeof(int), 4), sizeof mine);
  EXPECT(xmp_fwrite_shared(file, mine, 1, 1) == -1 && errno == EINVAL);
  EXPECT(xmp_file_clear_view_all(file, 4) == 0 && xmp_file_sync_all(file) == 0);
  int all[4 * nodes + 1];
  EXPECT_EQUAL(xmp_fread_all(file, all, sizeof(int), 4 * nodes + 1), sizeof all - sizeof(int));
  for (int n = 0; n < 4 * nodes; n++) EXPECT_EQUAL(all[n], n);
  /* A view of each second element, from the last one on; it is repeated. */
  xmp_set_range(range, 1, 4 * nodes - 1, 2 * nodes, -2);
  EXPECT(xmp_file_set_view_all(file, 4, xmp_desc_of(turns), range) == 0);
  EXPECT(xmp_fread_darray_all(file, xmp_desc_of(turns), range) >= 0);
#pragma xmp loop on c[i]
  for (int i = 1; i < 4 * nodes; i += 2) EXPECT_EQUAL(turns[i], (4 * nodes - 1 - i) / 2);
  EXPECT(xmp_fread_darray_all(file, xmp_desc_of(turns), range) >= 0);
#pragma xmp loop on c[i]
  for (int i = 1; i < 4 * nodes; i += 2) EXPECT_EQUAL(turns[i], 2 * nodes + (4 * nodes - 1 - i) / 2);
  closed(file);
  xmp_free_range(range);
}

static void modes(void) {
  const char letters[] = "abcdef";
  char read[8] = "";
  xmp_file_t* file = opened("w");
  EXPECT(own_number() != 0 || xmp_fwrite(file, (void*)letters, 1, 3) == 3);
  EXPECT(xmp_fread(file, read, 1, 1) == -1 && errno == EBADF);
  closed(file);
  file = opened("ab");
  EXPECT_EQUAL(xmp_ftell(file), 3);
  EXPECT(own_number() != 0 || xmp_fwrite(file, (void*)(letters + 3), 1, 2) == 2);
  closed(file);
  file = opened("a+");
  EXPECT(xmp_ftell(file) == 0 && xmp_ftell_shared(file) == 0);
  EXPECT(xmp_fread_all(file, read, 1, 2) == 2 && memcmp(read, "ab", 2) == 0);
  EXPECT(xmp_file_sync_all(file) == 0);
  EXPECT(own_number() != 0 || xmp_fwrite_shared(file, (void*)(letters + 5), 1, 1) == 1);
  closed(file);
  file = opened("r");
  EXPECT(xmp_fread_all(file, read, 1, 8) == 6 && memcmp(read, letters, 6) == 0);
  EXPECT(xmp_fseek(file, -2, SEEK_CUR) == 0 && xmp_fread(file, read, 1, 1) == 1 && *read == 'e');
  closed(file);
}

static void refusals(void) {
  EXPECT(xmp_fopen_all(name, "rw") == NULL && errno == EINVAL);
  EXPECT(xmp_fopen_all("/nowhere/file", "w") == NULL && errno == ENOENT);
  EXPECT(xmp_fclose_all(NULL) == 1);
  EXPECT(xmp_allocate_range(0) == NULL && xmp_allocate_range(8) == NULL);
  xmp_file_t* const file = opened("r+");
  EXPECT(xmp_fseek(file, -1, SEEK_SET) != 0 && xmp_fseek(file, 0, 7) != 0);
  EXPECT(xmp_fread_darray_all(file, xmp_desc_of(pairs), all_marks) == -1 && errno == EINVAL);
  EXPECT(xmp_fread_darray_all(file, xmp_desc_of(t), all_marks) == -1 && errno == EINVAL);
  xmp_range_t* const beyond = xmp_allocate_range(1);
  xmp_set_range(beyond, 1, N - 1, 2, 1);
  EXPECT(xmp_file_set_view_all(file, 0, xmp_desc_of(marks), beyond) != 0 && errno == EINVAL);
  xmp_free_range(beyond);
  closed(file);
}

/* A file of some nodes, which the end of the program closes. */
static void left_open(void) {
#pragma xmp task on p[0 : (nodes + 1) / 2]
  {
    xmp_file_t* const file = opened("w");
    const char letter = 'x';
    EXPECT(xmp_fwrite_shared(file, (void*)&letter, 1, 1) == 1);
  }
}

int main(int argc, char** argv) {
  nodes = xmp_all_num_nodes();
  snprintf(name, sizeof name, "%s-%d.file", argv[argc - 1], nodes);
  int sizes[nodes];
  for (int n = 0; n < nodes; n++) sizes[n] = n == nodes - 1 ? N : 0;
#pragma xmp template_fix[gblock(sizes)] g
  all_pairs = xmp_allocate_range(2);
  all_marks = xmp_allocate_range(1);
  arrays();
  shared_pointers();
  views();
  modes();
  refusals();
  left_open();
  return say_ok();
}

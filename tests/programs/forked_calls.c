/* SPDX-License-Identifier: BSD-3-Clause */
/* forked_calls.c - calls the named functions of our libraries, each in a forked child of a task
 * that uses them all, and prints a line for each: "NAME=RESULT", or "NAME ended by ...". Every
 * argument points to a page of zeros of its own, unless arguments_of() says otherwise: in a forked
 * child no function looks at them. The child ends by exit(), with handlers that leave all
 * libraries. */
#include <dlfcn.h>
#include <nagaya/area.h>
#include <nagaya/array.h>
#include <nagaya/coll.h>
#include <nagaya/comm.h>
#include <nagaya/fmpl.h>
#include <nagaya/task.h>
#include <nagaya/xmp_translated.h>
#include <stdlib.h>
#include <sys/wait.h>

#include "expect.h"

enum { kSize = 2, kArguments = 12, kPage = 4096, kLimitS = 20, kOneIndex = 1, kOwnTeams = 77 };

void Cblacs_pinfo(int* rank, int* size);
void Cblacs_get(int context, int what, int* value);
void Cblacs_gridinit(int* context, const char* order, int rows, int columns);
void Cblacs_barrier(int context, const char* scope);
void Cblacs_exit(int goes_on);

static long zeros[kArguments][kPage / sizeof(long)];

/* Objects that the parent has open; its children have copies of them. */
static nagaya_space* space;
static nagaya_team* team;
static nagaya_areas* areas;
static nagaya_array* array;
static nagaya_transfers* transfers;
static nagaya_array_blocks* blocks;
static nagaya_process processes[kSize];
static nagaya_processes* members;
static const uint32_t extent = kSize;
static const nagaya_array_dimension along = {
    8, 0, {0, 7, 4, kSize, NAGAYA_DISTRIBUTION_BLOCK, NULL}, 0, 1, 1};
static nagaya_array_shape shape = {sizeof(int), 1, &along};
static nagaya_array_grid grid = {NULL, 1, &extent};
static fmpl_area fmpl_cells[kOneIndex];
static fmpl_flag fmpl_flags[kOneIndex];
static nagaya_area_cell cells[kOneIndex];
static uint64_t flags[kOneIndex];
static nagaya_xmp_array distributed, declared_by_child;
static nagaya_xmp_template* on_all;
static nagaya_xmp_coarray coarray, lock, coarray_of_child;
static nagaya_xmp_on second_node;
static long value, lock_word;
static const nagaya_xmp_part own_part = {&value, NULL, 0, 0, {0}, {0}};
static long tag = 1, sum, elements = 8;
static const nagaya_xmp_alignment aligned = {0, 0, 1, 1};
static char* const where = "forked_calls.c:1:1";

static void declare(void) {
  const long size = kSize, low = 0, high = elements - 1;
  const nagaya_xmp_distribution block = {.kind = NAGAYA_XMP_BLOCK};
  nagaya_xmp_nodes* const all = nagaya_xmp_declare_nodes(where, "p", 1, 1, &size, NULL, 0);
  on_all = nagaya_xmp_declare_template(where, "t", 1, &low, &high);
  nagaya_xmp_distribute(where, on_all, all, &block);
  nagaya_xmp_declare_array(where, &distributed, "a", sizeof(int), 1, &elements, on_all, &aligned);
  nagaya_xmp_declare_coarray(where, &coarray, "c", &value, sizeof value, 0, 1, NULL, NULL);
  nagaya_xmp_declare_coarray(where, &lock, "l", &lock_word, sizeof lock_word, 1, 1, NULL, NULL);
  nagaya_xmp_use_images(where);
  second_node = (nagaya_xmp_on){.nodes = all, .dimensions = 1, .subscript = {nagaya_xmp_index(1)}};
}

static __attribute__((constructor)) void begin(void) {
  nagaya_xmp_unit(declare);
  nagaya_xmp_begin();
}

/* In a forked child each of them does nothing. */
static void leave(void) {
  fmpl_finalize();
  nagaya_comm_finalize();
  Cblacs_exit(0);
}

static void open_all(uint32_t rank) {
  EXPECT_EQUAL(nagaya_space_current(&space), 0);
  EXPECT_EQUAL(nagaya_match_join(0), 0);
  EXPECT_EQUAL(nagaya_processes_open(processes, kSize, rank, &members), 0);
  grid.processes = members;
  EXPECT_EQUAL(nagaya_coll_open(kOwnTeams, members, 0, &team), 0);
  EXPECT_EQUAL(nagaya_area_open(cells, flags, kOneIndex, members, kOwnTeams, &areas), 0);
  EXPECT_EQUAL(nagaya_array_open(&shape, &grid, kOwnTeams, 0, &array), 0);
  EXPECT_EQUAL(nagaya_transfers_open(members, kOwnTeams + 1, &transfers), 0);
  EXPECT_EQUAL(nagaya_array_blocks_open(members, kOwnTeams + 2, &value, &blocks), 0);
  EXPECT_EQUAL(fmpl_init(fmpl_cells, fmpl_flags, kOneIndex), FMPL_SUCCESS);
}

/* All libraries have met once, so that all they make at the first call is there. */
static void meet_all(void) {
  int context, ignored;
  nagaya_collective barrier = {};
  barrier.kind = NAGAYA_BARRIER;
  Cblacs_pinfo(&ignored, &ignored);
  Cblacs_get(-1, 0, &context);
  Cblacs_gridinit(&context, "Row", 1, kSize);
  Cblacs_barrier(context, "All");
  EXPECT_EQUAL(nagaya_coll_run(team, &barrier), 0);
  EXPECT_EQUAL(nagaya_array_reflect(array, &(nagaya_array_width){1, 1, 0}, 0), 0);
  EXPECT_EQUAL(fmpl_barrier(FMPL_COMM_WORLD), FMPL_SUCCESS);
  nagaya_xmp_barrier(where, NULL);
  nagaya_xmp_reflect(where, &distributed, NULL, 0, NULL);
  EXPECT_EQUAL(nagaya_comm_barrier(), 0);
}

static int begins(const char* name, const char* with) {
  return strncmp(name, with, strlen(with)) == 0;
}

static void take(void** arguments, int count, void* const* given) {
  memcpy(arguments, given, (size_t)count * sizeof *given);
}
#define TAKE(...) \
  take(arguments, (int)(sizeof((void*[]){__VA_ARGS__}) / sizeof(void*)), (void*[]){__VA_ARGS__})

static void arguments_of(const char* name, void** arguments) {
  for (int n = 0; n < kArguments; ++n) arguments[n] = zeros[n];
  if (begins(name, "nagaya_space_destroy") || begins(name, "nagaya_task_spawn") ||
      begins(name, "nagaya_task_wait") || begins(name, "nagaya_task_signal"))
    TAKE(space);
  if (begins(name, "nagaya_processes_")) TAKE(members);
  if (begins(name, "nagaya_processes_open")) TAKE(processes, (void*)kSize, NULL);
  if (begins(name, "nagaya_coll_")) TAKE(team);
  if (begins(name, "nagaya_area_")) TAKE(areas);
  if (begins(name, "nagaya_array_")) TAKE(array);
  if (begins(name, "nagaya_array_open")) TAKE(&shape, &grid, (void*)kOwnTeams, NULL);
  if (begins(name, "nagaya_array_blocks_")) TAKE(blocks, NULL);
  if (begins(name, "nagaya_array_blocks_open")) TAKE(members, (void*)kOwnTeams, &value);
  if (begins(name, "nagaya_array_get") || begins(name, "nagaya_array_put")) TAKE(members);
  if (begins(name, "nagaya_transfers_") || begins(name, "nagaya_array_transfer")) TAKE(transfers);
  if (begins(name, "nagaya_transfers_open")) TAKE(members, (void*)kOwnTeams);
  if (begins(name, "nagaya_xmp_")) TAKE(where, NULL, NULL, NULL, NULL, NULL);
  if (begins(name, "nagaya_xmp_reduce"))
    TAKE(where, (void*)NAGAYA_XMP_SUM, (void*)NAGAYA_XMP_LONG, &sum, (void*)1, NULL, NULL, NULL);
  if (begins(name, "nagaya_xmp_reduce_shadow"))
    TAKE(where, &distributed, (void*)NAGAYA_XMP_INT, NULL, NULL, NULL);
  if (begins(name, "nagaya_xmp_declare_coarray"))
    TAKE(where, &coarray_of_child, "d", &elements, (void*)sizeof elements, NULL, (void*)1, NULL,
         NULL);
  if (begins(name, "nagaya_xmp_find_offset")) TAKE(&coarray, (void*)1);
  if (begins(name, "nagaya_xmp_get") || begins(name, "nagaya_xmp_atomic_"))
    TAKE(where, &coarray, &value, (void*)1, (void*)sizeof value, NULL);
  if (begins(name, "nagaya_xmp_put"))
    TAKE(where, &coarray, &value, (void*)1, &sum, (void*)sizeof value);
  if (begins(name, "nagaya_xmp_lock") || begins(name, "nagaya_xmp_unlock"))
    TAKE(where, &lock, &lock_word, (void*)1, NULL, NULL);
  if (begins(name, "nagaya_xmp_post")) TAKE(where, &second_node, NULL);
  if (begins(name, "nagaya_xmp_assign"))
    TAKE(where, (void*)&own_part, (void*)&own_part, (void*)sizeof value);
  if (begins(name, "nagaya_xmp_reflect")) TAKE(where, &distributed, NULL, NULL, NULL);
  if (begins(name, "nagaya_xmp_wait_async")) TAKE(where, (void*)1, &tag, NULL);
  if (begins(name, "nagaya_xmp_declare_array"))
    TAKE(where, &declared_by_child, "b", (void*)sizeof(int), (void*)1, &elements, on_all,
         (void*)&aligned);
  if (begins(name, "nagaya_xmp_free_array")) TAKE(&distributed);
  if (begins(name, "nagaya_xmp_element")) TAKE(nagaya_xmp_descriptor_of_array(&distributed));
  if (begins(name, "xmp_test_async")) TAKE((void*)tag);
}

/* The status that one of the arguments has got, as Fortran's functions return it. */
static int status_in(void** arguments) {
  for (int n = 0; n < kArguments; ++n)
    if (*(int*)arguments[n] == FMPL_ERR_INIT) return FMPL_ERR_INIT;
  return FMPL_SUCCESS;
}

static void call(const char* name) {
  typedef long function(void*, void*, void*, void*, void*, void*, void*, void*, void*, void*, void*,
                        void*);
  void* a[kArguments];
  arguments_of(name, a);
  function* const called = (function*)dlsym(RTLD_DEFAULT, name);
  EXPECT(called != NULL);
  /* Also where the function returns less than a register, or nothing. */
  int result =
      (int)called(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10], a[11]);
  if (begins(name, "fmpl_") && name[strlen(name) - 1] == '_') result = status_in(a);
  dprintf(STDOUT_FILENO, "%s=%d\n", name, result);
}

static void call_in_child(const char* name) {
  const pid_t child = fork();
  EXPECT(child >= 0);
  if (child == 0) {
    alarm(kLimitS);
    call(name);
    exit(0);
  }
  int status;
  EXPECT_EQUAL(waitpid(child, &status, 0), child);
  if (WIFSIGNALED(status))
    dprintf(STDOUT_FILENO, "%s ended by signal %d\n", name, WTERMSIG(status));
  else if (status != 0)
    dprintf(STDOUT_FILENO, "%s ended by exit %d\n", name, WEXITSTATUS(status));
}

static void add_up(void) {
  nagaya_xmp_reduce(where, NAGAYA_XMP_SUM, NAGAYA_XMP_LONG, &sum, 1, NULL, NULL, &tag);
}

int main(int argc, char** argv) {
  EXPECT_EQUAL(nagaya_comm_init(), 0);
  EXPECT_EQUAL(nagaya_comm_size(), kSize);
  for (int rank = 0; rank < kSize; ++rank)
    EXPECT_EQUAL(nagaya_comm_process(rank, &processes[rank]), 0);
  open_all((uint32_t)nagaya_comm_rank());
  meet_all();
  atexit(leave);
  if (nagaya_comm_rank() == 0) {
    add_up(); /* under way until the other task takes part */
    for (int n = 1; n < argc; ++n) call_in_child(argv[n]);
    EXPECT_EQUAL(nagaya_comm_barrier(), 0);
  } else {
    EXPECT_EQUAL(nagaya_comm_barrier(), 0);
    add_up();
  }
  nagaya_xmp_wait_async(where, 1, &tag, NULL);
  meet_all();
  return 0;
}

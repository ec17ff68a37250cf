/* SPDX-License-Identifier: BSD-3-Clause */
/* mistakes.c - wrong use of the BLACS, and processes that never end.
 *   blacs_mistakes WHAT               process 0, or all: see the table of them below
 *   blacs_mistakes endless WHAT       send, receive, broadcast, combine, barrier, until it is
 * killed blacs_mistakes leaves             without blacs_exit, with a message under way Each
 * process says "ready" first. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "calls.h"
#include "matrix.h"

enum { kSide = 200, kItems = kSide * kSide, kOutside = 7, kNowhere = 77 };

void Cpdgemr2d(int m, int n, double* a, int ia, int ja, int* desca, double* b, int ib, int jb,
               int* descb, int context);
void Cpdtrmr2d(char* part, char* diagonal, int m, int n, double* a, int ia, int ja, int* desca,
               double* b, int ib, int jb, int* descb, int context);

static const struct matrix_calls* const calls = &matrix_calls[0][2]; /* of double precision */
static const struct grid_calls* const grids = &grid_calls[0];
static double items[kItems];
static int own, processes;

/* ---- mistakes ------------------------------------------------------------------------------ */

/* Made by process 0. The others wait for it, which they must not do for ever. */

static void use_unknown_scope(int context) {
  calls->gebs2d(context, "x", " ", 1, 1, items, 1);
}
static void send_outside(int context) {
  calls->gesd2d(context, 1, 1, items, 1, 0, kOutside);
}
static void receive_from_outside(int context) {
  calls->gerv2d(context, 1, 1, items, 1, kOutside, 0);
}
static void receive_broadcast_from_outside(int context) {
  calls->gebr2d(context, "All", " ", 1, 1, items, 1, 0, kOutside);
}
static void combine_outside(int context) {
  calls->gsum2d(context, "Row", " ", 1, 1, items, 1, 0, kOutside);
}
/* A 4 x 4 matrix in blocks of 2 x 2, whose third row and those behind it are to be four. */
static void redistribute_outside(int context) {
  int descriptor[] = {1, context, 4, 4, 2, 2, 0, 0, 4};
  Cpdgemr2d(4, 1, items, 3, 1, descriptor, items, 1, 1, descriptor, context);
}
static void redistribute_trapezoid_outside(int context) {
  int descriptor[] = {1, context, 4, 4, 2, 2, 0, 0, 4};
  Cpdtrmr2d("L", "N", 4, 2, items, 1, 1, descriptor, items, 1, 4, descriptor, context);
}
static void redistribute(int context, int first_row, int first_column, int ld) {
  int wrong[] = {1, context, 4, 4, 2, 2, first_row, first_column, ld};
  int right[] = {1, context, 4, 4, 2, 2, 0, 0, 4};
  Cpdgemr2d(4, 4, items, 1, 1, right, items, 1, 1, wrong, context);
}
static void redistribute_before_first_row(int context) {
  redistribute(context, -1, 0, 4);
}
static void redistribute_behind_last_column(int context) {
  redistribute(context, 0, processes, 4);
}
static void redistribute_to_short_columns(int context) {
  redistribute(context, 0, 0, 3);
}
/* The kernel keeps eight bits of an exit code. */
static void abort_with_256(int context) {
  Cblacs_abort(context, 256);
}
static void use_no_context(int context) {
  (void)context;
  calls->gesd2d(kNowhere, 1, 1, items, 1, 0, 0);
}
static void use_freed_context(int context) {
  grids->gridexit(context);
  grids->barrier(context, "All");
}
static void make_large_grid(int context) {
  (void)context;
  grid_of_all(1, processes + 1);
}
static void make_grid_of_strangers(int context) {
  (void)context;
  int map[] = {0, processes}, made;
  grids->get(-1, 0, &made);
  grids->gridmap(&made, map, 1, 1, 2);
}
static void make_grid_of_one_twice(int context) {
  (void)context;
  int map[] = {0, 0}, made;
  grids->get(-1, 0, &made);
  grids->gridmap(&made, map, 1, 1, 2);
}
static void make_grid_of_freed_context(int context) {
  int made;
  grids->get(context, 10, &made);
  grids->gridexit(context);
  grids->gridinit(&made, "Row", 1, 1);
}

static void ask_for_communicator_of_freed_context(int context) {
  int handle;
  grids->get(context, 10, &handle);
  grids->gridexit(context);
  grid_of_all(1, 1); /* gets the number of that context, but not its handle */
  Cblacs2sys_handle(handle);
}

/* Made by processes 0 and 1. */

static void send_to_self(int context, int n) {
  calls->gesd2d(context, n, n, items, kSide, 0, 0);
}
static void receive_short_message(int context) {
  send_to_self(context, 3);
  calls->gerv2d(context, 2, 2, items, 2, 0, 0);
}
static void receive_long_message(int context) {
  send_to_self(context, kSide);
  calls->gerv2d(context, kSide - 1, kSide, items, kSide, 0, 0);
}
static void receive_long_message_as_short(int context) {
  send_to_self(context, kSide);
  calls->gerv2d(context, 2, 2, items, 2, 0, 0);
}
static void receive_broadcast_into_less(int context) {
  calls->gebr2d(context, "All", " ", 2, 1, items, 2, 0, 1);
}
static void receive_broadcast_into_gaps(int context) {
  calls->gebr2d(context, "All", " ", 1, 2, items, kSide, 0, 1);
}

static const struct mistake {
  const char* name;
  void (*make)(int context);
  bool is_of_all;
} mistakes[] = {{"scope", use_unknown_scope, false},
                {"send-outside", send_outside, false},
                {"receive-outside", receive_from_outside, false},
                {"broadcast-outside", receive_broadcast_from_outside, false},
                {"combine-outside", combine_outside, false},
                {"redistribute-outside", redistribute_outside, false},
                {"redistribute-trapezoid", redistribute_trapezoid_outside, false},
                {"redistribute-first-row", redistribute_before_first_row, false},
                {"redistribute-first-column", redistribute_behind_last_column, false},
                {"redistribute-ld", redistribute_to_short_columns, false},
                {"abort", abort_with_256, false},
                {"no-context", use_no_context, false},
                {"freed-context", use_freed_context, false},
                {"large-grid", make_large_grid, true},
                {"strangers", make_grid_of_strangers, true},
                {"twice", make_grid_of_one_twice, true},
                {"freed-handle", make_grid_of_freed_context, false},
                {"communicator", ask_for_communicator_of_freed_context, true},
                {"short-message", receive_short_message, false},
                {"long-message", receive_long_message, false},
                {"long-as-short", receive_long_message_as_short, false},
                {"broadcast-into-less", receive_broadcast_into_less, false},
                {"broadcast-into-gaps", receive_broadcast_into_gaps, false}};

static void make_mistake(const char* name) {
  const int context = grid_of_all(1, processes);
  if (own == 1 && strncmp(name, "broadcast-into", 14) == 0)
    calls->gebs2d(context, "All", " ", 3, 1, items, 3);
  for (size_t n = 0; n < sizeof mistakes / sizeof *mistakes; ++n)
    if (strcmp(mistakes[n].name, name) == 0 && (own == 0 || mistakes[n].is_of_all))
      mistakes[n].make(context);
  calls->gerv2d(context, 1, 1, items, 1, 0, (own + 1) % processes);
}

/* ---- without end --------------------------------------------------------------------------- */

static void go_on(const char* what) {
  const int context = grid_of_all(1, processes);
  for (int n = 0;; ++n) {
    const int side = n % 2 == 0 ? kSide : 3, root = n % processes;
    if (strcmp(what, "send") == 0) {
      if (own != 0) calls->gesd2d(context, side, side, items, kSide, 0, 0);
      for (int from = 1; own == 0 && from < processes; ++from)
        calls->gerv2d(context, side, side, items, kSide, 0, from);
    } else if (strcmp(what, "receive") == 0) {
      calls->gerv2d(context, side, side, items, kSide, 0, own); /* nobody sends it */
    } else if (strcmp(what, "broadcast") == 0 && root == own) {
      calls->gebs2d(context, "All", " ", side, side, items, kSide);
    } else if (strcmp(what, "broadcast") == 0) {
      calls->gebr2d(context, "All", " ", side, side, items, kSide, 0, root);
    } else if (strcmp(what, "combine") == 0) {
      calls->gsum2d(context, "All", " ", side, side, items, kSide, -1, -1);
    } else {
      grids->barrier(context, "All");
    }
  }
}

/* ---- the end ------------------------------------------------------------------------------- */

/* The last process sends to all and is gone before they receive. */
static void leave(void) {
  const int context = grid_of_all(1, processes), last = processes - 1;
  if (own == last) {
    for (int n = 0; n < kItems; ++n) items[n] = n;
    for (int to = 0; to < last; ++to) calls->gesd2d(context, kItems, 1, items, kItems, 0, to);
  } else {
    sleep(1);
    calls->gerv2d(context, kItems, 1, items, kItems, 0, last);
    for (int n = 0; n < kItems; ++n)
      if ((int)items[n] != n) fail("item %d is %f", n, items[n]);
  }
  MPI_Finalize();
}

int main(int argc, char** argv) {
  Cblacs_pinfo(&own, &processes);
  puts("ready");
  fflush(stdout);
  if (argc > 2 && strcmp(argv[1], "endless") == 0)
    go_on(argv[2]);
  else if (argc > 1 && strcmp(argv[1], "leaves") == 0)
    leave();
  else if (argc > 1)
    make_mistake(argv[1]);
  return 0;
}

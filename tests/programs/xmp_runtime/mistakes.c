/* SPDX-License-Identifier: BSD-3-Clause */
/* mistakes.c - wrong use that shows at run time, as xmpcc would translate it. `mistakes NAME`; or
 * `mistakes endless WHAT`, whose processes say "ready" and then do nothing else. */
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <xmp/xmp.h>

#include "../expect.h"
#include "nagaya/xmp_translated.h"

static const char* const where = "wrong.c:12:9";
static nagaya_xmp_nodes* p;
static nagaya_xmp_template* t;
static nagaya_xmp_array a;
static const long extent = 16;
static const nagaya_xmp_alignment shadowed = {0, 0, 1, 1};
static const nagaya_xmp_distribution block = {.kind = NAGAYA_XMP_BLOCK};

static void declare(void) {
  const long any = -1, low = 0, high = extent - 1;
  p = nagaya_xmp_declare_nodes(where, "p", 0, 1, &any, NULL, 0);
  t = nagaya_xmp_declare_template(where, "t", 1, &low, &high);
  nagaya_xmp_distribute(where, t, p, &block);
  nagaya_xmp_declare_array(where, &a, "a", sizeof(double), 1, &extent, t, &shadowed);
}

static nagaya_xmp_on on_range(long low, long high) {
  const nagaya_xmp_on on = {
      .nodes = p, .dimensions = 1, .subscript = {{NAGAYA_XMP_RANGE, low, high, 1}}};
  return on;
}

static nagaya_xmp_on on_template(const nagaya_xmp_template* of) {
  const nagaya_xmp_on on = {
      .of_template = of, .dimensions = 1, .subscript = {{NAGAYA_XMP_ALL, 0, 0, 1}}};
  return on;
}

static void many_nodes(void) {
  const long eight = 8;
  nagaya_xmp_declare_nodes(where, "q", 0, 1, &eight, NULL, 0);
}
static void countless_nodes(void) {
  const long extents[] = {65536, 65536, 65536, 65536, -1};
  nagaya_xmp_declare_nodes(where, "q", 0, 5, extents, NULL, 0);
}
static void large_section(void) {
  const long three = 3;
  const nagaya_xmp_on two = on_range(0, 1);
  nagaya_xmp_declare_nodes(where, "q", 0, 1, &three, &two, 0);
}
static void no_such_node(void) {
  const nagaya_xmp_on on = on_range(3, 3);
  nagaya_xmp_barrier(where, &on);
}
static void loop_outside(void) {
  const nagaya_xmp_on on = on_template(t);
  nagaya_xmp_loop(where, &on, 0, 1, 0, extent, 1);
}
static void not_fixed(void) {
  nagaya_xmp_template* open = nagaya_xmp_declare_template(where, "open", 1, NULL, NULL);
  const nagaya_xmp_on on = on_template(open);
  nagaya_xmp_loop(where, &on, 0, 0, 0, extent, 1);
}
static void fixed_twice(void) {
  const long low = 0, high = 3;
  nagaya_xmp_fix_template(where, t, &low, &high, 0);
}
static void not_distributed(void) {
  const long low = 0, high = 3;
  const nagaya_xmp_on on = on_template(nagaya_xmp_declare_template(where, "u", 1, &low, &high));
  nagaya_xmp_barrier(where, &on);
}
static void narrow_blocks(void) {
  const long low = 0, high = 9;
  const nagaya_xmp_distribution narrow = {.kind = NAGAYA_XMP_BLOCK, .width = 3};
  nagaya_xmp_distribute(where, nagaya_xmp_declare_template(where, "u", 1, &low, &high), p, &narrow);
}
static void long_array(void) {
  const long longer = extent + 1;
  static nagaya_xmp_array b;
  nagaya_xmp_declare_array(where, &b, "b", 8, 1, &longer, t, &shadowed);
}
static void conflicting(void) {
  const nagaya_xmp_alignment plain = {0, 0, 0, 0};
  nagaya_xmp_declare_array(where, &a, "a", sizeof(double), 1, &extent, t, &plain);
}
static void no_array(void) {
  nagaya_xmp_formal(where, &where, "x", sizeof(double), 1, &extent, t, &shadowed);
}
static void other_formal(void) {
  nagaya_xmp_formal(where, a.base, "x", sizeof(float), 1, &extent, t, &shadowed);
}
static void wide_reflect(void) {
  const nagaya_xmp_width width = {2, 1, 0};
  nagaya_xmp_reflect(where, &a, &width, 0, NULL);
}
static void two_reflects(void) {
  const long tag = 1;
  nagaya_xmp_reflect(where, &a, NULL, 0, &tag);
  for (int n = 0; n < 100; ++n) nagaya_xmp_barrier(where, NULL); /* they complete it */
  nagaya_xmp_reflect(where, &a, NULL, 0, NULL);
}
static void reflect_in_task(void) {
  const nagaya_xmp_on two = on_range(0, 1);
  if (nagaya_xmp_enter_task(where, &two, 0)) nagaya_xmp_reflect(where, &a, NULL, 0, NULL);
}
static void array_in_task(void) {
  static nagaya_xmp_array b;
  const nagaya_xmp_on two = on_range(0, 1);
  if (nagaya_xmp_enter_task(where, &two, 0))
    nagaya_xmp_declare_array(where, &b, "b", 8, 1, &extent, t, &shadowed);
}
static void outside_of_task(void) {
  const nagaya_xmp_on two = on_range(0, 1), all = on_range(0, 2);
  if (nagaya_xmp_enter_task(where, &two, 0)) nagaya_xmp_enter_task(where, &all, 0);
}
static void bcast_from_elsewhere(void) {
  const nagaya_xmp_on two = on_range(0, 1), last = on_range(2, 2);
  double x = 0;
  nagaya_xmp_bcast(where, &x, sizeof x, &last, &two, NULL);
}
static void bcast_from_several(void) {
  const nagaya_xmp_on two = on_range(0, 1);
  double x = 0;
  nagaya_xmp_bcast(where, &x, sizeof x, &two, NULL, NULL);
}
static void negative_shadow(void) {
  static nagaya_xmp_array b;
  const nagaya_xmp_alignment negative = {0, 0, -1, 1};
  nagaya_xmp_declare_array(where, &b, "b", 8, 1, &extent, t, &negative);
}
static void no_step(void) {
  const nagaya_xmp_on on = {
      .nodes = p, .dimensions = 1, .subscript = {{NAGAYA_XMP_RANGE, 0, 2, 0}}};
  nagaya_xmp_barrier(where, &on);
}
static void barrier_outside_of_task(void) {
  const nagaya_xmp_on two = on_range(0, 1), all = on_range(0, 2);
  if (nagaya_xmp_enter_task(where, &two, 0)) nagaya_xmp_barrier(where, &all);
}
static void loop_outside_of_task(void) {
  const nagaya_xmp_on two = on_range(0, 1), all = on_template(t);
  if (nagaya_xmp_enter_task(where, &two, 0)) nagaya_xmp_loop(where, &all, 0, 0, 0, extent, 1);
}
static void fixed_for_one_file(void) {
  static nagaya_xmp_array b;
  for (int file = 0; file < 2; ++file)
    nagaya_xmp_declare_array(where, &b, "b", 8, 1, &extent,
                             nagaya_xmp_declare_template(where, "open", 1, NULL, NULL), &shadowed);
}
static void no_operation(void) {
  double x = 0;
  nagaya_xmp_reduce(where, NAGAYA_XMP_BIT_AND, NAGAYA_XMP_DOUBLE, &x, 1, NULL, NULL, NULL);
}

static void no_memory(void) {
  static double x[1 << 22];
  static int place[1 << 22];
  const nagaya_xmp_location location = {place, sizeof place};
  const nagaya_xmp_locations locations = {1, &location, 0, NULL};
  const struct rlimit none = {0, 0};
  setrlimit(RLIMIT_AS, &none);
  nagaya_xmp_reduce(where, NAGAYA_XMP_FIRST_MAX, NAGAYA_XMP_DOUBLE, x, 1 << 22, &locations, NULL,
                    NULL);
}

/* Copies a section of the array to a variable of each process. */
static void gmove_of(nagaya_xmp_triplet section) {
  double x[16];
  const nagaya_xmp_triplet first = nagaya_xmp_section_of(1, 0, 5, 1);
  const nagaya_xmp_side to = {NULL, x, sizeof *x, 1, &extent, &first},
                        from = {&a, NULL, 0, 0, NULL, &section};
  nagaya_xmp_gmove(where, NAGAYA_XMP_GMOVE, NULL, to, from);
}

static void gmove_of_more(void) {
  gmove_of(nagaya_xmp_section_of(1, 0, 6, 2));
}

static void gmove_outside(void) {
  gmove_of(nagaya_xmp_section_of(1, 10, 5, 2));
}

static void gmove_from_outside(void) {
  gmove_of(nagaya_xmp_section_of(0, 17, 0, 3));
}

static void gmove_without_step(void) {
  gmove_of(nagaya_xmp_section_of(1, 10, 5, 0));
}

static void gmove_in_task(void) {
  const nagaya_xmp_on first = on_range(0, 0);
  int entered = nagaya_xmp_enter_task(where, &first, 0);
  if (entered) gmove_of(nagaya_xmp_section_of(1, 0, 5, 1));
  nagaya_xmp_leave_task(&entered);
}

static const struct mistake {
  const char* name;
  void (*make)(void);
} mistakes[] = {{"many-nodes", many_nodes},
                {"countless-nodes", countless_nodes},
                {"large-section", large_section},
                {"negative-shadow", negative_shadow},
                {"no-such-node", no_such_node},
                {"loop-outside", loop_outside},
                {"not-fixed", not_fixed},
                {"fixed-twice", fixed_twice},
                {"not-distributed", not_distributed},
                {"narrow-blocks", narrow_blocks},
                {"long-array", long_array},
                {"conflicting", conflicting},
                {"no-array", no_array},
                {"other-formal", other_formal},
                {"wide-reflect", wide_reflect},
                {"two-reflects", two_reflects},
                {"reflect-in-task", reflect_in_task},
                {"array-in-task", array_in_task},
                {"outside-of-task", outside_of_task},
                {"bcast-from-elsewhere", bcast_from_elsewhere},
                {"bcast-from-several", bcast_from_several},
                {"no-step", no_step},
                {"barrier-outside-of-task", barrier_outside_of_task},
                {"loop-outside-of-task", loop_outside_of_task},
                {"fixed-for-one-file", fixed_for_one_file},
                {"gmove-of-more", gmove_of_more},
                {"gmove-outside", gmove_outside},
                {"gmove-from-outside", gmove_from_outside},
                {"gmove-without-step", gmove_without_step},
                {"gmove-in-task", gmove_in_task},
                {"no-operation", no_operation},
                {"no-memory", no_memory}};

static void endless(const char* what) {
  double x = 0;
  printf("ready\n");
  fflush(stdout);
  for (;;)
    if (strcmp(what, "reflect") == 0)
      nagaya_xmp_reflect(where, &a, NULL, 0, NULL);
    else if (strcmp(what, "gmove") == 0)
      gmove_of(nagaya_xmp_section_of(1, 3, 5, 2));
    else if (strcmp(what, "reduction") == 0)
      nagaya_xmp_reduce(where, NAGAYA_XMP_SUM, NAGAYA_XMP_DOUBLE, &x, 1, NULL, NULL, NULL);
    else
      nagaya_xmp_barrier(where, NULL);
}

int main(int argc, char** argv) {
  nagaya_xmp_unit(declare);
  nagaya_xmp_begin();
  if (argc == 3) endless(argv[2]);
  for (size_t n = 0; argc == 2 && n < sizeof mistakes / sizeof *mistakes; ++n)
    if (strcmp(argv[1], mistakes[n].name) == 0) mistakes[n].make();
  return 0; /* nothing was found wrong */
}

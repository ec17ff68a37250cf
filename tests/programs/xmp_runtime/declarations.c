/* SPDX-License-Identifier: BSD-3-Clause */
/* declarations.c - declarations in two files of a program, arguments of functions, templates that
 * are fixed later, sections of nodes, and the answers of xmp.h about them; for 4 processes or
 * more. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <xmp/xmp.h>

#include "../expect.h"
#include "nagaya/xmp_translated.h"

static const char* const where = "declarations.c:1:1";
static const nagaya_xmp_distribution block = {.kind = NAGAYA_XMP_BLOCK};
static const nagaya_xmp_distribution none = {.kind = NAGAYA_XMP_NOT_DISTRIBUTED};

/* int a[6][9], b[9];  nodes p[2][2], template t[9][6] of both files */
static nagaya_xmp_array a, b, c;
static const long a_extent[] = {6, 9}, b_extent[] = {9};
static const nagaya_xmp_alignment a_alignment[] = {{1, 0, 0, 0}, {0, 0, 1, 2}};
static const nagaya_xmp_alignment b_alignment[] = {{0, 0, 0, 0}};

struct file {
  nagaya_xmp_nodes* p;
  nagaya_xmp_template* t;
};
static struct file one, other;

static void declare(struct file* file) {
  const long two[] = {2, 2}, low[] = {0, 0}, high[] = {8, 5};
  const nagaya_xmp_distribution blocks[] = {block, block};
  file->p = nagaya_xmp_declare_nodes(where, "p", 1, 2, two, NULL, 0);
  file->t = nagaya_xmp_declare_template(where, "t", 2, low, high);
  nagaya_xmp_distribute(where, file->t, file->p, blocks);
  nagaya_xmp_declare_array(where, &a, "a", sizeof(int), 2, a_extent, file->t, a_alignment);
}

static void declare_one(void) {
  declare(&one);
  nagaya_xmp_declare_array(where, &b, "b", sizeof(int), 1, b_extent, one.t, b_alignment);
}

static void declare_other(void) {
  declare(&other);
}

static __attribute__((constructor)) void units(void) {
  nagaya_xmp_unit(declare_one);
  nagaya_xmp_unit(declare_other);
}

static int ask(int (*function)(xmp_desc_t, int*), xmp_desc_t d) {
  int n;
  function(d, &n);
  return n;
}
static int ask_of(int (*function)(xmp_desc_t, int, int*), xmp_desc_t d, int dim) {
  int n;
  function(d, dim, &n);
  return n;
}

static void check_array(void) {
  xmp_desc_t d = nagaya_xmp_descriptor_of_array(&a), t, p;
  EXPECT_EQUAL(ask(xmp_array_ndims, d), 2);
  EXPECT_EQUAL(ask_of(xmp_array_lbound, d, 1), 0);
  EXPECT_EQUAL(ask_of(xmp_array_ubound, d, 1), 5);
  EXPECT_EQUAL(ask_of(xmp_array_ubound, d, 2), 8);
  EXPECT_EQUAL(ask_of(xmp_array_lshadow, d, 2), 1);
  EXPECT_EQUAL(ask_of(xmp_array_ushadow, d, 2), 2);
  EXPECT_EQUAL(xmp_array_gsize(d, 2), 9);
  EXPECT_EQUAL(xmp_array_type_size(d), sizeof(int));
  /* a[i][j] with t[j][i], whose dimensions count from the last. */
  EXPECT_EQUAL(ask_of(xmp_align_axis, d, 1), 1);
  EXPECT_EQUAL(ask_of(xmp_align_axis, d, 2), 2);
  EXPECT_EQUAL(ask_of(xmp_align_offset, d, 2), 0);
  EXPECT_EQUAL(ask_of(xmp_align_replicated, d, 1), 0);
  EXPECT(xmp_align_template(d, &t) == 0 && xmp_dist_nodes(t, &p) == 0);
  EXPECT_EQUAL(ask(xmp_template_fixed, t), 1);
  EXPECT_EQUAL(ask_of(xmp_template_ubound, t, 1), 5);
  EXPECT_EQUAL(ask_of(xmp_template_lbound, t, 2), 0);
  EXPECT_EQUAL(ask_of(xmp_dist_blocksize, t, 1), 3);
  EXPECT_EQUAL(ask_of(xmp_dist_blocksize, t, 2), 5);
  EXPECT_EQUAL(ask_of(xmp_dist_format, t, 2), XMP_BLOCK);
  EXPECT_EQUAL(ask_of(xmp_dist_axis, t, 1), 1);
  EXPECT_EQUAL(ask(xmp_nodes_ndims, p), 2);
  EXPECT(ask_of(xmp_array_ubound, d, 3) == XMP_UNDEFINED);
}

/* b[j] with t[j][*]: each node along t's last dimension has a copy. */
static void check_copies(void) {
  const xmp_desc_t d = nagaya_xmp_descriptor_of_array(&b);
  EXPECT_EQUAL(ask_of(xmp_align_replicated, d, 1), 1);
  EXPECT_EQUAL(ask_of(xmp_align_replicated, d, 2), 0);
}

static void check_block(void) {
  const xmp_desc_t d = nagaya_xmp_descriptor_of_array(&a);
  int rank, sizes[2];
  void* block_begin;
  if (xmp_nodes_rank(nagaya_xmp_descriptor_of_nodes(one.p), &rank) != 0) {
    EXPECT(xmp_array_laddr(d, &block_begin) == XMP_FAILURE && block_begin == NULL);
    EXPECT(a.base != NULL && a.base != b.base && a.count[0] == 1);
    return;
  }
  const int row = (rank - 1) / 2, column = (rank - 1) % 2; /* of the nodes */
  EXPECT(xmp_array_laddr(d, &block_begin) == 0 && block_begin == a.base);
  EXPECT_EQUAL(a.first[0], 3 * column);
  EXPECT_EQUAL(a.first[1], 5 * row - 1);
  EXPECT_EQUAL(ask_of(xmp_array_lsize, d, 1), 3);
  EXPECT_EQUAL(ask_of(xmp_array_lsize, d, 2), row == 0 ? 5 : 4);
  EXPECT_EQUAL(ask(xmp_array_lda, d), a.count[1]);
  EXPECT_EQUAL(ask(xmp_array_lda, nagaya_xmp_descriptor_of_array(&b)), XMP_UNDEFINED);
  EXPECT(xmp_array_lead_dim(d, sizes) == 0 && sizes[1] == 1 && sizes[0] == a.count[1]);
  EXPECT_EQUAL(ask_of(xmp_nodes_index, nagaya_xmp_descriptor_of_nodes(one.p), 1), column + 1);
  EXPECT_EQUAL(ask_of(xmpc_nodes_index, nagaya_xmp_descriptor_of_nodes(one.p), 1), column);
  EXPECT((uintptr_t)a.base % 64 == 0);
  int local;
  EXPECT(xmp_array_gtol(d, 2, 5 * row, &local) == 0 && local == 1);
}

/* void f(int x[6][9]) of the other file, whose x is aligned as a is. */
static void check_formal(void) {
  EXPECT(nagaya_xmp_formal(where, a.base, "x", sizeof(int), 2, a_extent, other.t, a_alignment) ==
         &a);
}

static void check_later_template(void) {
  const long any = -1, extent = 7, low = 0, high = 6, large = 20;
  const nagaya_xmp_alignment plain = {0, 0, 0, 0};
  nagaya_xmp_nodes* all = nagaya_xmp_declare_nodes(where, "all", 1, 1, &any, NULL, 0);
  nagaya_xmp_template* t = nagaya_xmp_declare_template(where, "later", 1, NULL, NULL);
  nagaya_xmp_distribute(where, t, all, &block);
  EXPECT_EQUAL(ask(xmp_template_fixed, nagaya_xmp_descriptor_of_template(t)), 0);
  nagaya_xmp_declare_array(where, &c, "c", 8, 1, &extent, t, &plain);
  EXPECT(c.base == NULL);
  nagaya_xmp_fix_template(where, t, &low, &high, 0);
  EXPECT(c.base != NULL);
  nagaya_xmp_reflect(where, &c, NULL, 0, NULL);
  nagaya_xmp_free_array(&c);
  EXPECT(c.base == NULL && c.state == NULL);
  nagaya_xmp_free_array(&c);
  nagaya_xmp_free_template(&t);
  /* A template of which nothing is distributed but one dimension of two. */
  const long lows[] = {1, 1}, highs[] = {large, 4};
  const nagaya_xmp_distribution half[] = {none, block};
  t = nagaya_xmp_declare_template(where, "half", 2, lows, highs);
  nagaya_xmp_distribute(where, t, all, half);
  nagaya_xmp_on on = {.of_template = t, .dimensions = 2};
  on.subscript[0].kind = on.subscript[1].kind = NAGAYA_XMP_ALL;
  const nagaya_xmp_range range = nagaya_xmp_loop(where, &on, 0, 0, 1, large + 1, 3);
  EXPECT(range.first == 1 && range.end == large + 1);
  nagaya_xmp_free_template(&t);
  nagaya_xmp_free_nodes(&all);
}

/* A block that is wider than the template has all of it, and keeps its width. */
static void check_wide_block(void) {
  static nagaya_xmp_array wide;
  const long any = -1, extent = 10, low = 0, high = 9;
  const nagaya_xmp_alignment plain = {0, 0, 0, 0};
  const nagaya_xmp_distribution blocks[] = {{.kind = NAGAYA_XMP_BLOCK, .width = INT64_C(1) << 62},
                                            {.kind = NAGAYA_XMP_BLOCK, .width = 20}};
  nagaya_xmp_nodes* all = nagaya_xmp_declare_nodes(where, "all", 1, 1, &any, NULL, 0);
  for (int n = 0; n < 2; ++n) {
    nagaya_xmp_template* t = nagaya_xmp_declare_template(where, "wide", 1, &low, &high);
    nagaya_xmp_distribute(where, t, all, &blocks[n]);
    nagaya_xmp_declare_array(where, &wide, "wide", 8, 1, &extent, t, &plain);
    EXPECT_EQUAL(wide.count[0], xmp_all_node_num() == 1 ? 10 : 1);
    EXPECT(n == 0 || ask_of(xmp_dist_blocksize, nagaya_xmp_descriptor_of_template(t), 1) == 20);
    nagaya_xmp_free_array(&wide);
    nagaya_xmp_free_template(&t);
  }
  nagaya_xmp_free_nodes(&all);
}

/* nodes q[2] = p[0:2][1] of nodes p[2][2], and a task on them. */
static void check_section(void) {
  const long two = 2;
  const nagaya_xmp_on on = {
      .nodes = one.p,
      .dimensions = 2,
      .subscript = {{NAGAYA_XMP_RANGE, 0, 1, 1}, {NAGAYA_XMP_RANGE, 1, 1, 1}}};
  nagaya_xmp_nodes* q = nagaya_xmp_declare_nodes(where, "q", 1, 1, &two, &on, 0);
  const xmp_desc_t d = nagaya_xmp_descriptor_of_nodes(q);
  xmp_desc_t of;
  int low[2], high[2], step[2];
  EXPECT(xmp_nodes_equiv(d, &of, low, high, step) == 0);
  EXPECT(of == nagaya_xmp_descriptor_of_nodes(one.p));
  EXPECT(low[0] == 2 && high[0] == 2 && low[1] == 1 && high[1] == 2 && step[1] == 1);
  EXPECT_EQUAL(ask(xmp_nodes_attr, d), XMP_EQUIVALENCE_NODES);
  const int own = xmp_all_node_num() - 1;
  const nagaya_xmp_on all = {.nodes = q};
  int entered = nagaya_xmp_enter_task(where, &all, 0);
  EXPECT_EQUAL(entered, own == 1 || own == 3);
  if (entered) {
    int sum = own;
    nagaya_xmp_reduce(where, NAGAYA_XMP_SUM, NAGAYA_XMP_INT, &sum, 1, NULL, NULL, NULL);
    EXPECT_EQUAL(sum, 4);
    EXPECT_EQUAL(ask(xmp_nodes_rank, d), own == 1 ? 1 : 2);
  }
  nagaya_xmp_leave_task(&entered);
  nagaya_xmp_free_nodes(&q);
}

/* nodes q[2] = p[*][:] and r[1] = p[*][*]: other nodes for each row of p; nodes outside of p
 * declare them, too. */
static void check_row(void) {
  const long two = 2, any = -1;
  const nagaya_xmp_on row = {.nodes = one.p,
                             .dimensions = 2,
                             .subscript = {{.kind = NAGAYA_XMP_STAR}, {.kind = NAGAYA_XMP_ALL}}};
  const nagaya_xmp_on self = {.nodes = one.p,
                              .dimensions = 2,
                              .subscript = {{.kind = NAGAYA_XMP_STAR}, {.kind = NAGAYA_XMP_STAR}}};
  nagaya_xmp_nodes* q = nagaya_xmp_declare_nodes(where, "q", 1, 1, &two, &row, 0);
  nagaya_xmp_nodes* r = nagaya_xmp_declare_nodes(where, "r", 1, 1, &any, &self, 0);
  const int own = xmp_all_node_num() - 1, is_inside = own < 4;
  const nagaya_xmp_on all = {.nodes = q};
  int entered = nagaya_xmp_enter_task(where, &all, 0);
  EXPECT_EQUAL(entered, is_inside);
  if (entered) {
    int sum = own;
    nagaya_xmp_reduce(where, NAGAYA_XMP_SUM, NAGAYA_XMP_INT, &sum, 1, NULL, NULL, NULL);
    EXPECT_EQUAL(sum, own < 2 ? 1 : 5);
  }
  nagaya_xmp_leave_task(&entered);
  const int rank = ask(xmp_nodes_rank, nagaya_xmp_descriptor_of_nodes(r));
  EXPECT_EQUAL(rank, is_inside ? 1 : XMP_UNDEFINED);
  nagaya_xmp_free_nodes(&r);
  nagaya_xmp_free_nodes(&q);
}

int main(void) {
  nagaya_xmp_begin();
  check_array();
  check_copies();
  check_block();
  check_formal();
  check_later_template();
  check_wide_block();
  check_section();
  check_row();
  nagaya_xmp_barrier(where, NULL);
  if (xmp_node_num() == 1) printf("declarations among %d\n", xmp_num_nodes());
  return 0;
}

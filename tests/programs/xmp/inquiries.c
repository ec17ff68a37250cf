/* SPDX-License-Identifier: BSD-3-Clause */
/* inquiries.c - the functions of xmp.h: of nodes, templates, arrays, and of the caller. */
#include "check.h"

#define N 40
#define M 6

#pragma xmp nodes p[*]
#pragma xmp nodes q(1, *)
#pragma xmp nodes first[1] = p[0:1]
#pragma xmp template t[N]
#pragma xmp distribute t[block] onto p
#pragma xmp template u(0 : M - 1, 2 : N + 1)
#pragma xmp distribute u(*, block(N)) onto p
#pragma xmp template later[:]
#pragma xmp distribute later[block] onto p

static float a[N][M];
#pragma xmp align a[i][*] with t[i]
#pragma xmp shadow a[1:2][0]
static char b[N - 3];
#pragma xmp align b[i] with u(*, i + 4)

static int nodes, own;

#define EXPECT_ANSWER(call, wanted)    \
  do {                                 \
    int answer = -12345;               \
    EXPECT_EQUAL(call, 0);             \
    EXPECT_EQUAL(answer, (int)wanted); \
  } while (0)

static void of_the_caller(void) {
  EXPECT_EQUAL(xmp_node_num(), own + 1);
  EXPECT_EQUAL(xmpc_node_num(), own);
  EXPECT_EQUAL(xmpc_this_image(), own);
  EXPECT_EQUAL(xmpc_all_node_num(), own);
  EXPECT_EQUAL(xmp_num_nodes(), nodes);
  const double start = xmp_wtime();
  EXPECT(xmp_wtick() > 0 && xmp_wtick() < 1 && xmp_wtime() >= start);
  xmp_barrier();
}

static void of_nodes(void) {
  EXPECT_ANSWER(xmp_nodes_ndims(xmp_desc_of(p), &answer), 1);
  EXPECT_ANSWER(xmp_nodes_size(xmp_desc_of(p), 1, &answer), nodes);
  EXPECT_ANSWER(xmp_nodes_index(xmp_desc_of(p), 1, &answer), own + 1);
  EXPECT_ANSWER(xmp_nodes_ndims(xmp_desc_of(q), &answer), 2);
  EXPECT_ANSWER(xmp_nodes_size(xmp_desc_of(q), 1, &answer), 1);
  EXPECT_ANSWER(xmp_nodes_index(xmp_desc_of(q), 2, &answer), own + 1);
  EXPECT_ANSWER(xmp_nodes_rank(xmp_desc_of(q), &answer), own + 1);
  xmp_desc_t whole;
  int low[1], high[1], step[1];
  EXPECT_EQUAL(xmp_nodes_equiv(xmp_desc_of(first), &whole, low, high, step), 0);
  EXPECT(low[0] == 1 && high[0] == 1 && step[0] == 1);
  EXPECT_ANSWER(xmp_nodes_size(whole, 1, &answer), nodes);
}

static void of_templates(void) {
  EXPECT_ANSWER(xmp_template_ndims(xmp_desc_of(u), &answer), 2);
  EXPECT_ANSWER(xmp_template_lbound(xmp_desc_of(u), 2, &answer), 2);
  EXPECT_ANSWER(xmp_template_ubound(xmp_desc_of(u), 1, &answer), M - 1);
  EXPECT_ANSWER(xmp_dist_format(xmp_desc_of(u), 1, &answer), XMP_NOT_DISTRIBUTED);
  EXPECT_ANSWER(xmp_dist_format(xmp_desc_of(u), 2, &answer), XMP_BLOCK);
  EXPECT_ANSWER(xmp_dist_blocksize(xmp_desc_of(u), 2, &answer), N);
  EXPECT_ANSWER(xmp_dist_blocksize(xmp_desc_of(t), 1, &answer), (N + nodes - 1) / nodes);
  EXPECT_ANSWER(xmp_dist_axis(xmp_desc_of(u), 2, &answer), 1);
  xmp_desc_t onto;
  EXPECT_EQUAL(xmp_dist_nodes(xmp_desc_of(t), &onto), 0);
  EXPECT_ANSWER(xmp_nodes_size(onto, 1, &answer), nodes);
  EXPECT_ANSWER(xmp_template_fixed(xmp_desc_of(later), &answer), 0);
#pragma xmp template_fix later[5]
  EXPECT_ANSWER(xmp_template_fixed(xmp_desc_of(later), &answer), 1);
}

static void of_arrays(void) {
  EXPECT_ANSWER(xmp_array_ndims(xmp_desc_of(a), &answer), 2);
  EXPECT_EQUAL(xmp_array_gsize(xmp_desc_of(a), 1), N);
  EXPECT_EQUAL(xmp_array_type_size(xmp_desc_of(a)), sizeof(float));
  EXPECT_ANSWER(xmp_array_lshadow(xmp_desc_of(a), 1, &answer), 1);
  EXPECT_ANSWER(xmp_array_ushadow(xmp_desc_of(a), 1, &answer), 2);
  EXPECT_ANSWER(xmp_align_axis(xmp_desc_of(b), 1, &answer), 2);
  EXPECT_ANSWER(xmp_align_offset(xmp_desc_of(b), 1, &answer), 4);
  xmp_desc_t with;
  EXPECT_EQUAL(xmp_align_template(xmp_desc_of(b), &with), 0);
  EXPECT_ANSWER(xmp_template_ndims(with, &answer), 2);
  void* block;
  EXPECT_EQUAL(xmp_array_laddr(xmp_desc_of(a), &block), 0);
  int first = -1, rows = 0;
#pragma xmp loop on t[i]
  for (int i = N - 1; i >= 0; i--) a[i][3] = (float)i, first = i, rows++;
  EXPECT_ANSWER(xmp_array_lsize(xmp_desc_of(a), 1, &answer), rows);
  EXPECT_ANSWER(xmp_array_lsize(xmp_desc_of(a), 2, &answer), M);
  EXPECT_ANSWER(xmp_array_lda(xmp_desc_of(a), &answer), M);
  EXPECT(xmp_array_lda(xmp_desc_of(b), &rows) == XMP_FAILURE && rows == XMP_UNDEFINED);
  if (first < 0) return;
  int place;
  EXPECT_EQUAL(xmp_array_gtol(xmp_desc_of(a), 1, first, &place), 0);
  EXPECT(((const float(*)[M])block)[place][3] == (float)first);
}

static void of_nothing(void) {
  int number = 7;
  EXPECT(xmp_nodes_size(xmp_desc_of(p), 2, &number) != 0);
  EXPECT(xmp_array_ndims(xmp_desc_of(t), &number) != 0);
}

int main(void) {
  nodes = xmp_all_num_nodes(), own = own_number();
  of_the_caller();
  of_nodes();
  of_templates();
  of_arrays();
  of_nothing();
  return say_ok();
}

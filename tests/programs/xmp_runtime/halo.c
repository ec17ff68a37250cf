/* SPDX-License-Identifier: BSD-3-Clause */
/* halo.c - random arrays on random grids: after a reflect each element of a block and its shadow is
 * what its global index says, or as it was. `halo ROUNDS SEED` */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xmp/xmp.h>

#include "../expect.h"
#include "../random_numbers.h"
#include "nagaya/array.h"
#include "nagaya/xmp_translated.h"

enum { MOST = 7, ELEMENT_MOST = 24, UNTOUCHED = 0xEE };

/* A round's draw, the same at all processes. */
struct round {
  int dimensions, axes; /* of array and template; of the nodes */
  long extent[MOST];
  long element_bytes;
  nagaya_xmp_alignment alignment[MOST];
  nagaya_xmp_width width[MOST];
  int has_width, orthogonal, is_async, is_ordinal;
  int nodes_extents;
  long nodes_extent[MOST];
  long low[MOST], high[MOST]; /* of the template */
  nagaya_xmp_distribution distribution[MOST];
  int axis[MOST]; /* of a dimension of the template: that of the nodes, or -1 */
};

/* The indexes of this process. */
struct block {
  long owned_low[MOST], owned_high[MOST];
  int is_empty;
};

static uint64_t state;
static uint64_t version;

static void draw_nodes(struct round* r, int size) {
  int left = size;
  r->axes = 0;
  for (int d = 0; d < r->dimensions; ++d) {
    const int is_distributed = draw(&state, 4) != 0;
    r->axis[d] = is_distributed ? r->axes : -1;
    if (!is_distributed) continue;
    const int extent = 1 + (int)draw(&state, (uint32_t)left);
    r->nodes_extent[r->axes++] = extent;
    left /= extent;
  }
  if (r->axes != 0) return;
  r->axis[0] = 0;
  r->nodes_extent[r->axes++] = size;
}

/* Many dimensions have few indexes: a round shall take milliseconds. */
static long draw_extent(const struct round* r) {
  if (r->dimensions > 3) return 1 + draw(&state, 3);
  return 1 + (draw(&state, 3) == 0 ? draw(&state, 60) : draw(&state, 12));
}

static void draw_template(struct round* r) {
  for (int d = 0; d < r->dimensions; ++d) {
    r->low[d] = (long)draw(&state, 5) - 2;
    r->high[d] = r->low[d] + draw_extent(r) - 1;
    const long indexes = r->high[d] - r->low[d] + 1;
    r->distribution[d] = (nagaya_xmp_distribution){.kind = NAGAYA_XMP_NOT_DISTRIBUTED};
    if (r->axis[d] < 0) continue;
    const long nodes = r->nodes_extent[r->axis[d]], least = (indexes + nodes - 1) / nodes;
    const long width = draw(&state, 3) == 0 ? least + draw(&state, 4) : 0;
    r->distribution[d] = (nagaya_xmp_distribution){.kind = NAGAYA_XMP_BLOCK, .width = width};
  }
}

/* Dimensions of the array lie on those of the template in an order of their own, or on none. */
static void draw_alignment(struct round* r) {
  int is_taken[MOST] = {0};
  const uint32_t shadows = r->dimensions > 3 ? 2 : 4;
  for (int d = 0; d < r->dimensions; ++d) {
    nagaya_xmp_alignment* const a = &r->alignment[d];
    *a = (nagaya_xmp_alignment){(int)draw(&state, (uint32_t)r->dimensions), 0,
                                draw(&state, shadows), draw(&state, shadows)};
    if (draw(&state, 6) == 0 || is_taken[a->dimension]) {
      a->dimension = -1;
      r->extent[d] = 1 + draw(&state, 2 * shadows);
    } else {
      is_taken[a->dimension] = 1;
      const long low = r->low[a->dimension], indexes = r->high[a->dimension] - low + 1;
      const long skipped = draw(&state, 3) == 0 ? draw(&state, (uint32_t)indexes) : 0;
      a->offset = low + skipped;
      r->extent[d] = 1 + draw(&state, (uint32_t)(indexes - skipped));
      if (draw(&state, 2) == 0) r->extent[d] = indexes - skipped;
    }
    r->width[d] =
        (nagaya_xmp_width){draw(&state, (uint32_t)a->shadow_low + 1),
                           draw(&state, (uint32_t)a->shadow_high + 1), draw(&state, 2) == 0};
  }
}

static struct round draw_round(int size) {
  static const long bytes[] = {1, 4, 8, 24};
  struct round r = {.dimensions = 1 + (int)draw(&state, draw(&state, 8) == 0 ? MOST : 3)};
  r.element_bytes = bytes[draw(&state, 4)];
  draw_nodes(&r, size);
  draw_template(&r);
  draw_alignment(&r);
  r.has_width = draw(&state, 4) != 0;
  if (!r.has_width)
    for (int d = 0; d < r.dimensions; ++d)
      r.width[d] = (nagaya_xmp_width){r.alignment[d].shadow_low, r.alignment[d].shadow_high, 0};
  r.orthogonal = draw(&state, 3) == 0;
  r.is_async = draw(&state, 3) == 0;
  r.is_ordinal = !r.orthogonal && draw(&state, 4) == 0;
  return r;
}

static struct block own_block(const struct round* r, int rank) {
  struct block b = {.is_empty = 0};
  long coordinate[MOST];
  for (int a = r->axes; a-- != 0; rank /= (int)r->nodes_extent[a])
    coordinate[a] = rank % r->nodes_extent[a];
  for (int d = 0; d < r->dimensions; ++d) {
    b.owned_low[d] = 0;
    b.owned_high[d] = r->extent[d] - 1;
    const int t = r->alignment[d].dimension;
    if (t >= 0 && r->axis[t] >= 0) {
      const long nodes = r->nodes_extent[r->axis[t]], indexes = r->high[t] - r->low[t] + 1;
      long width = r->distribution[t].width;
      if (width == 0) width = (indexes + nodes - 1) / nodes;
      const long first = r->low[t] + coordinate[r->axis[t]] * width - r->alignment[d].offset;
      if (first > b.owned_low[d]) b.owned_low[d] = first;
      if (first + width - 1 < b.owned_high[d]) b.owned_high[d] = first + width - 1;
    }
    if (b.owned_low[d] > b.owned_high[d]) b.is_empty = 1;
  }
  return b;
}

/* The bytes of an element. */
static void value_of(const struct round* r, const long* index, unsigned char* to) {
  uint64_t number = version;
  for (int d = 0; d < r->dimensions; ++d) number = mixed(number, (uint64_t)index[d]);
  fill(number, to, (size_t)r->element_bytes);
}

/* The bytes that an index, perhaps outside of the array, shall have: 1; 0: those it had before. */
static int wanted(const struct round* r, const struct block* b, const long* index,
                  unsigned char* to) {
  long inside[MOST];
  int shadows = 0;
  if (b->is_empty) return 0;
  for (int d = 0; d < r->dimensions; ++d) {
    const nagaya_xmp_width* const w = &r->width[d];
    inside[d] = ((index[d] % r->extent[d]) + r->extent[d]) % r->extent[d];
    if (index[d] >= b->owned_low[d] && index[d] <= b->owned_high[d]) continue;
    ++shadows;
    if (index[d] < b->owned_low[d] - w->low || index[d] > b->owned_high[d] + w->high) return 0;
    if (!w->periodic && inside[d] != index[d]) return 0;
  }
  if (r->orthogonal && shadows > 1) return 0;
  value_of(r, inside, to);
  return 1;
}

typedef void visit(const struct round* r, const struct block* b, const long* index,
                   unsigned char* at);

static void for_each(const struct round* r, const struct block* b, const nagaya_xmp_array* a,
                     visit* function) {
  long n[MOST] = {0};
  for (unsigned char* at = (unsigned char*)a->base;; at += r->element_bytes) {
    long index[MOST];
    for (int d = 0; d < r->dimensions; ++d) index[d] = a->first[d] + n[d];
    function(r, b, index, at);
    int d = r->dimensions - 1;
    while (d >= 0 && ++n[d] == a->count[d]) n[d--] = 0;
    if (d < 0) return;
  }
}

static void set_own(const struct round* r, const struct block* b, const long* index,
                    unsigned char* at) {
  int is_own = !b->is_empty;
  for (int d = 0; d < r->dimensions; ++d)
    is_own = is_own && index[d] >= b->owned_low[d] && index[d] <= b->owned_high[d];
  if (is_own)
    value_of(r, index, at);
  else
    memset(at, UNTOUCHED, (size_t)r->element_bytes);
}

static void check(const struct round* r, const struct block* b, const long* index,
                  unsigned char* at) {
  unsigned char want[ELEMENT_MOST];
  memset(want, UNTOUCHED, sizeof want);
  wanted(r, b, index, want);
  if (memcmp(want, at, (size_t)r->element_bytes) == 0) return;
  fprintf(stderr, "seed state %#lx, process %d: element", (unsigned long)state, xmp_node_num());
  for (int d = 0; d < r->dimensions; ++d) fprintf(stderr, " %ld", index[d]);
  fprintf(stderr, " is wrong: %02x.., not %02x..\n", at[0], want[0]);
  _exit(1);
}

/* A neighbour's elements in place, where that is possible. */
static void check_elements(const struct round* r, const nagaya_xmp_array* a) {
  for (int n = 0; n < 5; ++n) {
    long index[MOST];
    unsigned char want[ELEMENT_MOST];
    for (int d = 0; d < r->dimensions; ++d) index[d] = draw(&state, (uint32_t)r->extent[d]);
    value_of(r, index, want);
    const void* const at = nagaya_xmp_element(nagaya_xmp_descriptor_of_array(a), index);
    EXPECT(at == NULL || memcmp(at, want, (size_t)r->element_bytes) == 0);
  }
}

/* At once; or one dimension after the other, the last one first, which has the same corners. */
static void reflect(const struct round* r, const nagaya_xmp_array* a) {
  const long tag = 7, *const async = r->is_async ? &tag : NULL;
  if (!r->is_ordinal) {
    nagaya_xmp_reflect("halo.c:5:1", a, r->has_width ? r->width : NULL, r->orthogonal, async);
    if (r->is_async) nagaya_xmp_wait_async("halo.c:6:1", 1, &tag, NULL);
    return;
  }
  for (int d = r->dimensions; d-- != 0;) {
    nagaya_xmp_width width[MOST] = {{0, 0, 0}};
    width[d] = r->width[d];
    nagaya_xmp_reflect("halo.c:7:1", a, width, 0, NULL);
  }
}

/* Now and then a process is late: its neighbours wait for it, and may overwrite nothing before. */
static void be_late(void) {
  static uint64_t own;
  if (own == 0) own = (uint64_t)xmp_all_node_num();
  if (draw(&own, 8) == 0) usleep(draw(&own, 200));
}

static void run(const struct round* r) {
  nagaya_xmp_nodes* nodes =
      nagaya_xmp_declare_nodes("halo.c:1:1", "p", 1, r->axes, r->nodes_extent, NULL, 0);
  nagaya_xmp_template* t =
      nagaya_xmp_declare_template("halo.c:2:1", "t", r->dimensions, r->low, r->high);
  nagaya_xmp_distribute("halo.c:3:1", t, nodes, r->distribution);
  nagaya_xmp_array a = {0};
  nagaya_xmp_declare_array("halo.c:4:1", &a, "a", (unsigned long)r->element_bytes, r->dimensions,
                           r->extent, t, r->alignment);
  int is_member;
  {
    int rank;
    is_member = xmp_nodes_rank(nagaya_xmp_descriptor_of_nodes(nodes), &rank) == 0;
    const struct block b = is_member ? own_block(r, rank - 1) : (struct block){.is_empty = 1};
    for (int times = 1 + (int)draw(&state, 6); times-- != 0; ++version) {
      if (is_member) for_each(r, &b, &a, set_own);
      be_late();
      reflect(r, &a);
      if (is_member) for_each(r, &b, &a, check);
      if (times == 0) {
        nagaya_xmp_barrier("halo.c:7:1", NULL);
        check_elements(r, &a);
        nagaya_xmp_barrier("halo.c:8:1", NULL);
      }
    }
  }
  nagaya_xmp_free_array(&a);
  nagaya_xmp_free_template(&t);
  nagaya_xmp_free_nodes(&nodes);
}

int main(int argc, char** argv) {
  nagaya_xmp_begin();
  const int rounds = argc > 1 ? atoi(argv[1]) : 100;
  state = argc > 2 ? (uint64_t)atol(argv[2]) : 1;
  for (int n = 0; n < rounds; ++n) {
    const struct round r = draw_round(xmp_all_num_nodes());
    run(&r);
  }
  if (xmp_node_num() == 1) printf("%d rounds among %d\n", rounds, xmp_all_num_nodes());
  return 0;
}

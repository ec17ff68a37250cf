/* SPDX-License-Identifier: BSD-3-Clause */
#include "layout.h"

#include <stdlib.h>

#include "opal/datatype/opal_datatype_internal.h"

typedef struct list_t {
  nagaya_runs* all;
  size_t count; /* NAGAYA_RUNS_MAX + 1: there are more */
} list_t;

static bool is_full(const list_t* list) {
  return list->count > NAGAYA_RUNS_MAX;
}

/* Joins `next` to `last` if it begins where `last` ends, or goes on by the same stride. Returns
 * whether it did. */
static bool join(nagaya_runs* last, const nagaya_runs* next) {
  const char* const first = last->first;
  if (last->count == 1 && next->count == 1 && first + last->bytes == next->first) {
    last->bytes += next->bytes;
    return true;
  }
  const ptrdiff_t stride = last->count == 1 ? (char*)next->first - first : last->stride;
  if (last->bytes != next->bytes || first + (ptrdiff_t)last->count * stride != next->first ||
      (next->count > 1 && next->stride != stride))
    return false;
  last->stride = stride;
  last->count += next->count;
  return true;
}

static void add(list_t* list, nagaya_runs next) {
  if (next.bytes == 0 || next.count == 0 || is_full(list)) return;
  if (next.stride == (ptrdiff_t)next.bytes)
    next = (nagaya_runs){next.first, next.bytes * next.count, 1, 0};
  if (list->count > 0 && join(&list->all[list->count - 1], &next)) return;
  if (list->count < NAGAYA_RUNS_MAX) list->all[list->count] = next;
  ++list->count;
}

/* Adds the runs of the descriptions [first, end), once, for data at `base`. */
static void describe(list_t* list, const dt_elem_desc_t* first, const dt_elem_desc_t* end,
                     char* base) {
  for (const dt_elem_desc_t* one = first; one < end && !is_full(list); ++one) {
    if (one->elem.common.type == OPAL_DATATYPE_LOOP) {
      for (uint32_t n = 0; n < one->loop.loops && !is_full(list); ++n)
        describe(list, one + 1, one + one->loop.items, base + (ptrdiff_t)n * one->loop.extent);
      one += one->loop.items;
    } else if (one->elem.common.flags & OPAL_DATATYPE_FLAG_DATA) {
      const size_t bytes =
          one->elem.blocklen * opal_datatype_basicDatatypes[one->elem.common.type]->size;
      add(list, (nagaya_runs){base + one->elem.disp, bytes, one->elem.count, one->elem.extent});
    }
  }
}

bool nagaya_describe_runs(const void* buffer, const ompi_datatype_t* datatype, size_t count,
                          nagaya_runs** runs) {
  const opal_datatype_t* const type = &datatype->super;
  const dt_type_desc_t* const all = type->opt_desc.desc != NULL ? &type->opt_desc : &type->desc;
  const ptrdiff_t extent = type->ub - type->lb;
  if (*runs == NULL) *runs = malloc(NAGAYA_RUNS_MAX * sizeof **runs);
  if (*runs == NULL) return false;
  list_t list = {*runs, 0};
  for (size_t n = 0; n < count && !is_full(&list); ++n)
    describe(&list, all->desc, all->desc + all->used, (char*)buffer + (ptrdiff_t)n * extent);
  return !is_full(&list);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* layout.h - derived types as runs of bytes. */
#ifndef NAGAYA_OPENMPI_LAYOUT_H
#define NAGAYA_OPENMPI_LAYOUT_H

#include "compat.h"

#include <nagaya/llcl.h>

#define NAGAYA_RUNS_MAX 32

/* Describes a buffer that is not one run by at most NAGAYA_RUNS_MAX `*runs`. Allocates `*runs` if
 * it is NULL; the caller frees it. Returns false if that many do not suffice, or without memory. */
bool nagaya_describe_runs(const void* buffer, const ompi_datatype_t* datatype, size_t count,
                          nagaya_runs** runs);

#endif

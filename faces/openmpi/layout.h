/* SPDX-License-Identifier: BSD-3-Clause */
/* layout.h - derived types as runs of bytes. */
#ifndef NAGAYA_OPENMPI_LAYOUT_H
#define NAGAYA_OPENMPI_LAYOUT_H

#include "compat.h"

#include <nagaya/llcl.h>

#define NAGAYA_RUNS_MAX 32

/* Describes a buffer that is not one run by `*runs`, which is made when it is NULL, and to be freed
 * by the caller. False: more than NAGAYA_RUNS_MAX would say, or no memory. */
bool nagaya_describe(const void* buffer, const ompi_datatype_t* datatype, size_t count,
                     nagaya_runs** runs);

#endif

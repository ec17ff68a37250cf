/* SPDX-License-Identifier: BSD-3-Clause */
/* xmp_io.h - input and output of XcalableMP/C: one binary file that many nodes read and write.
 *
 *   xmp_file_t* file = xmp_fopen_all("field", "w");
 *   xmp_range_t* all = xmp_allocate_range(2);
 *   xmp_fwrite_darray_all(file, xmp_desc_of(u), all);   // u[0][0], u[0][1], ...
 *   xmp_free_range(all);
 *   xmp_fclose_all(file);
 *
 * A function whose name ends with _all is collective: all nodes that executed xmp_fopen_all() call
 * it, with the same arguments but for buffers, sizes and counts. The others are for one node.
 *
 * A file has a view, an individual pointer for each node, and a shared pointer. At first the view
 * is all bytes of the file. xmp_file_set_view_all() makes it the elements of an array that the node
 * has, as they lie in a file with the whole array: then reads and writes of the node leave the
 * other elements out. Collective and direct functions use the individual pointer, functions that
 * end with _shared the shared one. Two accesses to the same bytes of which one writes need
 * xmp_file_sync_all() between them.
 *
 * Errors: a null pointer, a nonzero number or a negative one, as each function says; errno has the
 * reason: EINVAL (a null pointer, a range that the array does not have, no such mode), EBADF (the
 * file is not open for this), or the system's. Each run of consecutive bytes is one
 * system call: whole rows cost least, single elements of cyclic columns most.
 * Thread safety: none.
 *
 * Source: XcalableMP specification 1.4, [C] Global I/O Library. Where that says two things, as
 * MPI-IO and the Omni compiler: the collective functions use the individual pointer. */
#ifndef NAGAYA_XMP_IO_H
#define NAGAYA_XMP_IO_H

#include <stdio.h> /* SEEK_SET, SEEK_CUR, SEEK_END */
#include <sys/types.h>

#include "xmp.h"

#ifdef _XCALABLEMP /* the serial program has none of these functions */

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

typedef struct xmp_file_t xmp_file_t;
typedef struct xmp_range_t xmp_range_t;

/* ---- sections of arrays ------------------------------------------------------------------- */

/* The section of an array with this number of dimensions: all of it, until xmp_set_range() says
 * less. A null pointer: the number is not 1 to 7. */
xmp_range_t* xmp_allocate_range(int n_dim);
/* Dimension i_dim, from 1: `length` indexes from `lb` on, `step` apart, which may be negative. The
 * Omni compiler counts the indexes between them, too. A length below 1, a step of 0 or no such
 * dimension ends the job with a line. */
void xmp_set_range(xmp_range_t* rp, int i_dim, int lb, int length, int step);
void xmp_free_range(xmp_range_t* rp);

/* ---- files -------------------------------------------------------------------------------- */

/* Opens a file. `amode` is that of fopen(): r, r+, w, w+, a, a+, with b or without. Both pointers
 * are at the beginning, or with "a" at the end. With "a" and "a+" a write never begins before the
 * end that the file had when it was opened: the pointer moves there. A null pointer: a node cannot
 * open it. */
xmp_file_t* xmp_fopen_all(const char* fname, const char* amode);
/* Returns 0; 1: fh is a null pointer; 2: the system says an error. Files that are open at the end
 * of the program are closed. */
int xmp_fclose_all(xmp_file_t* fh);

/* Sets a pointer: `offset` bytes of the view from its beginning (SEEK_SET), the pointer (SEEK_CUR)
 * or its last byte in the file (SEEK_END). Return 0, or not 0. */
int xmp_fseek(xmp_file_t* fh, long long offset, int whence);
int xmp_fseek_shared(xmp_file_t* fh, long long offset, int whence); /* for one node */
int xmp_fseek_shared_all(xmp_file_t* fh, long long offset, int whence);
/* Return where in the file the next byte lies, whatever the view; or -1. */
long long xmp_ftell(xmp_file_t* fh);
long long xmp_ftell_shared(xmp_file_t* fh);

/* All nodes read behind it what any node has written before. Returns 0, or not 0. */
int xmp_file_sync_all(xmp_file_t* fh);

/* ---- views -------------------------------------------------------------------------------- */

/* From byte `disp` on: the elements of the section `rp` of an array that the node has, in the order
 * of C; behind the section the same again. And: all bytes. Both set both pointers to their
 * beginning. Return 0, or not 0. */
int xmp_file_set_view_all(xmp_file_t* fh, long long disp, xmp_desc_t desc, xmp_range_t* rp);
int xmp_file_clear_view_all(xmp_file_t* fh, long long disp);

/* ---- collective access -------------------------------------------------------------------- */

/* `count` elements of `size` bytes, by each node through its view; without a view all nodes read
 * the same bytes. Return how many bytes the caller has read or written, fewer at the end of the
 * file; or -1. */
ssize_t xmp_fread_all(xmp_file_t* fh, void* buffer, size_t size, size_t count);
ssize_t xmp_fwrite_all(xmp_file_t* fh, void* buffer, size_t size, size_t count);

/* The section `rp` of an array. Without a view the whole section lies in the file in the order of
 * C, and the pointer moves behind it; of several copies of an element the first node's is written.
 * With a view each node reads or writes its part through that. Return the bytes of the caller's
 * part; or -1. */
ssize_t xmp_fread_darray_all(xmp_file_t* fh, xmp_desc_t desc, xmp_range_t* rp);
ssize_t xmp_fwrite_darray_all(xmp_file_t* fh, xmp_desc_t desc, xmp_range_t* rp);

/* ---- access by one node ------------------------------------------------------------------- */

/* At the shared pointer, which moves at once, so each call has bytes of its own. There must be no
 * view. Return as above. */
ssize_t xmp_fread_shared(xmp_file_t* fh, void* buffer, size_t size, size_t count);
ssize_t xmp_fwrite_shared(xmp_file_t* fh, void* buffer, size_t size, size_t count);
/* At the individual pointer, through the view. Return as above. */
ssize_t xmp_fread(xmp_file_t* fh, void* buffer, size_t size, size_t count);
ssize_t xmp_fwrite(xmp_file_t* fh, void* buffer, size_t size, size_t count);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif

#endif

// SPDX-License-Identifier: BSD-3-Clause
// fmpl.h - the functions that the benchmark of FMPL needs of a library: FMPL itself (own.cc), an
// MPI (mpi.cc), whose reductions need no work area, or a BLACS (blacs.cc).
#pragma once

#include <cstddef>

namespace nagaya::bench::fmpl {

void begin();
void end();
int rank();
int size();
void send(const void* data, size_t bytes, int to);
void receive(void* data, size_t bytes, int from);
bool can_prepare();
// Only if can_prepare(). Send and receive by requests that prepare() makes once, and that are then
// started each time: both use the `bytes` at `data` of the last prepare().
void prepare(void* data, size_t bytes, int peer);
void send_prepared();
void receive_prepared();
void release_prepared();
// From now on send() copies its data, of up to `bytes`, to memory of the library, and returns.
void buffer_sends(size_t bytes);
// From now on collectives do not use shared memory. An MPI chooses by itself.
void forbid_special_support();
void barrier();
void bcast(void* data, size_t bytes, int root);
void sum(double* data, int count, int root);
// Returns the greatest of all processes' values, at all of them.
double greatest(double value);

}  // namespace nagaya::bench::fmpl

// SPDX-License-Identifier: BSD-3-Clause
// fmpl.h - what the benchmark of FMPL asks of a library: FMPL itself (fmpl_own.cc), or an MPI
// (fmpl_mpi.cc), whose reductions need no work area.
#pragma once

#include <cstddef>

namespace nagaya::bench::fmpl {

void begin();
void end();
int rank();
int size();
void send(const void* data, size_t bytes, int to);
void receive(void* data, size_t bytes, int from);
void barrier();
void bcast(void* data, size_t bytes, int root);
void sum(double* data, int count, int root);
// The greatest of all processes' values, at all of them.
double greatest(double value);

}  // namespace nagaya::bench::fmpl

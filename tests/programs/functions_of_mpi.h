/* SPDX-License-Identifier: BSD-3-Clause */
/* functions_of_mpi.h - functions that are looked up in the MPI's own library, so that no preloaded
 * library is asked: FUNCTION_OF_MPI(MPI_Win_free)(&window). For windows of Open MPI itself beside
 * our components, because libnagaya-mpi.so would make them its own. */
#ifndef NAGAYA_TESTS_FUNCTIONS_OF_MPI_H
#define NAGAYA_TESTS_FUNCTIONS_OF_MPI_H

#include <dlfcn.h>
#include <mpi.h>

#include "expect.h"

#define FUNCTION_OF_MPI(name) ((__typeof__(&name))(find_in_mpi(#name)))

static inline void* find_in_mpi(const char* name) {
  Dl_info mpi; /* no preloaded library has this function */
  EXPECT(dladdr((void*)MPI_Get_library_version, &mpi) != 0);
  void* const library = dlopen(mpi.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  EXPECT(library != NULL);
  void* const function = dlsym(library, name);
  EXPECT(function != NULL);
  return function;
}

#endif

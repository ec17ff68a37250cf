/* SPDX-License-Identifier: BSD-3-Clause */
/* fint_2_int.h - replaces Open MPI's header of that name, which Debian leaves out. Supports the
 * usual case only: Fortran integers of the size of C's int. */
#ifndef OMPI_FORTRAN_BASE_FINT_2_INT_H
#define OMPI_FORTRAN_BASE_FINT_2_INT_H

#include "ompi_config.h"

#if OMPI_SIZEOF_FORTRAN_INTEGER != SIZEOF_INT
#error "Open MPI's Fortran integers are not C's: its own fint_2_int.h is needed"
#endif

#define OMPI_INT_2_FINT(a) (a)
#define OMPI_FINT_2_INT(a) (a)

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* fint_2_int.h - in place of Open MPI's header of that name where Debian leaves it out: for the
 * usual Fortran integers, which are C's. */
#ifndef OMPI_FORTRAN_BASE_FINT_2_INT_H
#define OMPI_FORTRAN_BASE_FINT_2_INT_H

#include "ompi_config.h"

#if OMPI_SIZEOF_FORTRAN_INTEGER != SIZEOF_INT
#error "Open MPI's Fortran integers are not C's: its own fint_2_int.h is needed"
#endif

#define OMPI_INT_2_FINT(a) (a)
#define OMPI_FINT_2_INT(a) (a)

#endif

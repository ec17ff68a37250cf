/* SPDX-License-Identifier: BSD-3-Clause */
/* own_blacs.c - a library with a ScaLAPACK and a BLACS in it, of a function each. It is linked
 * twice: open, so that the preloaded BLACS come before its own, and closed (-Bsymbolic). */
void Cblacs_gridinfo(void);
void descinit_(void);
void* gridinfo_that_is_called(void);

void Cblacs_gridinfo(void) {}

void descinit_(void) {
  Cblacs_gridinfo();
}

void* gridinfo_that_is_called(void) {
  return (void*)Cblacs_gridinfo;
}

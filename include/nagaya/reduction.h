/* SPDX-License-Identifier: BSD-3-Clause */
/* reduction.h - the elements and the operations of reductions: MPI's predefined datatypes by the C
 * type of their elements, and MPI's predefined operations (MPI 4.1, 6.9.2 to 6.9.4). Constants
 * only.
 *
 *   operation                    defined for
 *   MAX, MIN                     integers, floating-point numbers
 *   SUM, PROD                    integers (wrap on overflow), floating-point and complex numbers
 *   LAND, LOR, LXOR              integers, floating-point numbers (result 0 or 1), logical values
 *   BAND, BOR, BXOR              integers, bytes
 *   MAXLOC, MINLOC               pairs of a value and an index; of equal values the lower index
 *   REPLACE, NO_OP               every element: the operand, the value from before
 */
#ifndef NAGAYA_REDUCTION_H
#define NAGAYA_REDUCTION_H

typedef enum nagaya_element_type {
  NAGAYA_ELEMENT_INT8,
  NAGAYA_ELEMENT_INT16,
  NAGAYA_ELEMENT_INT32,
  NAGAYA_ELEMENT_INT64,
  NAGAYA_ELEMENT_UINT8,
  NAGAYA_ELEMENT_UINT16,
  NAGAYA_ELEMENT_UINT32,
  NAGAYA_ELEMENT_UINT64,
  NAGAYA_ELEMENT_FLOAT,
  NAGAYA_ELEMENT_DOUBLE,
  NAGAYA_ELEMENT_LONG_DOUBLE,
  NAGAYA_ELEMENT_COMPLEX_FLOAT,
  NAGAYA_ELEMENT_COMPLEX_DOUBLE,
  NAGAYA_ELEMENT_COMPLEX_LONG_DOUBLE,
  NAGAYA_ELEMENT_BYTE,    /* 8 bits, no number */
  NAGAYA_ELEMENT_BOOL,    /* of C: 1 byte */
  NAGAYA_ELEMENT_LOGICAL, /* of Fortran: 4 bytes, 0 is false; a true result is one of the operands
                           */
  /* struct { value; index; } of C. Gaps in it are neither read nor written. */
  NAGAYA_ELEMENT_FLOAT_INT,
  NAGAYA_ELEMENT_DOUBLE_INT,
  NAGAYA_ELEMENT_LONG_INT,
  NAGAYA_ELEMENT_INT_INT,
  NAGAYA_ELEMENT_SHORT_INT,
  NAGAYA_ELEMENT_LONG_DOUBLE_INT,
  NAGAYA_ELEMENT_FLOAT_FLOAT,
  NAGAYA_ELEMENT_DOUBLE_DOUBLE
} nagaya_element_type;

typedef enum nagaya_reduction {
  NAGAYA_REDUCE_MAX,
  NAGAYA_REDUCE_MIN,
  NAGAYA_REDUCE_SUM,
  NAGAYA_REDUCE_PROD,
  NAGAYA_REDUCE_LAND,
  NAGAYA_REDUCE_BAND,
  NAGAYA_REDUCE_LOR,
  NAGAYA_REDUCE_BOR,
  NAGAYA_REDUCE_LXOR,
  NAGAYA_REDUCE_BXOR,
  NAGAYA_REDUCE_MAXLOC,
  NAGAYA_REDUCE_MINLOC,
  NAGAYA_REDUCE_REPLACE,
  NAGAYA_REDUCE_NO_OP
} nagaya_reduction;

#endif

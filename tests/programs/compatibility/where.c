/* SPDX-License-Identifier: BSD-3-Clause */
/* The library that says from which folder of a layout it came: WHERE is set when it is built. */
#include "where.h"

const char* where(void) {
  return WHERE;
}

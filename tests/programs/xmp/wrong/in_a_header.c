/* SPDX-License-Identifier: BSD-3-Clause */
// expect: in_a_header.h:3:26: expected ']'
#include "in_a_header.h"
int main(void) {
  return 0;
}

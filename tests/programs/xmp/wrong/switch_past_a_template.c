/* SPDX-License-Identifier: BSD-3-Clause */
// expect: 14:5: this jump skips the directive of line 9
#include <xmp.h>
#pragma xmp nodes p[*]

int main(void) {
  switch (xmp_all_node_num()) {
    case 1:;
#pragma xmp template t[8]
#pragma xmp distribute t[block] onto p
#pragma xmp loop on t[i]
      for (int i = 0; i < 8; i++) continue;
      break;
    default:
      break;
  }
  return 0;
}

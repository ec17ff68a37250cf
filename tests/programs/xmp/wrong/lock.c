/* SPDX-License-Identifier: BSD-3-Clause */
// expect: 4:1: 'xmp_lock_t' is not supported yet
#include <xmp.h>
xmp_lock_t lock;
int main(void) {
  return 0;
}

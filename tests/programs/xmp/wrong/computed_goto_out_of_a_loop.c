/* SPDX-License-Identifier: BSD-3-Clause */
// expect: 11:16: 'goto' leaves the distributed loop
#pragma xmp nodes p[*]
#pragma xmp template t[8]
#pragma xmp distribute t[block] onto p

int main(void) {
  void* place = &&out;
#pragma xmp loop on t[i]
  for (int i = 0; i < 8; i++)
    if (i > 3) goto* place;
out:
  return 0;
}

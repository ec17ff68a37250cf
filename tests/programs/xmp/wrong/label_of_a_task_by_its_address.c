/* SPDX-License-Identifier: BSD-3-Clause */
// expect: 8:17: 'goto' jumps into the block of the 'task'
#pragma xmp nodes p[4]
#pragma xmp template t[100]
#pragma xmp distribute t[block] onto p
int main(void) {
  int c = 0;
  void* place = &&inside;
#pragma xmp task on p[0]
  {
  inside:
    c = 1;
  }
  if (c == 0) goto *place;
  return 0;
}

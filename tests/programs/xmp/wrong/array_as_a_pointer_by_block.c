/* SPDX-License-Identifier: BSD-3-Clause */
// expect: 13:43: the name 'items' alone is the local block
#pragma xmp nodes p[4]
#pragma xmp template t[100]
#pragma xmp distribute t[block] onto p
struct {
  double x;
} items[100];
#pragma xmp align items[i] with t[i]
int main(void) {
  double sum = 0;
#pragma xmp loop on t[i]
  for (int i = 0; i < 100; i++) sum += ({ items; })[i].x;
  return sum != 0;
}

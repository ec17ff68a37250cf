/* SPDX-License-Identifier: BSD-3-Clause */
// expect: 9:34: outlives the template 't'
#pragma xmp nodes p[*]

static double first(void) {
#pragma xmp template t[8]
#pragma xmp distribute t[block] onto p
  static double values[8];
#pragma xmp align values[i] with t[i]
  return values[0];
}

int main(void) {
  return first() != 0;
}

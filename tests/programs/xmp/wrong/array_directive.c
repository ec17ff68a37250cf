/* SPDX-License-Identifier: BSD-3-Clause */
// expect: 9:13: the directive 'array' is not supported yet
#pragma xmp nodes p[4]
#pragma xmp template t[100]
#pragma xmp distribute t[block] onto p
double a[100];
#pragma xmp align a[i] with t[i]
int main(void) {
#pragma xmp array on t[:]
  a[:] = a[:] + undeclared_by_mistake;
  return 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
// expect: 8:19: 'a' is declared at file scope; align it there, or with a template of file scope
#pragma xmp nodes p[4]
double a[100];
int main(void) {
#pragma xmp template t[100]
#pragma xmp distribute t[block] onto p
#pragma xmp align a[i] with t[i]
  return 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
// expect: 11:13: if
#pragma xmp nodes p[4]
#pragma xmp template t[100]
#pragma xmp distribute t[block] onto p
double a[100];
#pragma xmp align a[i] with t[i]
int main(int argc, char** argv) {
  (void)argv;
  if (argc > 1)
#pragma xmp reflect (a)
  return 0;
}

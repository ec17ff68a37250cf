/* SPDX-License-Identifier: BSD-3-Clause */
// expect: 13:45: 'a'
#pragma xmp nodes p[4]
#pragma xmp template t[100]
#pragma xmp distribute t[block] onto p
double a[100];
#pragma xmp align a[i] with t[i]
double b[100];
#pragma xmp align b[i] with t[i]
int main(int argc, char** argv) {
  (void)argv;
#pragma xmp loop on t[i]
  for (int i = 0; i < 100; i++) (argc > 1 ? a : b)[i] = 0;
  return 0;
}

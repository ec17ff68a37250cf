/* SPDX-License-Identifier: BSD-3-Clause */
// expect: 12:45: 'a'
#pragma xmp nodes p[4]
#pragma xmp template t[100]
#pragma xmp distribute t[block] onto p
double a[100];
#pragma xmp align a[i] with t[i]
double plain[100];
int main(int argc, char** argv) {
  (void)argv;
#pragma xmp loop on t[i]
  for (int i = 0; i < 100; i++) (argc > 1 ? a : plain)[i] = 0;
  return 0;
}

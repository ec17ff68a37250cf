/* SPDX-License-Identifier: BSD-3-Clause */
// expect: 13:7: 'switch' jumps into the distributed loop
#pragma xmp nodes p[4]
#pragma xmp template t[100]
#pragma xmp distribute t[block] onto p
double a[100];
#pragma xmp align a[i] with t[i]
int main(int argc, char** argv) {
  int i = 10;
  switch (argc) {
#pragma xmp loop on t[i]
    for (i = 0; i < 100; i++) {
      case 1:
      a[i] = argv != 0;
    }
  }
  return 0;
}

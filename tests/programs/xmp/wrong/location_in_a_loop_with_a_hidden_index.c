/* SPDX-License-Identifier: BSD-3-Clause */
// expect: 13:25: the index 'i' of a loop around this is hidden here
#pragma xmp nodes p[*]
#pragma xmp template t[8]
#pragma xmp distribute t[block] onto p

int main(void) {
  int most = 0, place = 0;
#pragma xmp loop on t[i] reduction(firstmax : most / place /)
  for (int i = 0; i < 8; i++) {
    const int outer = i;
    for (int i = 0; i < 2; i++)
      if (most < outer) most = outer, place = outer;
  }
  return place;
}

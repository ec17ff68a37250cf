/* SPDX-License-Identifier: BSD-3-Clause */
// expect: 9:46: which iteration gives 'most'
#pragma xmp nodes p[*]
#pragma xmp template t[8]
#pragma xmp distribute t[block] onto p

int main(void) {
  int most[2] = {7, 7}, place = -1;
#pragma xmp loop on t[i] reduction(lastmax : most[0] / place /)
  for (int i = 0; i < 4; i++)
    if (i + 4 >= most[0]) most[0] = i + 4, place = i;
  return place;
}

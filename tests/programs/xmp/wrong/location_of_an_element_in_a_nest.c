/* SPDX-License-Identifier: BSD-3-Clause */
// expect: 9:56: which iteration gives 'most'
#pragma xmp nodes p[*][1]
#pragma xmp template t[8][8]
#pragma xmp distribute t[block][block] onto p

int main(void) {
  int most[2] = {0, 0}, row = 0;
#pragma xmp loop(i, j) on t[i][j] reduction(firstmax : most[0] / row /)
  for (int i = 0; i < 8; i++)
    for (int j = 0; j < 8; j++)
      if (i + j > most[0]) most[0] = i + j, row = i;
  return row;
}

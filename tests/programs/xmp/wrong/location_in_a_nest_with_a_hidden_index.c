/* SPDX-License-Identifier: BSD-3-Clause */
// expect: 13:35: the index 'i' of a loop around this is hidden here
#pragma xmp nodes p[*][1]
#pragma xmp template t[8][8]
#pragma xmp distribute t[block][block] onto p

int main(void) {
  int most = 0, row = 0;
#pragma xmp loop(i, j) on t[i][j] reduction(firstmax : most / row /)
  for (int i = 0; i < 8; i++)
    for (int j = 0; j < 8; j++) {
      const int outer = i;
      for (int i = 0; i < 2; i++) most = outer + j;
      row = outer;
    }
  return row;
}

/* SPDX-License-Identifier: BSD-3-Clause */
// expect: 6:3: 'nodez'
#define DIRECTIVE(text) _Pragma(#text)
#define WRONG DIRECTIVE(xmp nodez p[4])
int y;
  WRONG
int main(void) {
  return 0;
}

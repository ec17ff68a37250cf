/* SPDX-License-Identifier: BSD-3-Clause */
// expect: 5:14: a coarray of another image has no address here
int x:[*];
int main(void) {
  int* p = &x:[1];
  return *p;
}

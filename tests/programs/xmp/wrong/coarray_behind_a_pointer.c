/* SPDX-License-Identifier: BSD-3-Clause */
// expect: 4:29: 'p[2]' lies behind a pointer
int* p:[*];
int main(void) { return p[2]:[1]; }

/* SPDX-License-Identifier: BSD-3-Clause */
// expect: 4:26: 'x' has 2 codimensions, not 1
int x:[2][*];
int main(void) { return x:[1]; }

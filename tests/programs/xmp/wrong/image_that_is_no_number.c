/* SPDX-License-Identifier: BSD-3-Clause */
// expect: 5:26: invalid operands to binary expression
int x:[*];
double k;
int main(void) { return x:[k]; }

/* SPDX-License-Identifier: BSD-3-Clause */
// expect: 5:30: an array section stands alone on a side
int a[4]:[*];
int b[4];
int main(void) { a[0] = 1 + b[0:2] + a[1]:[1]; return 0; }

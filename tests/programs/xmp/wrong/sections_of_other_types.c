/* SPDX-License-Identifier: BSD-3-Clause */
// expect: 5:31: the sections have different types of elements
int a[4]:[*];
double b[4];
int main(void) { b[0:2]       = a[0:2]:[1]; return 0; }

/* SPDX-License-Identifier: BSD-3-Clause */
// expect: 5:28: an array of another image is no value
int a[4]:[*];
int f(int* b);
int main(void) { return f(a:[1]); }

/* SPDX-License-Identifier: BSD-3-Clause */
// expect: 4:26: a bit-field of another image cannot be accessed alone
struct { int few : 3; } x:[*];
int main(void) { return x:[1].few; }

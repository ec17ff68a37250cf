/* SPDX-License-Identifier: BSD-3-Clause */
// expect: 4:13: expected an assignment after 'gmove'
int main(void) {
#pragma xmp gmove
}

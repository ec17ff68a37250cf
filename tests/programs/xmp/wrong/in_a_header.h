/* SPDX-License-Identifier: BSD-3-Clause */
#pragma xmp nodes p[4]
#pragma xmp template t[10

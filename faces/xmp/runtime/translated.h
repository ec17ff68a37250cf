// SPDX-License-Identifier: BSD-3-Clause
// translated.h - the functions of nagaya/xmp_translated.h, as this library defines them.
#pragma once

#pragma GCC visibility push(default)
extern "C" {
#include "nagaya/xmp_translated.h"
}
#pragma GCC visibility pop

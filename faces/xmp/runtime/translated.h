// SPDX-License-Identifier: BSD-3-Clause
// translated.h - includes nagaya/xmp_translated.h with default visibility, for this library, which
// defines its functions.
#pragma once

#pragma GCC visibility push(default)
extern "C" {
#include "nagaya/xmp_translated.h"
}
#pragma GCC visibility pop

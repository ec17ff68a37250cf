// SPDX-License-Identifier: BSD-3-Clause
// error_code.h - the code of the Error that a call throws.
#pragma once

#include "base/error.h"

namespace nagaya::task {

// 0 when `call` throws nothing. Exceptions other than Error go to the test framework, which
// reports them.
template <class Call>
int code_of(Call call) {
  try {
    call();
    return 0;
  } catch (const base::Error& error) {
    return error.code();
  }
}

}  // namespace nagaya::task

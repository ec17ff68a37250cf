// SPDX-License-Identifier: BSD-3-Clause
// status.h - checks the status that a function of FMPL has returned.
#pragma once

#include <nagaya/fmpl.h>

#include <stdexcept>
#include <string>

namespace nagaya::bench::fmpl {

inline void check(int status) {
  if (status != FMPL_SUCCESS)
    throw std::runtime_error("FMPL's status is " + std::to_string(status));
}

}  // namespace nagaya::bench::fmpl

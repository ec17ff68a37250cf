// SPDX-License-Identifier: BSD-3-Clause
#include "reduction/reductions.h"

#include "arch/arch.h"
#include "reduction/loops.h"

namespace nagaya::reduction {

const Elements& elements_of(nagaya_element_type type) {
  static const Loops& loops = arch::has_wide_vectors() ? kWideLoops : kPortableLoops;
  return loops[type];
}

}  // namespace nagaya::reduction

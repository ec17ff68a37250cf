// SPDX-License-Identifier: BSD-3-Clause
// descriptor.h - the object that every xmp_desc_t points to.
#pragma once

namespace nagaya::xmp {

struct Descriptor {
  const int kind;  // XMP_DESC_NODES, ...
};

}  // namespace nagaya::xmp

// SPDX-License-Identifier: BSD-3-Clause
// descriptor.h - the object that every xmp_desc_t points to.
#pragma once

namespace nagaya::xmp {

struct Descriptor {
  const int kind;  // XMP_DESC_NODES, ...
};

// Returns the descriptor's object of this kind; nullptr: it is no such object.
template <class T>
const T* object_of(const void* d, int kind) {
  const auto* const object = static_cast<const Descriptor*>(d);
  return object != nullptr && object->kind == kind ? static_cast<const T*>(object) : nullptr;
}

}  // namespace nagaya::xmp

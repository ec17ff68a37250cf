// SPDX-License-Identifier: BSD-3-Clause
// coarrays.h - the directives of the local view: coarray, image, post, wait, lock, unlock.
#pragma once

#include <optional>

#include "directives/cursor.h"

namespace nagaya::xmp {

CoarrayDirective parse_coarray(Cursor& cursor);
// Returns the directive behind `name`; nullopt: it is none of the executable ones of the local
// view.
std::optional<DirectiveBody> parse_of_images(Cursor& cursor, const Token& name);

}  // namespace nagaya::xmp

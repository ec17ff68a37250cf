// SPDX-License-Identifier: BSD-3-Clause
// changed_text.h - the host's part in the redirection of system calls: finds the call sites in
// linkers and libcs, and makes changed copies of their text. Tasks map such text with map_file() of
// freestanding/library.h.
#pragma once

#include "task/load/elf_image.h"
#include "task/space/space.h"

namespace nagaya::task {

// Appends the sites of `image` to the table that all tasks read. Sites of text that cannot be
// proved safe stay as they are: such a libc maps where the kernel likes. `is_only_linker`: nothing
// but a dynamic linker, not also a libc.
void know_sites(SpaceHeader& space, const ElfImage& image, bool is_only_linker);

// Puts a changed file in the place of linker.file. All tasks map their linker from that one file:
// no task copies and protects pages of its own, and nobody misses the symbols of what only starts
// programs. Returns false, and changes nothing, when the system lets no such file be executed.
bool change_linker(const SpaceHeader& space, ElfImage& linker);

}  // namespace nagaya::task

// SPDX-License-Identifier: BSD-3-Clause
// changed_text.h - the host's part in the redirection of system calls: finds the call sites in
// linkers and libcs, and makes changed copies of their text. Tasks map such text with map_file() of
// freestanding/library.h.
#pragma once

#include "task/load/elf_image.h"
#include "task/space/space.h"

namespace nagaya::task {

// Appends the sites of `image` to the table that all tasks read. Sites whose rewriting is not
// proved safe stay unchanged: such a libc maps wherever the kernel chooses. `is_only_linker`: the
// image is a dynamic linker and not also a libc.
void know_sites(SpaceHeader& space, const ElfImage& image, bool is_only_linker);

// Replaces linker.file by a file with rewritten text. All tasks map their linker from that one
// file, so no task copies and protects pages of its own. A debugger misses its symbols, but the
// linker only starts programs. Returns false, and changes nothing, when the system forbids
// executing such a file.
bool change_linker(const SpaceHeader& space, ElfImage& linker);

}  // namespace nagaya::task

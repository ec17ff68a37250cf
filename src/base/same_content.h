// SPDX-License-Identifier: BSD-3-Clause
// same_content.h - whether a file is unchanged since an earlier stat(2).
#pragma once

#include <sys/stat.h>

namespace nagaya::base {

// Whether both describe one file, which nobody has written, renamed or given other rights in
// between: a write changes the change time, which nobody can set.
inline bool is_same_content(const struct stat& then, const struct stat& now) {
  return then.st_dev == now.st_dev && then.st_ino == now.st_ino && then.st_mode == now.st_mode &&
         then.st_size == now.st_size && then.st_mtim.tv_sec == now.st_mtim.tv_sec &&
         then.st_mtim.tv_nsec == now.st_mtim.tv_nsec && then.st_ctim.tv_sec == now.st_ctim.tv_sec &&
         then.st_ctim.tv_nsec == now.st_ctim.tv_nsec;
}

}  // namespace nagaya::base

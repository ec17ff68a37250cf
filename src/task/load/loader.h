// SPDX-License-Identifier: BSD-3-Clause
// loader.h - lays a program into a partition as the kernel's exec would: the interpreter (or the
// program itself, when it is static), a guarded stack, arguments, environment, auxiliary vector.
//
// A dynamic program is started as `ld.so --argv0 NAME PROGRAM args...`, with an auxiliary vector
// that names ld.so itself: then ld.so loads program and libraries privately, from their own
// paths. (Handing it a program that is mapped already would make it take $ORIGIN from
// /proc/self/exe, which shows the host.)
#pragma once

#include <sys/stat.h>

#include <map>
#include <memory>
#include <string>

#include "task/load/elf_image.h"
#include "task/load/freestanding/start.h"
#include "task/load/program.h"

namespace nagaya::task {

// Keeps the images of programs by path; reads a file again when it has changed.
class ImageCache {
 public:
  // Returns the image of the file, read by read_elf(). Throws the errors of read_elf().
  std::shared_ptr<const ElfImage> get(const std::string& path);

 private:
  struct CachedImage {
    struct stat file;  // when it was read
    std::shared_ptr<const ElfImage> image;
  };
  std::map<std::string, CachedImage> images_;
};

class Loader {
 public:
  explicit Loader(SpaceHeader& space) : space_(space) {}

  // Lays out `text` in the partition of `task` and fills in start.entry and start.stack_pointer.
  // `stack_limit_bytes` is RLIMIT_STACK. Throws Error; the caller closes the record.
  void load(TaskRecord& task, const ProgramText& text, uint64_t stack_limit_bytes, Start& start);

 private:
  const ElfImage& interpreter(const ElfImage& program);

  SpaceHeader& space_;
  ImageCache programs_;
  std::map<std::string, ElfImage> interpreters_;
};

}  // namespace nagaya::task

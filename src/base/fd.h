// SPDX-License-Identifier: BSD-3-Clause
// fd.h - owners of a descriptor and of a mapping.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <utility>

#include "base/error.h"

namespace nagaya::base {

class Fd {
 public:
  Fd() = default;
  explicit Fd(int fd) : fd_(fd) {}
  Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Fd& operator=(Fd&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Fd() { reset(); }

  int get() const { return fd_; }
  int release() { return std::exchange(fd_, -1); }
  explicit operator bool() const { return fd_ >= 0; }
  void reset() {
    if (fd_ >= 0) ::close(std::exchange(fd_, -1));
  }

 private:
  int fd_ = -1;
};

// Takes over what a libc call returned; throws "<what>: <cause>" when that was -1.
inline Fd checked_fd(int fd, const std::string& what) {
  if (fd < 0) throw_errno(what);
  return Fd(fd);
}

class Mapping {
 public:
  Mapping() = default;
  Mapping(void* base, size_t bytes) : base_(base), bytes_(bytes) {}
  Mapping(Mapping&& other) noexcept
      : base_(std::exchange(other.base_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
  Mapping& operator=(Mapping&& other) noexcept {
    std::swap(base_, other.base_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~Mapping() {
    if (base_ != nullptr) ::munmap(base_, bytes_);
  }

  std::byte* data() const { return static_cast<std::byte*>(base_); }
  size_t bytes() const { return bytes_; }

 private:
  void* base_ = nullptr;
  size_t bytes_ = 0;
};

// Private zero pages that are backed only where they are touched.
inline Mapping reserve_memory(size_t bytes, const std::string& what) {
  void* base = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (base == MAP_FAILED) throw_errno(what);
  return {base, bytes};
}

// reserve_memory() for large reserves, which stay out of core files: a core file's length would
// count them whole.
inline Mapping reserve_undumped_memory(size_t bytes, const std::string& what) {
  Mapping memory = reserve_memory(bytes, what);
  ::madvise(memory.data(), bytes, MADV_DONTDUMP);  // if refused, only core files are longer
  return memory;
}

}  // namespace nagaya::base

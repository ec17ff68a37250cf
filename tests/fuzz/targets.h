// SPDX-License-Identifier: BSD-3-Clause
// targets.h - the code under the fuzzers. Each function takes any bytes; the only exception that
// may leave the code under test is the documented one, everything else ends the process.
#pragma once

#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "task/host/wire.h"
#include "task/load/elf_image.h"

namespace nagaya::fuzz {

[[noreturn]] inline void undocumented(const base::Error& error) {
  std::fprintf(stderr, "undocumented code %d: %s\n", error.code(), error.what());
  std::abort();
}

inline void read_program_file(const uint8_t* data, size_t bytes) {
  const base::Fd file = base::checked_fd(::memfd_create("program", MFD_CLOEXEC), "memfd");
  if (::write(file.get(), data, bytes) != static_cast<ssize_t>(bytes)) return;
  try {
    const task::ElfImage image = task::read_elf("/proc/self/fd/" + std::to_string(file.get()));
    // The loader relies on this.
    if (image.load_bytes == 0 || image.load_bytes % 4096 != 0) std::abort();
  } catch (const base::Error& error) {
    if (error.code() != -ENOEXEC) undocumented(error);
  }
}

inline void decode_launch_payload(const uint8_t* data, size_t bytes) {
  const std::string payload(reinterpret_cast<const char*>(data), bytes);
  try {
    // An accepted launch is unambiguous: encoding it again gives the same bytes.
    if (task::encode(task::decode_launch(payload)) != payload) std::abort();
  } catch (const base::Error& error) {
    if (error.code() != -EPROTO) undocumented(error);
  }
}

inline void receive_stream(const uint8_t* data, size_t bytes) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return;
  task::Channel reader((base::Fd(ends[1])));
  {
    const base::Fd writer(ends[0]);
    if (::send(writer.get(), data, bytes, MSG_DONTWAIT | MSG_NOSIGNAL) < 0) return;
  }
  try {
    while (reader.receive()) {
    }
  } catch (const base::Error& error) {
    if (error.code() != -EPROTO && error.code() != -EPIPE) undocumented(error);
  }
}

}  // namespace nagaya::fuzz

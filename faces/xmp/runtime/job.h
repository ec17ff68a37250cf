// SPDX-License-Identifier: BSD-3-Clause
// job.h - the processes of the job, from nagaya_xmp_begin() to the end of the process.
#pragma once

#include <cstdint>

#include "nagaya/llcl.h"

namespace nagaya::xmp {

class Job {
 public:
  // Returns the process's job, which the first call joins. Outside of a space the job is one
  // process.
  static Job& own();

  uint32_t rank() const { return rank_; }
  uint32_t size() const { return size_; }
  // Translate ranks of the job to processes and back.
  nagaya_process process(uint32_t rank) const;
  uint32_t rank_of(nagaya_process process) const;
  // False in a forked child of a process of the job.
  bool takes_part() const;
  // The program fails there.
  void check_takes_part(const char* where) const;
  // Whether NAGAYA_XMP_HALO=message: halos are exchanged by messages even within a node.
  bool has_halo_messages() const { return has_halo_messages_; }

 private:
  Job();
  void join();

  bool is_joined_ = false;  // in a space
  uint32_t rank_ = 0, size_ = 1;
  bool has_halo_messages_ = false;
};

}  // namespace nagaya::xmp

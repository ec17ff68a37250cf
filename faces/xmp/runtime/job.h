// SPDX-License-Identifier: BSD-3-Clause
// job.h - the processes of the job, from nagaya_xmp_begin() to the end of the process.
#pragma once

#include <cstdint>
#include <vector>

#include "nagaya/llcl.h"

namespace nagaya::xmp {

class Job {
 public:
  // Returns the process's job, which the first call joins. Outside of a space the job is one
  // process.
  static Job& own();

  uint32_t rank() const { return rank_; }
  uint32_t size() const { return static_cast<uint32_t>(processes_.size()); }
  nagaya_process process(uint32_t rank) const { return processes_[rank]; }
  // Whether NAGAYA_XMP_HALO=message: halos are exchanged by messages even within a node.
  bool has_halo_messages() const { return has_halo_messages_; }

 private:
  Job();
  void join();

  uint32_t rank_ = 0;
  std::vector<nagaya_process> processes_;
  bool has_halo_messages_ = false;
};

}  // namespace nagaya::xmp

// SPDX-License-Identifier: BSD-3-Clause
// activity_reader.h - reads what the tasks of a job's host write of what they do
// (llcl/board/activity.h). They write it while a reader lives, and not a moment longer.
#pragma once

#include <memory>
#include <string>

#include "llcl/board/activity.h"
#include "task/host/client.h"

namespace nagaya::tools {

class ActivityReader {
 public:
  // `what`: llcl::kCounts, llcl::kLog. Throws Error.
  ActivityReader(const std::string& socket_path, uint32_t what);

  const llcl::Activity& activity() const {
    return *reinterpret_cast<const llcl::Activity*>(memory_.data());
  }
  // Whether the host has ended: no task writes any more.
  bool has_ended() const;

 private:
  task::Reading reading_;
  base::Mapping memory_;
};

// Returns a purpose as users name it: "receive", "allreduce".
const char* text_of(llcl::Purpose purpose);
// Returns "task 3", "task 3 of node 1", or "" if nobody knows.
std::string text_of(llcl::OtherProcess process);

}  // namespace nagaya::tools

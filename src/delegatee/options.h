// SPDX-License-Identifier: BSD-3-Clause
// options.h - the options of a delegatee. The same on all nodes of a job.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace nagaya::delegatee {

// How it learns that there is something to do, when there was nothing to do just now.
enum class Notification : uint8_t {
  kPolling,    // look again, with a yield between
  kKernel,     // sleep until a descriptor is readable
  kAutomatic,  // look again while a task waits and nobody else wants the processor; else sleep
};

// How commands come from the tasks.
enum class Queue : uint8_t {
  kLanes,
  kRing,  // the published one, for comparison: mailbox/ring.h
};

struct Options {
  Queue queue = Queue::kLanes;
  bool proof_covers_data = false;  // or the control data only (proof.h)
  Notification notification = Notification::kAutomatic;
  uint64_t long_yield_ns = 1'000'000;  // kAutomatic: after a yield this long it sleeps for a while
  uint64_t patience_ns = 10'000'000;   // kAutomatic: without any movement it looks no longer
  // kAutomatic: it sleeps while so much is being transferred and at least two threads more than
  // there are processors want to run.
  uint64_t bulk_bytes = 512 << 10;
  size_t small_max_bytes = 32 << 10;  // up to here data travels in a batch; clipped to what fits
  size_t batch_bytes = 32 << 10;      // clipped to the fabric's messages
  uint32_t batch_records = 64;
  // Receipts of small two-sided messages, for which only memory waits, leave with whatever else
  // goes to the node: after so long, or when there are so many, by themselves.
  uint64_t receipts_wait_ns = 50'000;
  uint16_t receipts_max = 16;

  uint32_t slots = 16384;          // commands of the whole node, accepted and not complete
  uint32_t credit_commands = 512;  // of them sent to one node
  size_t credit_bytes = 262144;    // of their records
  uint32_t pending_max = 256;      // commands that wait for credit of one node

  uint32_t region_idle_ms = 2000;  // another node's region that nobody used for one to two such
                                   // times is let go of
  uint32_t probe_after_ms = 1000;  // of a silent node that is to answer
  uint32_t fail_after_ms = 5000;   // the same: it has failed. The probe is in it
};

// Whether `variable` (NAME=VALUE of a task's environment) chooses an option.
bool is_option(const std::string& variable);
// Chooses what such a variable says. Throws base::Error -EINVAL: it does not have that value.
void choose(Options& options, const std::string& variable);

}  // namespace nagaya::delegatee

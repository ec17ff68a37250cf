// SPDX-License-Identifier: BSD-3-Clause
// options.h - the options of a delegatee; they are the same on all nodes of a job.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace nagaya::delegatee {

// How the delegatee learns of new work when its latest poll found none.
enum class Notification : uint8_t {
  kPolling,    // poll, with a yield between two polls
  kKernel,     // sleep until a descriptor is readable
  kAutomatic,  // poll while a task waits and nobody else wants the processor; else sleep
};

// The queue by which tasks pass commands to the delegatee.
enum class Queue : uint8_t {
  kLanes,
  kRing,  // one ring for all tasks, to be compared with the lanes: mailbox/ring.h
};

struct Options {
  // Delegatees of each node: 1, 2, 4 or 8. Each serves a share of the lanes. 0: as many as suit the
  // machine and its tasks (Placement::delegation). If nodes differ, the least of them.
  uint32_t delegatees = 0;
  // Network devices: delegatee n uses number n, in turns. None: the one that libfabric names first.
  std::vector<std::string> devices = {};
  Queue queue = Queue::kLanes;
  bool proof_covers_data = false;  // false: the control data only (proof.h)
  Notification notification = Notification::kAutomatic;
  uint64_t long_yield_ns = 1'000'000;  // kAutomatic: after a yield this long it sleeps for a while
  uint64_t patience_ns = 4'000'000;    // kAutomatic: without any news it polls no longer
  // kAutomatic: the delegatee sleeps while at least so many bytes are being transferred and at
  // least two threads more than there are processors want to run.
  uint64_t bulk_bytes = 512 << 10;
  size_t small_max_bytes = 32 << 10;  // up to here data travels in a batch; clipped to what fits
  size_t batch_bytes = 32 << 10;      // clipped to the fabric's messages
  uint32_t batch_records = 64;
  // The target reads the operands of a contiguous accumulate that is at least as long.
  uint64_t lent_min_bytes = 64 << 10;
  // A receipt of a small two-sided message only frees the sender's memory: it waits for other
  // records to that node. After so long, or when there are so many receipts, they leave by
  // themselves.
  uint64_t receipts_wait_ns = 50'000;
  uint16_t receipts_max = 16;

  uint32_t slots = 16384;          // commands of the whole node, accepted and not complete
  uint32_t credit_commands = 512;  // sent to one node and not answered
  size_t credit_bytes = 262144;    // of the records of these commands
  uint32_t pending_max = 256;      // commands that wait for credit of one node

  uint32_t region_idle_ms = 2000;  // a region of another node is evicted from the cache after
                                   // one to two such times without use
  uint32_t probe_after_ms = 1000;  // a node that is to answer and is silent this long is probed
  uint32_t fail_after_ms = 5000;   // a node silent this long has failed; includes probe_after_ms
};

// Returns the network device of delegatee n; "": the one that libfabric names first.
std::string device_of(const Options& options, uint32_t n);
// Returns the least number of delegatees that use all devices; 1: none is named.
uint32_t delegatees_for(const Options& options);

// Whether `variable` (NAME=VALUE of a task's environment) chooses an option.
bool is_option(const std::string& variable);
// Sets the option that such a variable names. Throws base::Error -EINVAL: the option does not have
// that value.
void choose(Options& options, const std::string& variable);

}  // namespace nagaya::delegatee

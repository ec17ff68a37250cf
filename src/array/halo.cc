// SPDX-License-Identifier: BSD-3-Clause
#include "array/halo.h"

#include "array/statistics.h"
#include "task/freestanding/stop_point.h"

namespace nagaya::array {
namespace {

// Of one of match's messages. Acquire: pairs with its completion, by any thread that waits.
template <class Message>
bool is_over(Message& message) {
  return std::atomic_ref(message.is_complete).load(std::memory_order_acquire) != 0;
}

// Memory for a message of the box; none where the box is one run.
std::vector<std::byte> room_for(const Transfer& transfer, bool is_by_message) {
  return std::vector<std::byte>(is_by_message && !transfer.box.is_one_run() ? transfer.box.bytes()
                                                                            : 0);
}

}  // namespace

Halo::Halo(Members& members, Within within, std::vector<HaloStep> plan, std::byte* base)
    : members_(members), within_(within), base_(base), steps_(plan.size()) {
  for (size_t n = 0; n < plan.size(); ++n) {
    for (Transfer& transfer : plan[n].reads) {
      std::vector<std::byte> landing = room_for(transfer, is_by_message(transfer.rank));
      steps_[n].reads.push_back({std::move(transfer), true, std::move(landing), {}});
    }
    for (Transfer& transfer : plan[n].gives) {
      std::vector<std::byte> packed = room_for(transfer, is_by_message(transfer.rank));
      steps_[n].gives.push_back({std::move(transfer), std::move(packed), {}});
    }
  }
  step_ = steps_.size();
}

int Halo::start() {
  Statistics::count(Statistics::own().reflects);
  step_ = 0;
  error_ = 0;
  return steps_.empty() ? 0 : begin_step();
}

int Halo::begin_step() {
  Step& step = steps_[step_];
  if (members_.is_open()) show_ready(step);
  for (Read& read : step.reads) {
    read.is_done = false;
    if (!is_by_message(read.transfer.rank)) continue;
    if (const int error = start_message(read); error != 0) return error;
  }
  for (Give& give : step.gives) {
    if (!is_by_message(give.transfer.rank)) continue;
    if (const int error = start_message(give); error != 0) return error;
  }
  return 0;
}

void Halo::show_ready(const Step& step) {
  uint64_t boxes = 0;
  for (const Give& give : step.gives) boxes += is_by_message(give.transfer.rank) ? 0 : 1;
  members_.give(boxes);
  std::atomic<uint64_t>& ready = members_.part(members_.rank()).ready;
  // Release: the own rows. Pairs with try_read.
  ready.store(ready.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  task::stop_at(task::StopPoint::kHaloReady);
  for (const Give& give : step.gives)
    if (!is_by_message(give.transfer.rank)) members_.wake(give.transfer.rank);
}

int Halo::start_message(Read& read) {
  const Transfer& transfer = read.transfer;
  read.message = {};
  read.message.wanted = members_.envelope(transfer.rank, transfer.side);
  read.message.from = members_.process(transfer.rank);
  read.message.buffer = read.landing.empty() ? base_ + transfer.to : read.landing.data();
  read.message.capacity = transfer.box.bytes();
  return nagaya_match_receive(&read.message);
}

int Halo::start_message(Give& give) {
  const Transfer& transfer = give.transfer;
  if (!give.packed.empty()) transfer.box.pack_from(give.packed.data(), base_ + transfer.from);
  give.message = {};
  give.message.to = members_.process(transfer.rank);
  give.message.envelope = members_.envelope(members_.rank(), transfer.side);
  give.message.data = give.packed.empty() ? base_ + transfer.from : give.packed.data();
  give.message.bytes = transfer.box.bytes();
  Statistics& statistics = Statistics::own();
  Statistics::count(members_.is_here(transfer.rank) ? statistics.local_messages
                                                    : statistics.messages);
  return nagaya_match_send(&give.message);
}

// ---- moving it along ----------------------------------------------------------------------------

int Halo::advance() {
  while (step_ < steps_.size()) {
    if (!try_all(steps_[step_])) return error_;
    if (++step_ == steps_.size()) break;
    if (const int error = begin_step(); error != 0) return error;
  }
  const bool is_complete = is_given();
  return is_complete && error_ == 0 ? 1 : error_;
}

bool Halo::try_all(Step& step) {
  bool are_done = true;
  for (Read& read : step.reads)
    if (!read.is_done) {
      read.is_done = is_by_message(read.transfer.rank) ? try_receive(read) : try_read(read);
      are_done = are_done && read.is_done;
    }
  return are_done;
}

bool Halo::try_read(Read& read) {
  const Transfer& transfer = read.transfer;
  if (transfer.rank == members_.rank()) {
    transfer.box.copy(base_ + transfer.to, base_ + transfer.from);
    return true;
  }
  Part& owner = members_.part(transfer.rank);
  const uint64_t wanted =
      members_.part(members_.rank()).ready.load(std::memory_order_relaxed);  // own: this step's
  // Acquire: pairs with show_ready. It may be one step ahead.
  if (owner.ready.load(std::memory_order_acquire) < wanted) return false;
  transfer.box.copy(base_ + transfer.to,
                    owner.base.load(std::memory_order_relaxed) + transfer.from);
  Statistics::count(Statistics::own().copies);
  task::stop_at(task::StopPoint::kHaloRead);
  // Release: the box is read. Pairs with is_all_read.
  owner.done.fetch_add(1, std::memory_order_release);
  members_.wake(transfer.rank);
  return true;
}

bool Halo::try_receive(Read& read) {
  if (!is_over(read.message)) return false;
  if (read.message.error != 0) error_ = read.message.error;
  if (!read.landing.empty())
    read.transfer.box.unpack_to(base_ + read.transfer.to, read.landing.data());
  return true;
}

bool Halo::is_given() {
  if (members_.is_open() && !members_.is_all_read()) return false;
  for (Step& step : steps_)
    for (Give& give : step.gives) {
      if (!is_by_message(give.transfer.rank)) continue;
      if (!is_over(give.message)) return false;
      if (give.message.error != 0) error_ = give.message.error;
    }
  return true;
}

}  // namespace nagaya::array

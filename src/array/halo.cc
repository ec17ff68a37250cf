// SPDX-License-Identifier: BSD-3-Clause
#include "array/halo.h"

#include <algorithm>
#include <utility>

#include "array/statistics.h"
#include "match/finish.h"
#include "task/load/freestanding/stop_point.h"

namespace nagaya::array {
namespace {

// Completes a message that could not be started, with the error of its start; 0: it was started.
template <class Message>
void end_by(Message& message, int error) {
  if (error == 0) return;
  message.error = error;
  message.is_complete = 1;
}

}  // namespace

// ---- construction -------------------------------------------------------------------------------

Halo::Halo(Members& members, Between between, std::vector<HaloStep> plan, std::byte* base)
    : members_(members), between_(between), base_(base) {
  for (HaloStep& step : plan) add(std::move(step));
  make_channels();
  step_ = steps_.size();
}

Halo::Way Halo::way_to(uint32_t rank) const {
  if (rank == members_.rank()) return Way::kOwn;
  if (between_ == Between::kMessages) return Way::kMessage;
  return members_.is_here(rank) ? Way::kPlace : Way::kChannel;
}

void Halo::add(HaloStep&& plan) {
  Step& step = steps_.emplace_back();
  const auto room_for = [](const Transfer& transfer, Way way) {
    return way == Way::kMessage && !transfer.box.is_one_run() ? transfer.box.bytes() : 0;
  };
  for (Transfer& transfer : plan.reads) {
    Read& read = step.reads.emplace_back(Read{std::move(transfer), Way::kOwn});
    read.way = way_to(read.transfer.rank);
    read.landing.resize(room_for(read.transfer, read.way));
  }
  for (Transfer& transfer : plan.gives) {
    Give& give = step.gives.emplace_back(Give{std::move(transfer), Way::kOwn});
    give.way = way_to(give.transfer.rank);
    give.packed.resize(room_for(give.transfer, give.way));
  }
}

bool Halo::reads_from(uint32_t rank) const {
  return std::ranges::any_of(steps_, [rank](const Step& step) {
    return std::ranges::any_of(step.reads,
                               [rank](const Read& one) { return one.transfer.rank == rank; });
  });
}

bool Halo::gives_to(uint32_t rank) const {
  return std::ranges::any_of(steps_, [rank](const Step& step) {
    return std::ranges::any_of(step.gives,
                               [rank](const Give& one) { return one.transfer.rank == rank; });
  });
}

void Halo::make_channels() {
  for (Step& step : steps_) {
    for (Read& one : step.reads)
      if (one.way == Way::kChannel)
        one.inlet = std::make_unique<Inlet>(one.transfer.box.bytes(), !gives_to(one.transfer.rank));
    for (Give& one : step.gives)
      if (one.way == Way::kChannel)
        one.outlet =
            std::make_unique<Outlet>(one.transfer.box.bytes(), !reads_from(one.transfer.rank));
  }
}

int Halo::open_channels() {
  for (Step& step : steps_) {
    for (Read& one : step.reads) {
      if (one.inlet == nullptr) continue;
      const int error = one.inlet->open(members_, one.transfer.rank, one.transfer.side);
      if (error != 0) return error;
    }
    for (Give& one : step.gives) {
      if (one.outlet == nullptr) continue;
      const int error = one.outlet->open(members_, one.transfer.rank, one.transfer.side);
      if (error != 0) return error;
    }
  }
  is_open_ = true;
  return 0;
}

// ---- starting an exchange -----------------------------------------------------------------------

int Halo::start() {
  if (error() != 0) return error_;
  if (const int error = is_open_ ? 0 : open_channels(); error != 0) return error;
  Statistics::count(Statistics::own().reflects);
  step_ = 0;
  if (!steps_.empty()) begin_step();
  return 0;
}

void Halo::begin_step() {
  Step& step = steps_[step_];
  if (members_.is_open()) show_ready(step);
  for (Read& read : step.reads) {
    read.is_done = false;
    if (read.way == Way::kMessage) start_message(read);
  }
  for (Give& give : step.gives) {
    give.is_started = give.way != Way::kChannel;
    if (give.way == Way::kMessage) start_message(give);
  }
}

void Halo::show_ready(const Step& step) {
  const auto is_of_place = [](const Give& give) { return give.way == Way::kPlace; };
  members_.show_ready(static_cast<uint64_t>(std::ranges::count_if(step.gives, is_of_place)));
  task::stop_at(task::StopPoint::kHaloReady);
  for (const Give& give : step.gives)
    if (is_of_place(give)) members_.wake(give.transfer.rank);
}

void Halo::start_message(Read& read) {
  const Transfer& transfer = read.transfer;
  read.message = {};
  read.message.wanted = members_.envelope(transfer.rank, transfer.side);
  read.message.from = members_.process(transfer.rank);
  read.message.buffer = read.landing.empty() ? base_ + transfer.to : read.landing.data();
  read.message.capacity = transfer.box.bytes();
  end_by(read.message, nagaya_match_receive(&read.message));
}

void Halo::start_message(Give& give) {
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
  end_by(give.message, nagaya_match_send(&give.message));
}

// ---- progress -----------------------------------------------------------------------------------

int Halo::advance() {
  while (step_ < steps_.size()) {
    if (!try_all(steps_[step_])) return 0;
    if (++step_ < steps_.size())
      begin_step();
    else
      ++exchange_;
  }
  if (!is_given()) return 0;
  return error() != 0 ? error_ : 1;
}

bool Halo::try_all(Step& step) {
  bool are_done = true;
  for (Give& give : step.gives) {
    give.is_started = give.is_started || is_done(try_write(give));
    are_done = are_done && give.is_started;
  }
  for (Read& read : step.reads) {
    read.is_done = read.is_done || is_done(try_read(read));
    are_done = are_done && read.is_done;
  }
  return are_done;
}

bool Halo::is_done(int result) {
  if (result < 0 && error_ == 0) error_ = result;
  return result != 0;
}

int Halo::try_read(Read& read) {
  switch (read.way) {
    case Way::kOwn:
      read.transfer.box.copy(base_ + read.transfer.to, base_ + read.transfer.from);
      return 1;
    case Way::kPlace:
      return try_place(read.transfer);
    case Way::kMessage:
      return try_receive(read);
    case Way::kChannel:
      return read.inlet->try_take(exchange_, read.transfer.box, base_ + read.transfer.to);
  }
  return 0;
}

int Halo::try_place(const Transfer& transfer) {
  if (!members_.is_ready(transfer.rank)) return 0;
  transfer.box.copy(base_ + transfer.to, members_.base_of(transfer.rank) + transfer.from);
  Statistics::count(Statistics::own().copies);
  task::stop_at(task::StopPoint::kHaloRead);
  members_.count_read(transfer.rank);
  members_.wake(transfer.rank);
  return 1;
}

int Halo::try_receive(Read& read) {
  if (!match::is_over(read.message)) return 0;
  if (read.message.error != 0) return read.message.error;
  if (!read.landing.empty())
    read.transfer.box.unpack_to(base_ + read.transfer.to, read.landing.data());
  return 1;
}

int Halo::try_write(Give& give) {
  const int is_started =
      give.outlet->try_write(exchange_, give.transfer.box, base_ + give.transfer.from);
  if (is_started == 1) Statistics::count(Statistics::own().messages);
  return is_started;
}

bool Halo::is_given() {
  if (members_.is_open() && !members_.is_all_read()) return false;
  for (Step& step : steps_)
    for (Give& give : step.gives) {
      if (give.way != Way::kMessage) continue;
      if (!match::is_over(give.message)) return false;
      is_done(give.message.error);
    }
  return true;
}

bool Halo::is_quiet() {
  for (Step& step : steps_) {
    for (Read& one : step.reads)
      if (one.inlet != nullptr && !one.inlet->is_quiet()) return false;
    for (Give& one : step.gives)
      if (one.outlet != nullptr && !one.outlet->is_quiet()) return false;
  }
  return true;
}

int Halo::error() {
  for (Step& step : steps_) {
    for (Read& one : step.reads)
      if (one.inlet != nullptr) is_done(one.inlet->error());
    for (Give& one : step.gives)
      if (one.outlet != nullptr) is_done(one.outlet->error());
  }
  return error_;
}

}  // namespace nagaya::array

// SPDX-License-Identifier: BSD-3-Clause
#include "array/halo.h"

#include <algorithm>
#include <utility>

#include "array/box_messages.h"
#include "array/statistics.h"
#include "match/finish.h"
#include "task/load/freestanding/stop_point.h"

namespace nagaya::array {
// ---- construction -------------------------------------------------------------------------------

Halo::Halo(Members& members, Transport transport, std::vector<HaloStep> plan, std::byte* base)
    : members_(members), transport_(transport), base_(base) {
  for (HaloStep& step : plan) add(std::move(step));
  make_channels();
  step_ = steps_.size();
}

Halo::Way Halo::way_to(uint32_t rank) const {
  if (rank == members_.rank()) return Way::kLocalCopy;
  if (transport_ == Transport::kMessages) return Way::kMessage;
  return members_.is_here(rank) ? Way::kDirect : Way::kChannel;
}

void Halo::add(HaloStep&& plan) {
  Step& step = steps_.emplace_back();
  const auto bytes_to_pack = [](const Transfer& transfer, Way way, bool is_in_place) {
    return way == Way::kMessage && !is_in_place ? transfer.box.bytes() : 0;
  };
  for (Transfer& transfer : plan.receives) {
    Receive& receive = step.receives.emplace_back(Receive{std::move(transfer), Way::kLocalCopy});
    receive.way = way_to(receive.transfer.rank);
    const layout::StridedCopy& box = receive.transfer.box;
    receive.landing.resize(
        bytes_to_pack(receive.transfer, receive.way, box.is_one_run() && !box.combines()));
  }
  for (Transfer& transfer : plan.sends) {
    Send& send = step.sends.emplace_back(Send{std::move(transfer), Way::kLocalCopy});
    send.way = way_to(send.transfer.rank);
    send.packed.resize(bytes_to_pack(send.transfer, send.way, send.transfer.box.is_one_run()));
  }
}

bool Halo::receives_from(uint32_t rank) const {
  return std::ranges::any_of(steps_, [rank](const Step& step) {
    return std::ranges::any_of(step.receives,
                               [rank](const Receive& one) { return one.transfer.rank == rank; });
  });
}

bool Halo::sends_to(uint32_t rank) const {
  return std::ranges::any_of(steps_, [rank](const Step& step) {
    return std::ranges::any_of(step.sends,
                               [rank](const Send& one) { return one.transfer.rank == rank; });
  });
}

void Halo::make_channels() {
  for (Step& step : steps_) {
    for (Receive& one : step.receives)
      if (one.way == Way::kChannel)
        one.channel = std::make_unique<ChannelReceiver>(one.transfer.box.bytes(),
                                                        !sends_to(one.transfer.rank));
    for (Send& one : step.sends)
      if (one.way == Way::kChannel)
        one.channel = std::make_unique<ChannelSender>(one.transfer.box.bytes(),
                                                      !receives_from(one.transfer.rank));
  }
}

int Halo::open_channels() {
  for (Step& step : steps_) {
    for (Receive& one : step.receives) {
      if (one.channel == nullptr) continue;
      const int error = one.channel->open(members_, one.transfer.rank, one.transfer.side);
      if (error != 0) return error;
    }
    for (Send& one : step.sends) {
      if (one.channel == nullptr) continue;
      const int error = one.channel->open(members_, one.transfer.rank, one.transfer.side);
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
  for (Receive& receive : step.receives) {
    receive.is_done = false;
    if (receive.way == Way::kMessage) start_message(receive);
  }
  for (Send& send : step.sends) {
    send.is_started = send.way != Way::kChannel;
    if (send.way == Way::kMessage) start_message(send);
  }
}

void Halo::show_ready(const Step& step) {
  const auto is_direct = [](const Send& send) { return send.way == Way::kDirect; };
  members_.show_ready(static_cast<uint64_t>(std::ranges::count_if(step.sends, is_direct)));
  task::stop_at(task::StopPoint::kHaloReady);
  for (const Send& send : step.sends)
    if (is_direct(send)) members_.wake(send.transfer.rank);
}

void Halo::start_message(Receive& receive) {
  const Transfer& transfer = receive.transfer;
  receive.message = {};
  receive.message.wanted = members_.envelope(transfer.rank, transfer.side);
  receive.message.from = members_.process(transfer.rank);
  receive.message.buffer = receive.landing.empty() ? base_ + transfer.to : receive.landing.data();
  receive.message.capacity = transfer.box.bytes();
  array::start(receive.message, nagaya_match_receive);
}

void Halo::start_message(Send& send) {
  const Transfer& transfer = send.transfer;
  if (!send.packed.empty()) transfer.box.pack_from(send.packed.data(), base_ + transfer.from);
  send.message = {};
  send.message.to = members_.process(transfer.rank);
  send.message.envelope = members_.envelope(members_.rank(), transfer.side);
  send.message.data = send.packed.empty() ? base_ + transfer.from : send.packed.data();
  send.message.bytes = transfer.box.bytes();
  Statistics& statistics = Statistics::own();
  Statistics::count(members_.is_here(transfer.rank) ? statistics.local_messages
                                                    : statistics.messages);
  array::start(send.message, nagaya_match_send);
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
  if (!has_sent_all()) return 0;
  return error() != 0 ? error_ : 1;
}

bool Halo::try_all(Step& step) {
  bool are_done = true;
  for (Send& send : step.sends) {
    send.is_started = send.is_started || record_result(try_write(send));
    are_done = are_done && send.is_started;
  }
  for (Receive& receive : step.receives) {
    receive.is_done = receive.is_done || record_result(try_receive(receive));
    are_done = are_done && receive.is_done;
    // Sums have one order, so that each run gives the same bits.
    if (!receive.is_done && receive.transfer.box.combines()) break;
  }
  return are_done;
}

bool Halo::record_result(int result) {
  if (result < 0 && error_ == 0) error_ = result;
  return result != 0;
}

int Halo::try_receive(Receive& receive) {
  switch (receive.way) {
    case Way::kLocalCopy:
      receive.transfer.box.copy(base_ + receive.transfer.to, base_ + receive.transfer.from);
      return 1;
    case Way::kDirect:
      return try_read_direct(receive.transfer);
    case Way::kMessage:
      return try_receive_message(receive);
    case Way::kChannel:
      return receive.channel->try_take(exchange_, receive.transfer.box,
                                       base_ + receive.transfer.to);
  }
  return 0;
}

int Halo::try_read_direct(const Transfer& transfer) {
  if (!members_.is_ready(transfer.rank)) return 0;
  transfer.box.copy(base_ + transfer.to, members_.base_of(transfer.rank) + transfer.from);
  Statistics::count(Statistics::own().copies);
  task::stop_at(task::StopPoint::kHaloRead);
  members_.count_read(transfer.rank);
  members_.wake(transfer.rank);
  return 1;
}

int Halo::try_receive_message(Receive& receive) {
  if (!match::is_complete(receive.message)) return 0;
  if (const int error = error_of(receive.message); error != 0) return error;
  if (!receive.landing.empty())
    receive.transfer.box.unpack_to(base_ + receive.transfer.to, receive.landing.data());
  return 1;
}

int Halo::try_write(Send& send) {
  const int is_started =
      send.channel->try_write(exchange_, send.transfer.box, base_ + send.transfer.from);
  if (is_started == 1) Statistics::count(Statistics::own().messages);
  return is_started;
}

bool Halo::has_sent_all() {
  if (members_.is_open() && !members_.is_all_read()) return false;
  for (Step& step : steps_)
    for (Send& send : step.sends) {
      if (send.way != Way::kMessage) continue;
      if (!match::is_complete(send.message)) return false;
      record_result(send.message.error);
    }
  return true;
}

bool Halo::may_be_destroyed() {
  for (Step& step : steps_) {
    for (Receive& one : step.receives)
      if (one.channel != nullptr && !one.channel->has_no_pending_requests()) return false;
    for (Send& one : step.sends)
      if (one.channel != nullptr && !one.channel->has_no_pending_requests()) return false;
  }
  return true;
}

int Halo::error() {
  for (Step& step : steps_) {
    for (Receive& one : step.receives)
      if (one.channel != nullptr) record_result(one.channel->error());
    for (Send& one : step.sends)
      if (one.channel != nullptr) record_result(one.channel->error());
  }
  return error_;
}

}  // namespace nagaya::array

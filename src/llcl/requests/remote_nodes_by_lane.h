// SPDX-License-Identifier: BSD-3-Clause
// remote_nodes_by_lane.h - implements RemoteNodes in a task: reaches other nodes through the lanes
// of the task's endpoint and the node's delegatee.
#pragma once

#include <cstring>

#include "llcl/board/port_cell.h"
#include "llcl/requests/endpoint.h"
#include "llcl/requests/remote_nodes.h"

namespace nagaya::llcl {

class RemoteNodesByLane final : public RemoteNodes {
 public:
  // `threads`: several threads call, and take turns. They share one lane, because messages through
  // a lane for each thread would overtake each other.
  RemoteNodesByLane(Endpoint& endpoint, bool threads)
      : endpoint_(endpoint),
        common_lane_(threads ? endpoint.claim_common_lane() : Lanes::kNoLane) {}

  bool has(nagaya_process process) const override {
    return endpoint_.is_a_node(process.node) && process.task <= UINT16_MAX;
  }

  int send(nagaya_process to, uint8_t kind, const std::byte* message, size_t bytes,
           size_t data_bytes, std::atomic<uint32_t>* done) override {
    const nagaya_completion on_complete{done != nullptr ? NAGAYA_FLAG : NAGAYA_NONE, nullptr, done};
    return endpoint_.submit_by(lane(), on_complete, [&](Command& command) {
      command = {};
      command.op = Op::kActiveMessage;
      command.node = to.node;
      command.task = static_cast<uint16_t>(to.task);
      command.region = kPortHandlers + kind;
      command.offset = data_bytes;
      if (done == nullptr) {
        command.inline_bytes = static_cast<uint8_t>(bytes);
        std::memcpy(command.data.payload, message, bytes);
      } else {
        command.data.block = {reinterpret_cast<uint64_t>(message), bytes, 0, 0};
      }
    });
  }

  bool has_backlog(nagaya_process process) const override {
    return endpoint_.board().backlogs->has(process.node, process.task);
  }

  int share(const void* data, size_t bytes, uint32_t& region) override {
    nagaya_remote place;
    const int error = nagaya_llcl_register(const_cast<void*>(data), bytes, &place);
    if (error == 0) region = place.region;
    return error == -ENOSPC ? -EAGAIN : error;
  }
  void unshare(uint32_t region) override {
    endpoint_.board().regions->remove(endpoint_.owner(), region);
  }

  int read(nagaya_process from, uint32_t region, uint64_t offset, void* to, size_t bytes,
           std::atomic<uint32_t>& done) override {
    const nagaya_llcl_transfer transfer{
        {from, region, 0, offset}, to, bytes, {NAGAYA_FLAG, nullptr, &done}};
    return nagaya_llcl_try_read(&transfer);
  }
  int read_pieces(nagaya_process from, uint32_t region, std::span<const nagaya_llcl_piece> pieces,
                  std::atomic<uint32_t>& done) override {
    const nagaya_llcl_pieces all{
        {from, region, 0, 0}, pieces.data(), pieces.size(), {NAGAYA_FLAG, nullptr, &done}};
    return nagaya_llcl_try_read_pieces(&all);
  }

  uint32_t lane() const {
    return common_lane_ != Lanes::kNoLane ? common_lane_ : endpoint_.own_lane();
  }

 private:
  Endpoint& endpoint_;
  const uint32_t common_lane_;
};

}  // namespace nagaya::llcl

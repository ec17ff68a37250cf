// SPDX-License-Identifier: BSD-3-Clause
// llcl.cc - the messages of the delegation paper's patterns by nagaya/llcl.h: a write
// into the receiver's memory that also counts there. The delegatee drives the network.
//
// A rank that has received the others' messages of one turn sends its messages of the next turn,
// while others may not have read theirs yet; but it is never two turns ahead. So even and odd turns
// have separate memory and counters.
#include <nagaya/comm.h>
#include <nagaya/task.h>
#include <sched.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include "delegation.h"

namespace nagaya::bench {
namespace {

void check(int error, const char* what) {
  if (error != 0) throw std::runtime_error(std::string(what) + ": " + std::strerror(-error));
}

class Llcl : public Messages {
 public:
  explicit Llcl(size_t bytes_max) {
    if (nagaya_comm_init() != 0) throw std::runtime_error(nagaya_error_text());
    rank = static_cast<int>(nagaya_comm_rank());
    size = static_cast<int>(nagaya_comm_size());
    nodes = static_cast<int>(nagaya_comm_nodes());
    half_bytes_ = static_cast<size_t>(size) * bytes_max;
    out_.resize(2 * half_bytes_);
    in_.resize(2 * half_bytes_);
    Places own{};
    check(nagaya_llcl_register(in_.data(), in_.size(), &own.memory), "register");
    check(nagaya_llcl_register(arrived_, sizeof arrived_, &own.counters), "register");
    places_.resize(static_cast<size_t>(size));
    check(nagaya_comm_allgather(&own, sizeof own, places_.data()), "allgather");
  }
  ~Llcl() override { nagaya_comm_finalize(); }

  std::byte* out(int to, size_t bytes) override {
    return out_.data() + offset_of(turn_sent_, to, bytes);
  }
  void send(int to, size_t bytes) override {
    post(to, bytes);
    end_turn();
  }
  const std::byte* receive(int from, size_t bytes) override {
    return arrived(1) + static_cast<size_t>(from) * bytes;
  }
  const std::byte* exchange(size_t bytes) override {
    // Each rank starts with the next one, so that not all write to the same rank.
    for (int n = 1; n <= size; ++n) post((rank + n) % size, bytes);
    end_turn();
    return arrived(static_cast<uint32_t>(size));
  }
  void barrier() override { check(nagaya_comm_barrier(), "barrier"); }

 private:
  struct Places {
    nagaya_remote memory, counters;
  };

  size_t offset_of(uint64_t turn, int rank, size_t bytes) const {
    return turn % 2 * half_bytes_ + static_cast<size_t>(rank) * bytes;
  }

  void post(int to, size_t bytes) {
    const uint64_t half = turn_sent_ % 2;
    nagaya_remote counter = places_[static_cast<size_t>(to)].counters;
    counter.offset += half * sizeof(uint64_t);
    nagaya_llcl_transfer put = {places_[static_cast<size_t>(to)].memory, out(to, bytes), bytes,
                                nagaya_counter(&done_[half])};
    put.remote.offset += offset_of(turn_sent_, rank, bytes);
    int error;
    while ((error = nagaya_llcl_try_write_notify(&put, &counter)) == -EAGAIN) ::sched_yield();
    check(error, "write");
    ++posted_[half];
  }
  // Waits until the writes from the half that the next turn uses are complete.
  void end_turn() {
    const uint64_t half = ++turn_sent_ % 2;
    wait(&done_[half], posted_[half]);
  }

  const std::byte* arrived(uint32_t messages) {
    const uint64_t half = turn_received_++ % 2;
    wait(&arrived_[half], expected_[half] += messages);
    return in_.data() + half * half_bytes_;
  }

  static void wait(const uint64_t* counter, uint32_t least) {
    check(nagaya_llcl_wait_counter(counter, least, -1), "wait");
  }

  size_t half_bytes_ = 0;
  std::vector<std::byte> out_, in_;
  std::vector<Places> places_;
  uint64_t turn_sent_ = 0, turn_received_ = 0;
  // One entry each for even and odd turns. Requests count in arrived_ and done_, this class in the
  // others.
  alignas(64) uint64_t arrived_[2] = {};
  uint64_t done_[2] = {};
  uint32_t expected_[2] = {}, posted_[2] = {};
};

}  // namespace

const char* const kCarrier = "Nagaya";

std::unique_ptr<Messages> open_messages(size_t bytes_max) {
  return std::make_unique<Llcl>(bytes_max);
}

}  // namespace nagaya::bench

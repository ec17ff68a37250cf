// SPDX-License-Identifier: BSD-3-Clause
// halo.h - the exchange of an array's halos by one plan, again and again.
//
//   step   own rows are ready ──► read the neighbours', receive messages ──► next step
//   end    when the neighbours have read the own rows, and the messages are sent
#pragma once

#include <vector>

#include "array/halo_plan.h"
#include "array/members.h"
#include "nagaya/match.h"

namespace nagaya::array {

// How the boxes move that other processes of the node need.
enum class Within { kCopies, kMessages };

class Halo {
 public:
  // `base`: of the own block. May throw std::bad_alloc.
  Halo(Members& members, Within within, std::vector<HaloStep> plan, std::byte* base);
  Halo(const Halo&) = delete;
  Halo& operator=(const Halo&) = delete;

  // All earlier ones of the array are complete, whatever their plan. Returns 0, -ENOMEM.
  int start();
  // Looks once. Returns 1 (it is complete), 0, or the error of a message.
  int advance();

 private:
  struct Read {
    Transfer transfer;
    bool is_done;
    std::vector<std::byte> landing;  // of a message whose box is not one run
    nagaya_receive message;
  };
  struct Give {
    Transfer transfer;
    std::vector<std::byte> packed;  // the same
    nagaya_send message;
  };
  struct Step {
    std::vector<Read> reads;
    std::vector<Give> gives;
  };

  bool is_by_message(uint32_t rank) const {
    return rank != members_.rank() && (within_ == Within::kMessages || !members_.is_here(rank));
  }
  int begin_step();
  void show_ready(const Step& step);
  int start_message(Read& read);
  int start_message(Give& give);
  bool try_all(Step& step);
  bool try_read(Read& read);
  bool try_receive(Read& read);
  bool is_given();

  Members& members_;
  const Within within_;
  std::byte* const base_;
  std::vector<Step> steps_;
  size_t step_ = 0;  // that is under way; steps_.size(): the end
  int error_ = 0;
};

}  // namespace nagaya::array

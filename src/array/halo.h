// SPDX-License-Identifier: BSD-3-Clause
// halo.h - exchanges an array's halos by one plan, any number of times.
//
//   step   own rows are ready ──► read the neighbours', take what arrives ──► next step
//   end    when the neighbours have read the own rows, and all that is sent has left them
#pragma once

#include <memory>
#include <vector>

#include "array/channel.h"
#include "array/halo_plan.h"
#include "array/members.h"
#include "nagaya/match.h"

namespace nagaya::array {

// The transport of boxes between processes. kDirect: the reader reads them in place within a node,
// and channels move them between nodes. kMessages: two-sided messages (match) move all of them.
enum class Transport { kDirect, kMessages };

class Halo {
 public:
  // `base`: address of the own block. May throw std::bad_alloc.
  Halo(Members& members, Transport transport, std::vector<HaloStep> plan, std::byte* base);
  Halo(const Halo&) = delete;
  Halo& operator=(const Halo&) = delete;

  // Starts an exchange. All earlier exchanges of the array, by any plan, are complete. Returns 0,
  // or an errno: nothing has begun. After an error of advance() it always returns that error.
  int start();
  // Advances the exchange. Returns 1 (complete), 0 (pending), or the error of a box: the other
  // boxes are complete.
  int advance();
  // Whether no other process uses its memory any more, so that it may be destroyed.
  bool may_be_destroyed();
  // Returns the first errno that was seen of any box until now, or 0.
  int error();

 private:
  enum class Way { kLocalCopy, kDirect, kMessage, kChannel };

  struct Receive {
    Transfer transfer;
    Way way;
    bool is_done = true;
    std::vector<std::byte> landing{};  // for a message whose box is not one run
    nagaya_receive message{};
    std::unique_ptr<ChannelReceiver> channel{};
  };
  struct Send {
    Transfer transfer;
    Way way;
    bool is_started = true;           // true also if it needs no start
    std::vector<std::byte> packed{};  // for a message whose box is not one run
    nagaya_send message{};
    std::unique_ptr<ChannelSender> channel{};
  };
  struct Step {
    std::vector<Receive> receives;
    std::vector<Send> sends;
  };

  Way way_to(uint32_t rank) const;
  void add(HaloStep&& step);
  bool receives_from(uint32_t rank) const;
  bool sends_to(uint32_t rank) const;
  void make_channels();
  int open_channels();

  void begin_step();
  void show_ready(const Step& step);
  void start_message(Receive& receive);
  void start_message(Send& send);
  // Advances all boxes of a step. Returns whether all of them are done.
  bool try_all(Step& step);
  // These return 1 (the box is done), 0 (not yet), or an errno (the box is done, too).
  int try_receive(Receive& receive);
  int try_read_direct(const Transfer& transfer);
  int try_receive_message(Receive& receive);
  int try_write(Send& send);
  // Keeps the first error. Returns whether `result`, of one of the functions above, means done.
  bool record_result(int result);
  // Whether others have read all own boxes, and all messages sent are complete. Keeps their errors.
  bool has_sent_all();

  Members& members_;
  const Transport transport_;
  std::byte* const base_;
  std::vector<Step> steps_;
  size_t step_ = 0;  // the current one; steps_.size(): all are done
  uint64_t exchange_ = 0;
  bool is_open_ = false;
  int error_ = 0;
};

}  // namespace nagaya::array

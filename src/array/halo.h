// SPDX-License-Identifier: BSD-3-Clause
// halo.h - the exchange of an array's halos by one plan, again and again.
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

// How boxes move from process to process: in place within a node, and by channels between nodes; or
// all by match's messages.
enum class Between { kPlaces, kMessages };

class Halo {
 public:
  // `base`: of the own block. May throw std::bad_alloc.
  Halo(Members& members, Between between, std::vector<HaloStep> plan, std::byte* base);
  Halo(const Halo&) = delete;
  Halo& operator=(const Halo&) = delete;

  // All earlier ones of the array are complete, whatever their plan. Returns 0, or an errno:
  // nothing has begun. After an error of advance() it is always that one.
  int start();
  // Looks once. Returns 1 (it is complete), 0, or the error of a box: the others are complete.
  int advance();
  // None of its memory is in use any more: it may go.
  bool is_quiet();
  // Of the boxes that have moved until now: 0, or the first errno that was seen.
  int error();

 private:
  enum class Way { kOwn, kPlace, kMessage, kChannel };

  struct Read {
    Transfer transfer;
    Way way;
    bool is_done = true;
    std::vector<std::byte> landing{};  // of a message whose box is not one run
    nagaya_receive message{};
    std::unique_ptr<Inlet> inlet{};
  };
  struct Give {
    Transfer transfer;
    Way way;
    bool is_started = true;           // or needs no start
    std::vector<std::byte> packed{};  // as a landing
    nagaya_send message{};
    std::unique_ptr<Outlet> outlet{};
  };
  struct Step {
    std::vector<Read> reads;
    std::vector<Give> gives;
  };

  Way way_to(uint32_t rank) const;
  void add(HaloStep&& step);
  bool reads_from(uint32_t rank) const;
  bool gives_to(uint32_t rank) const;
  void make_channels();
  int open_channels();

  void begin_step();
  void show_ready(const Step& step);
  void start_message(Read& read);
  void start_message(Give& give);
  // Whether all of a step is done.
  bool try_all(Step& step);
  // These return 1 (it is done), 0, or an errno, with which it is done, too.
  int try_read(Read& read);
  int try_place(const Transfer& transfer);
  int try_receive(Read& read);
  int try_write(Give& give);
  // Of a result as theirs: whether it is done. Keeps the error.
  bool is_done(int result);
  bool is_given();

  Members& members_;
  const Between between_;
  std::byte* const base_;
  std::vector<Step> steps_;
  size_t step_ = 0;  // that is under way; steps_.size(): the end
  uint64_t exchange_ = 0;
  bool is_open_ = false;
  int error_ = 0;
};

}  // namespace nagaya::array

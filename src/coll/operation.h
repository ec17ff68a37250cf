// SPDX-License-Identifier: BSD-3-Clause
// operation.h - the state of one member in one pending collective. Blocking and non-blocking
// collectives of every algorithm use it.
//
//   waiting ──► begun ──► working ──► left ──► complete
//     │           │         │           └ awaits those that use this member's memory
//     │           │         └ Algorithm::work(), until it says that it is done
//     │           └ Algorithm::post() has written the own line
//     └ for its turn, and until its line is free
#pragma once

#include <memory>
#include <optional>

#include "coll/team.h"

namespace nagaya::coll {

class Operation;

// Returns the purpose of a wait for a collective of this kind.
constexpr llcl::Purpose purpose_of(nagaya_collective_kind kind) {
  return static_cast<llcl::Purpose>(static_cast<int>(llcl::Purpose::kBarrier) + kind);
}
static_assert(purpose_of(NAGAYA_BARRIER) == llcl::Purpose::kBarrier &&
              purpose_of(NAGAYA_EXSCAN) == llcl::Purpose::kExscan);

// The steps of one way to do a collective.
struct Algorithm {
  const char* name;
  // Posts this member's line by post_data() or post_direct(), or posts none. May throw
  // std::bad_alloc: then nothing is posted, and the call is repeated later.
  void (*post)(Operation& operation);
  // Advances the collective as far as the others' posted data allow. Returns true when this member
  // needs no memory of others any more. May throw std::bad_alloc: the call is repeated later.
  bool (*work)(Operation& operation);
  // Whether member `rank` may use this member's memory, if post_direct() has announced that.
  bool (*is_used_by)(const Operation& operation, uint32_t rank);
  // Called when nobody uses this member's memory any more; nullptr: nothing to do then.
  void (*end)(Operation& operation);
};

class Operation {
 public:
  // `number`: from the team's new_number(); without it the constructor takes the next one.
  Operation(Team& team, nagaya_collective& what, const Algorithm& algorithm,
            std::optional<uint64_t> number = std::nullopt)
      : direct_buffers{what.send, static_cast<std::byte*>(what.receive.base),
                       what.may_detach != 0 ? &detachable_ : nullptr, &taken_},
        team_(team),
        what_(what),
        algorithm_(algorithm),
        number_(number ? *number : team.new_number()) {
    what.operation = this;
  }
  Operation(const Operation&) = delete;
  Operation& operator=(const Operation&) = delete;

  // Whether the calling thread may advance the collective.
  bool is_for_this_thread() const {
    const nagaya_elements& elements = what_.elements;
    return elements.may_reduce == nullptr || elements.may_reduce(elements.context) != 0;
  }
  // Advances the collective as far as possible. Returns whether it is complete. The caller holds
  // the team's lock.
  bool advance();
  // Calls advance(), and tells readers of the task's activity for which member it waits.
  bool advance(llcl::Recorder& recorder) {
    const bool is_over = advance();
    if (recorder.is_read()) [[unlikely]]
      tell(recorder, is_over);
    return is_over;
  }

  // Called once by the root of a BCAST, with the team's lock. If members have not begun to read the
  // root's block, copies it for them and returns true; else returns false. May throw
  // std::bad_alloc: then nothing has happened.
  bool detach();
  // detach() in two calls. If have_all_begun() returns true no copy is needed. Else the caller
  // passes a copy, which stays until the operation ends, to detach(copy).
  bool have_all_begun();
  void detach(const std::byte* copy);
  // After detach(): whether the root's caller may reuse its block.
  bool has_no_readers() const { return detachable_.has_no_readers(); }

  Team& team() const { return team_; }
  nagaya_collective& what() const { return what_; }
  uint32_t rank() const { return team_.rank(); }
  uint32_t size() const { return team_.size(); }

  // ---- for algorithms

  // Called once: write(to) fills `bytes` bytes of this member's line or its buffer, and the line is
  // posted. May throw std::bad_alloc: then nothing was posted.
  template <class Write>
  void post_data(size_t bytes, Write write) {
    write(prepare_line(bytes));
    team_.post(number_);
    team_.group().count_copied(bytes);
  }
  // Returns the data of this member's posted line. The member may write bytes that no other one
  // reads before it has seen the next level.
  std::byte* own_data() const { return team_.line(rank(), number_).own_data(); }
  // Raises the line's level (1, 2, ...) when data have been added.
  void post_level(uint32_t level) { team_.post_level(number_, level); }
  void post_direct(uint32_t block_bytes = 0);
  bool has_posted(uint32_t rank) const { return team_.has_posted(rank, number_) || misses(rank); }
  bool has_posted(uint32_t rank, uint32_t level) const {
    return team_.has_posted(rank, number_, level) || misses(rank);
  }
  const Line& line(uint32_t rank) const { return team_.line(rank, number_); }
  // Returns uninitialised memory, valid until the operation ends or the next call. May throw
  // std::bad_alloc.
  std::byte* new_scratch(size_t bytes) {
    scratch_ = std::make_unique_for_overwrite<std::byte[]>(bytes);
    return scratch_.get();
  }
  std::byte* scratch() const { return scratch_.get(); }
  void fail(int error) { what_.error = error; }

  DirectBuffers direct_buffers;  // this member's buffers, read by others after post_direct()
  uint32_t next = 0;             // work() has handled the ranks or levels before this one

 private:
  static constexpr uint32_t kNobody = UINT32_MAX;
  enum class State : uint8_t { kWaiting, kWorking, kLeft, kComplete };

  bool begin();
  bool has_no_users();
  // Notes that the operation waits for this member. Returns false.
  bool misses(uint32_t rank) const {
    missed_ = rank;
    return false;
  }
  void tell(llcl::Recorder& recorder, bool is_over) const;
  std::byte* prepare_line(size_t bytes);

  Team& team_;
  nagaya_collective& what_;
  const Algorithm& algorithm_;
  const uint64_t number_;
  State state_ = State::kWaiting;
  bool is_direct_ = false;
  uint32_t next_user_ = 0;
  // The member for which the last advance() in vain has waited. Changes by looks at its line.
  mutable uint32_t missed_ = kNobody;
  Detachable detachable_;
  std::atomic<uint32_t> taken_ = 0;
  std::unique_ptr<std::byte[]> scratch_;
};

}  // namespace nagaya::coll

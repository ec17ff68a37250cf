// SPDX-License-Identifier: BSD-3-Clause
// operation.h - one collective under way, as one member sees it: the same for the blocking and the
// non-blocking, for every algorithm.
//
//   waits ──► begun ──► works ──► has left ──► complete
//     │         │         │          └ awaits those that use this member's memory
//     │         │         └ Algorithm::work(), until it says that it is done
//     │         └ Algorithm::post() has written the own line
//     └ for its turn, and until its line is free
#pragma once

#include <memory>
#include <optional>

#include "coll/team.h"

namespace nagaya::coll {

class Operation;

// How a collective is done.
struct Algorithm {
  const char* name;
  // Posts by post_data() or post_direct(), or nothing. May throw std::bad_alloc, and then posts
  // nothing: it is called again later.
  void (*post)(Operation& operation);
  // Goes on. True: this member needs nothing of the others any more. May throw std::bad_alloc, as
  // post.
  bool (*work)(Operation& operation);
  // Whether the other member may use this member's memory, if that was posted directly.
  bool (*is_used_by)(const Operation& operation, uint32_t rank);
  // Nobody uses this member's memory any more. Or nullptr.
  void (*end)(Operation& operation);
};

class Operation {
 public:
  // `number`: of the team's new_number(); without one it takes the next.
  Operation(Team& team, nagaya_collective& what, const Algorithm& algorithm,
            std::optional<uint64_t> number = std::nullopt)
      : given{what.send, static_cast<std::byte*>(what.receive.base),
              what.may_detach != 0 ? &detachable_ : nullptr},
        team_(team),
        what_(what),
        algorithm_(algorithm),
        number_(number ? *number : team.new_number()) {
    what.operation = this;
  }
  Operation(const Operation&) = delete;
  Operation& operator=(const Operation&) = delete;

  // Goes on; whether it is complete. With the team's lock.
  bool advance();

  // Of a BCAST's root, once, with the team's lock: others that have not begun to read its block get
  // it from a copy, which is made now. Whether there are any. May throw std::bad_alloc: then
  // nothing has happened.
  bool detach();
  // The same in two steps. After the first, if it is true, nobody else will begin; else the second
  // names a copy, which stays until the operation ends.
  bool have_all_begun();
  void detach(const std::byte* copy);
  // Whether its block is the caller's again.
  bool is_unread() const { return detachable_.is_unread(); }

  Team& team() const { return team_; }
  nagaya_collective& what() const { return what_; }
  uint32_t rank() const { return team_.rank(); }
  uint32_t size() const { return team_.size(); }

  // ---- for algorithms

  // Posts the own line's data, once: write(to) writes to `bytes` of memory. May throw
  // std::bad_alloc: then nothing was posted.
  template <class Write>
  void post_data(size_t bytes, Write write) {
    write(line_for(bytes));
    team_.post(number_);
  }
  // Adds to it: write(data) writes where nobody reads before he has seen the level, from 1 on.
  template <class Write>
  void post_level(uint32_t level, Write write) {
    write(team_.line(rank(), number_).own_data());
    team_.post_level(number_, level);
  }
  void post_direct();
  bool has_posted(uint32_t rank) const { return team_.has_posted(rank, number_); }
  bool has_posted(uint32_t rank, uint32_t level) const {
    return team_.has_posted(rank, number_, level);
  }
  const Line& line(uint32_t rank) const { return team_.line(rank, number_); }
  // Memory until the operation ends, uninitialised. May throw std::bad_alloc.
  std::byte* new_scratch(size_t bytes) {
    scratch_ = std::make_unique_for_overwrite<std::byte[]>(bytes);
    return scratch_.get();
  }
  std::byte* scratch() const { return scratch_.get(); }
  void fail(int error) { what_.error = error; }

  Given given;        // where others find the member's buffers
  uint32_t next = 0;  // how far work() has come

 private:
  enum class State : uint8_t { kWaits, kWorks, kLeft, kComplete };

  bool begin();
  bool is_unused();
  std::byte* line_for(size_t bytes);

  Team& team_;
  nagaya_collective& what_;
  const Algorithm& algorithm_;
  const uint64_t number_;
  State state_ = State::kWaits;
  bool is_direct_ = false;
  uint32_t next_user_ = 0;
  Detachable detachable_;
  std::unique_ptr<std::byte[]> scratch_;
};

}  // namespace nagaya::coll

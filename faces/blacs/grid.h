// SPDX-License-Identifier: BSD-3-Clause
// grid.h - a context: processes in rows and columns. It uses no communicator.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "faces/blacs/system.h"
#include "faces/processes.h"
#include "nagaya/coll.h"
#include "nagaya/match.h"

namespace nagaya::blacs {

enum class Scope { kRow, kColumn, kAll };

class Grid {
 public:
  // Returns which process, by rank in the system handle, has the place {row, column}.
  using Map = std::function<Int(Int row, Int column)>;
  // Collective among the processes of the system handle. Returns nullptr if the caller is not in
  // the grid.
  static std::unique_ptr<Grid> make(Int handle, Int rows, Int columns, const Map& map);
  ~Grid();
  Grid(const Grid&) = delete;
  Grid& operator=(const Grid&) = delete;

  Int rows() const { return rows_; }
  Int columns() const { return columns_; }
  Int row() const { return own_ / columns_; }
  Int column() const { return own_ % columns_; }
  // The caller's number, row by row.
  Int own_number() const { return own_; }
  Int number_of(Int row, Int column) const { return row * columns_ + column; }
  nagaya_process process(Int number) const {
    nagaya_process process;
    nagaya_processes_at(processes_.get(), static_cast<uint32_t>(number), &process);
    return process;
  }

  // Ends the job with a line that names the call, and the caller's place.
  [[noreturn]] void refuse_call(const std::string& why) const;
  // Returns "{row,column}" of a process of the grid.
  std::string place_of(Int number) const;

  // ---- collectives of a scope

  Int size_of(Scope scope) const;
  // Returns the rank in the scope of its process at {row, column}.
  Int rank_in(Scope scope, Int row, Int column) const;
  // Whether all processes of the scope are tasks of the caller's node.
  bool is_in_one_node(Scope scope) const;
  // Returns the scope's team, which the first call opens. Ends the job if there is no memory.
  nagaya_team& team(Scope scope);
  // Return a fresh message id, of the scope or of a pair of processes. The BLACS interface requires
  // them; this implementation ignores them.
  Int next_id(Scope scope) { return ids_[static_cast<size_t>(scope)]++; }
  Int next_pair_id() { return pair_ids_++; }

  // ---- names of the grid for other libraries

  // Returns the Fortran handle of a communicator of the grid's processes, row by row. The first
  // call makes it, collectively; it ends with the grid. Precondition: there is an MPI.
  Int communicator();
  // System handle of the grid; unique in this process until 2^28 grids were made.
  Int handle() const { return handle_; }

  // ---- point-to-point messages

  // Return the number, from 1 on, of the next message to a process or from it.
  Int count_sent(Int to) { return next_message_number(sent_, to); }
  Int count_received(Int from) { return next_message_number(received_, from); }

  // The tag of data, which NAGAYA_ANY_TAG does not match. The tag of a `ready` is the number of the
  // message that it is for.
  static constexpr Int kDataTag = -2;
  nagaya_envelope envelope(Int source, Int tag) const {
    return {NAGAYA_CONTEXTS_BLACS | (number_ & (NAGAYA_CONTEXTS_BLACS / 2 - 1)), source, tag};
  }

  // Values that blacs_set() stores and blacs_get() returns; nothing else uses them.
  Int broadcast_rings = 1, broadcast_branches = 1, combine_rings = 1, combine_branches = 1;
  Int is_repeatable = 0, is_coherent = 0;

 private:
  Grid(uint32_t number, Int rows, Int columns, Int own);

  void set_ranks(System::Ranks ranks);
  static System::Members gather(Int handle);
  Int next_message_number(std::vector<Int>& numbers, Int process) const {
    if (numbers.empty()) numbers.resize(static_cast<size_t>(rows_ * columns_));
    Int& number = numbers[static_cast<size_t>(process)];
    return number = number == INT32_MAX ? 1 : number + 1;
  }
  System::Members gather();
  // Returns the number in the grid of a rank of the caller's scope.
  Int number_in(Scope scope, Int rank) const {
    return scope == Scope::kRow      ? number_of(row(), rank)
           : scope == Scope::kColumn ? number_of(rank, column())
                                     : rank;
  }

  const uint32_t number_;
  const Int rows_, columns_, own_;
  Processes processes_;  // row by row
  System::Ranks ranks_;  // of `processes_`
  Int communicator_ = 0;
  bool has_communicator_ = false;
  Int handle_;
  bool is_in_one_node_ = false;  // all processes of the grid
  nagaya_team* teams_[3] = {};
  Int ids_[3] = {}, pair_ids_ = 0;
  std::vector<Int> sent_, received_;  // last message number by process; empty: none yet
};

// System handles of grids. No communicator's Fortran handle is among them: Open MPI's are small,
// and MPICH's lie elsewhere.
constexpr Int kFirstHandle = 0x2000'0000, kHandles = 0x1000'0000;
inline bool is_grid_handle(Int handle) {
  return handle >= kFirstHandle && handle - kFirstHandle < kHandles;
}

// The contexts of the calling process. If there is no such context, find_grid() returns nullptr;
// the others end the job with a line that names the call.
Grid& grid_of(Int context);
Grid* find_grid(Int context);
Grid& grid_of_handle(Int handle);
Int add_grid(std::unique_ptr<Grid> grid);
void remove_grid(Int context);
void remove_all_grids();

// Ends the job if there is no such scope.
Scope scope_of(const char* letter);

}  // namespace nagaya::blacs

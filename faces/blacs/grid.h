// SPDX-License-Identifier: BSD-3-Clause
// grid.h - a context: processes in rows and columns. It uses no communicator.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "faces/blacs/system.h"
#include "nagaya/coll.h"
#include "nagaya/match.h"

namespace nagaya::blacs {

enum class Scope { kRow, kColumn, kAll };

class Grid {
 public:
  // Which of the system handle's processes is there.
  using Map = std::function<Int(Int row, Int column)>;
  // Collective among the processes of the system handle. nullptr: the caller is not in the grid.
  static std::unique_ptr<Grid> make(Int handle, Int rows, Int columns, const Map& map);
  ~Grid();
  Grid(const Grid&) = delete;
  Grid& operator=(const Grid&) = delete;

  Int rows() const { return rows_; }
  Int columns() const { return columns_; }
  Int row() const { return own_ / columns_; }
  Int column() const { return own_ % columns_; }
  // The caller's number, row by row.
  Int own() const { return own_; }
  Int number_of(Int row, Int column) const { return row * columns_ + column; }
  nagaya_process process(Int number) const { return processes_[static_cast<size_t>(number)]; }

  // ---- collectives of a scope

  Int size_of(Scope scope) const;
  // Of a process of the scope, among it.
  Int rank_in(Scope scope, Int row, Int column) const;
  // Its processes share a node's memory.
  bool is_in_one_node(Scope scope) const;
  // Opened at the first use. Ends the job if there is no memory.
  nagaya_team& team(Scope scope);
  // The n-th identifier of the scope that somebody has asked for: nobody needs them.
  Int next_id(Scope scope) { return ids_[static_cast<size_t>(scope)]++; }
  Int next_pair_id() { return pair_ids_++; }

  // ---- as others name it

  // A communicator of its processes, row by row, by Fortran's handle. The first call makes it, at
  // all of them; it ends with the grid. There is an MPI.
  Int communicator();
  // System handle of the grid; unique in this process until 2^28 grids were made.
  Int handle() const { return handle_; }

  // ---- messages of two

  // Numbers, from 1 on, the messages to a process and from it.
  Int count_sent(Int to) { return next_number(sent_, to); }
  Int count_received(Int from) { return next_number(received_, from); }

  // The tag of data, which NAGAYA_ANY_TAG does not mean; that of a `ready` is the message's number.
  static constexpr Int kData = -2;
  nagaya_envelope envelope(Int source, Int tag) const {
    return {NAGAYA_CONTEXTS_BLACS | (number_ & (NAGAYA_CONTEXTS_BLACS / 2 - 1)), source, tag};
  }

  // blacs_set() and blacs_get(): the caller's, who hears no more of them.
  Int broadcast_rings = 1, broadcast_branches = 1, combine_rings = 1, combine_branches = 1;
  Int is_repeatable = 0, is_coherent = 0;

 private:
  Grid(uint32_t number, Int rows, Int columns, Int own);

  void set_ranks(System::Ranks ranks);
  static System::Members gather(Int handle);
  Int next_number(std::vector<Int>& numbers, Int process) const {
    if (numbers.empty()) numbers.resize(processes_.size());
    Int& number = numbers[static_cast<size_t>(process)];
    return number = number == INT32_MAX ? 1 : number + 1;
  }
  System::Members gather();
  // Of the caller's scope, by rank.
  Int number_in(Scope scope, Int rank) const {
    return scope == Scope::kRow      ? number_of(row(), rank)
           : scope == Scope::kColumn ? number_of(rank, column())
                                     : rank;
  }

  const uint32_t number_;
  const Int rows_, columns_, own_;
  std::vector<nagaya_process> processes_;
  System::Ranks ranks_;  // of `processes_`
  Int communicator_ = 0;
  bool has_communicator_ = false;
  Int handle_;
  bool is_in_one_node_ = false;  // all of them
  nagaya_team* teams_[3] = {};
  Int ids_[3] = {}, pair_ids_ = 0;
  std::vector<Int> sent_, received_;  // by process; empty: none yet
};

// System handles of grids. Open MPI's communicators have small ones, MPICH's have others.
constexpr Int kFirstHandle = 0x2000'0000, kHandles = 0x1000'0000;
inline bool is_of_grid(Int handle) {
  return handle >= kFirstHandle && handle - kFirstHandle < kHandles;
}

// The calling process's contexts. Wrong ones end the job with a line that names `caller`.
Grid& grid_of(Int context, const char* caller);
Grid* find_grid(Int context);
Grid& grid_of_handle(Int handle, const char* caller);
Int add_grid(std::unique_ptr<Grid> grid);
void remove_grid(Int context);
void remove_all_grids();

Scope scope_of(const char* letter, const char* caller);

}  // namespace nagaya::blacs

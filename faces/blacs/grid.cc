// SPDX-License-Identifier: BSD-3-Clause
#include "faces/blacs/grid.h"

#include <algorithm>
#include <cstring>
#include <deque>
#include <numeric>
#include <string>

#include "faces/blacs/broadcast.h"
#include "faces/blacs/notice.h"
#include "faces/blacs/waiting.h"

namespace nagaya::blacs {
namespace {

std::vector<std::unique_ptr<Grid>>& grids() {
  static auto* const all = new std::vector<std::unique_ptr<Grid>>;
  return *all;
}

// Drops the arrived messages of a grid that ends. Its latest `ready` may still be in transit: the
// ends of the next grids drop that.
void drop_messages(uint32_t context) {
  constexpr size_t kEndedGrids = 8;
  static auto* const ended = new std::deque<uint32_t>;
  ended->push_back(context);
  if (ended->size() > kEndedGrids) ended->pop_front();
  for (const uint32_t one : *ended) nagaya_match_drop(one);
}

// Names another BLACS in which this process has made contexts, if there is one: the program calls
// that one by its address, and ScaLAPACK, or the program in another place, calls this one.
std::string describe_other_blacs() {
  const std::string file = file_of_other_blacs();
  if (file.empty()) return " (gridinit and gridmap make them)";
  return ": this process makes contexts in another BLACS, too, that of " + file +
         ", which is linked so that Nagaya's cannot take its place: run it without --blacs";
}

// Ends the job if there is no memory.
Processes processes_of(const std::vector<nagaya_process>& list, Int own) {
  Processes set;
  const int error = open_processes(list, static_cast<uint32_t>(own), set);
  if (error != 0)
    System::own().abort(1, "nagaya_processes_open() says " + std::string(strerrorname_np(-error)));
  return set;
}

}  // namespace

// Finds a number for a new grid: the greatest next_grid_number of the processes that make it. All
// of them get the same one, and no grid that exists at one of them has it.
System::Members Grid::gather() {
  System& system = System::own();
  nagaya_collective what = {};
  what.kind = NAGAYA_ALLREDUCE;
  what.send.base = &system.next_grid_number;
  System::Members members{{}, own_, 0, ranks_};
  for (Int number = 0; number < rows_ * columns_; ++number)
    members.processes.push_back(process(number));
  what.receive.base = &members.next_grid_number;
  what.elements.count = 1;
  what.elements.extent = sizeof(uint32_t);
  what.elements.commutes = 1;
  what.elements.reduce = [](void*, const void* in, void* inout, size_t) {
    auto* const greatest = static_cast<uint32_t*>(inout);
    *greatest = std::max(*greatest, *static_cast<const uint32_t*>(in));
  };
  if (const int error = run(team(Scope::kAll), what); error != 0)
    system.refuse_call(": " + std::string(strerrorname_np(-error)));
  return members;
}

System::Members Grid::gather(Int handle) {
  return is_grid_handle(handle) ? grid_of_handle(handle).gather() : System::own().gather(handle);
}

std::unique_ptr<Grid> Grid::make(Int handle, Int rows, Int columns, const Map& map) {
  const System::Members members = gather(handle);
  System::own().next_grid_number = members.next_grid_number + 1;
  const auto count = static_cast<Int>(members.processes.size());
  if (rows < 1 || columns < 1 || rows > count / columns)
    System::own().refuse_call(": no grid of " + std::to_string(rows) + " x " +
                              std::to_string(columns) + " from " + std::to_string(count) +
                              " processes");
  std::vector<nagaya_process> processes;
  System::Ranks ranks{members.ranks.communicator, {}};
  std::vector<bool> is_taken(members.processes.size());
  Int own = -1;
  for (Int row = 0; row < rows; ++row)
    for (Int column = 0; column < columns; ++column) {
      const Int process = map(row, column);
      if (process < 0 || process >= count)
        System::own().refuse_call(": there is no process " + std::to_string(process) + " of " +
                                  std::to_string(count));
      if (is_taken[static_cast<size_t>(process)])
        System::own().refuse_call(": process " + std::to_string(process) +
                                  " is in the grid more than once");
      is_taken[static_cast<size_t>(process)] = true;
      if (process == members.own) own = row * columns + column;
      processes.push_back(members.processes[static_cast<size_t>(process)]);
      ranks.ranks.push_back(members.ranks.ranks[static_cast<size_t>(process)]);
    }
  if (own < 0) return nullptr;
  std::unique_ptr<Grid> grid(new Grid(members.next_grid_number, rows, columns, own));
  grid->processes_ = processes_of(processes, own);
  grid->set_ranks(std::move(ranks));
  grid->is_in_one_node_ = grid->is_in_one_node(Scope::kAll);
  return grid;
}

// Handles wrap after 2^28 grids: then a new one may equal that of a grid that has existed since.
Grid::Grid(uint32_t number, Int rows, Int columns, Int own)
    : number_(number), rows_(rows), columns_(columns), own_(own) {
  static uint32_t grids_made = 0;
  handle_ = kFirstHandle + static_cast<Int>(grids_made++ % kHandles);
}

// Makes the grid's communicator at once, unless its processes are ranks of the world: the program
// may free any other communicator.
void Grid::set_ranks(System::Ranks ranks) {
  ranks_ = std::move(ranks);
  if (System::own().mpi() == nullptr || ranks_.communicator == System::own().world()) return;
  ranks_.communicator = communicator();
  std::iota(ranks_.ranks.begin(), ranks_.ranks.end(), 0);
}

Int Grid::communicator() {
  if (!has_communicator_) communicator_ = System::own().new_communicator(ranks_, number_);
  has_communicator_ = true;
  return communicator_;
}

Grid::~Grid() {
  for (nagaya_team* const team : teams_)
    if (team != nullptr) close_team(team);
  if (has_communicator_) System::own().free_communicator(communicator_);
  drop_messages(envelope(own_, kDataTag).context);
}

std::string Grid::place_of(Int number) const {
  return "{" + std::to_string(number / columns_) + "," + std::to_string(number % columns_) + "}";
}

void Grid::refuse_call(const std::string& why) const {
  System::own().refuse_call(" at " + place_of(own_) + ": " + why);
}

Int Grid::size_of(Scope scope) const {
  return scope == Scope::kRow ? columns_ : scope == Scope::kColumn ? rows_ : rows_ * columns_;
}

Int Grid::rank_in(Scope scope, Int row, Int column) const {
  return scope == Scope::kRow ? column : scope == Scope::kColumn ? row : number_of(row, column);
}

bool Grid::is_in_one_node(Scope scope) const {
  if (is_in_one_node_) return true;
  return nagaya_processes_are_here(processes_.get(), static_cast<uint32_t>(number_in(scope, 0)),
                                   static_cast<uint32_t>(size_of(scope)),
                                   scope == Scope::kColumn ? static_cast<uint32_t>(columns_) : 1) ==
         1;
}

nagaya_team& Grid::team(Scope scope) {
  const auto n = static_cast<size_t>(scope);
  if (teams_[n] != nullptr) return *teams_[n];
  std::vector<nagaya_process> members;
  for (Int rank = 0; rank < size_of(scope); ++rank)
    members.push_back(process(number_in(scope, rank)));
  const uint64_t context = NAGAYA_TEAMS_BLACS | uint64_t{number_} << 2 | n;
  const Processes set = processes_of(members, rank_in(scope, row(), column()));
  const int error = nagaya_coll_open(context, set.get(), System::own().has_threads(), &teams_[n]);
  if (error != 0)
    System::own().abort(1, "nagaya_coll_open() says " + std::string(strerrorname_np(-error)));
  return *teams_[n];
}

// ---- contexts -----------------------------------------------------------------------------------

Grid* find_grid(Int context) {
  const bool exists = context >= 0 && static_cast<size_t>(context) < grids().size();
  return exists ? grids()[static_cast<size_t>(context)].get() : nullptr;
}

Grid& grid_of(Int context) {
  Grid* const grid = find_grid(context);
  if (grid == nullptr)
    System::own().refuse_call(": there is no context " + std::to_string(context) +
                              describe_other_blacs());
  return *grid;
}

Grid& grid_of_handle(Int handle) {
  for (const auto& grid : grids())
    if (grid != nullptr && grid->handle() == handle) return *grid;
  System::own().refuse_call(": the context of the system handle does not exist any more");
}

Int add_grid(std::unique_ptr<Grid> grid) {
  size_t n = 0;
  while (n < grids().size() && grids()[n] != nullptr) ++n;
  if (n == grids().size()) grids().emplace_back();
  grids()[n] = std::move(grid);
  return static_cast<Int>(n);
}

void remove_grid(Int context) {
  grids()[static_cast<size_t>(context)].reset();
}

void remove_all_grids() {
  grids().clear();
}

Scope scope_of(const char* letter) {
  switch (*letter | 0x20) {
    case 'r':
      return Scope::kRow;
    case 'c':
      return Scope::kColumn;
    case 'a':
      return Scope::kAll;
  }
  System::own().refuse_call(std::string(": scope '") + *letter + "' is none of row, column, all");
}

}  // namespace nagaya::blacs

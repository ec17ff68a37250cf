// SPDX-License-Identifier: BSD-3-Clause
// environment.cc - the BLACS's functions for processes, contexts and their settings.
#include <ctime>

#include "faces/blacs/broadcast.h"
#include "faces/blacs/entry_points.h"
#include "faces/blacs/grid.h"
#include "faces/blacs/point_to_point.h"

using nagaya::blacs::add_grid;
using nagaya::blacs::find_grid;
using nagaya::blacs::Grid;
using nagaya::blacs::grid_of;
using nagaya::blacs::Int;
using nagaya::blacs::System;
using nagaya::blacs::warn;

namespace {

// The values of `what` in blacs_get() and blacs_set().
enum What {
  kSystemHandle = 0,
  kMessageIds = 1,
  kDebugLevel = 2,
  kHandleOfContext = 10,
  kBroadcastRings = 11,
  kBroadcastBranches = 12,
  kCombineRings = 13,
  kCombineBranches = 14,
  kRepeatable = 15,
  kCoherent = 16
};

// Returns nullptr if there is no such setting.
Int* setting_of(Int context, Int what, const char* caller) {
  if (what < kBroadcastRings || what > kCoherent) return nullptr;
  Grid& grid = grid_of(context, caller);
  Int* const settings[] = {&grid.broadcast_rings,  &grid.broadcast_branches, &grid.combine_rings,
                           &grid.combine_branches, &grid.is_repeatable,      &grid.is_coherent};
  return settings[what - kBroadcastRings];
}

// `is_fortran`: the program uses the handle of a context as a communicator's. A C program asks for
// the communicator by Cblacs2sys_handle().
void get(Int context, Int what, Int* value, bool is_fortran) {
  switch (what) {
    case kSystemHandle:
      *value = System::own().world();
      return;
    case kMessageIds:
      value[0] = 0, value[1] = 0x7fff'ffff;
      return;
    case kDebugLevel:
      *value = 0;
      return;
    case kHandleOfContext: {
      Grid& grid = grid_of(context, "blacs_get");
      const bool is_communicator = is_fortran && System::own().mpi() != nullptr;
      *value = is_communicator ? grid.communicator() : grid.handle();
      return;
    }
  }
  const Int* const setting = setting_of(context, what, "blacs_get");
  if (setting != nullptr)
    *value = *setting;
  else
    warn("blacs_get: there is nothing with number " + std::to_string(what));
}

void set(Int context, Int what, const Int* value) {
  Int* const setting = setting_of(context, what, "blacs_set");
  const bool is_number_of_branches = what == kBroadcastBranches || what == kCombineBranches;
  const bool is_number_of_rings = what == kBroadcastRings || what == kCombineRings;
  if (setting == nullptr)
    warn("blacs_set: number " + std::to_string(what) + " cannot be set (11 to 16 can)");
  else if ((is_number_of_branches && *value < 1) || (is_number_of_rings && *value == 0))
    warn("blacs_set: " + std::to_string(*value) + " is no number of rings or branches");
  else
    *setting = *value;
}

void make_grid(Int* context, Int rows, Int columns, const Grid::Map& map) {
  auto grid = Grid::make(*context, rows, columns, map);
  *context = grid == nullptr ? -1 : add_grid(std::move(grid));
}

// `map` is stored by columns, `ld` items from one to the next.
void make_grid_by_map(Int* context, const Int* map, Int ld, Int rows, Int columns) {
  make_grid(context, rows, columns,
            [=](Int row, Int column) { return map[static_cast<ptrdiff_t>(column) * ld + row]; });
}

void make_grid_in_order(Int* context, const char* order, Int rows, Int columns) {
  const bool is_by_columns = (*order | 0x20) == 'c';
  make_grid(context, rows, columns, [=](Int row, Int column) {
    return is_by_columns ? column * rows + row : row * columns + column;
  });
}

void get_grid_info(Int context, Int* rows, Int* columns, Int* row, Int* column) {
  const Grid* const grid = find_grid(context);
  *rows = grid != nullptr ? grid->rows() : -1;
  *columns = grid != nullptr ? grid->columns() : -1;
  *row = grid != nullptr ? grid->row() : -1;
  *column = grid != nullptr ? grid->column() : -1;
}

Int number_of(Int context, Int row, Int column) {
  const Grid& grid = grid_of(context, "blacs_pnum");
  const bool exists = row >= 0 && row < grid.rows() && column >= 0 && column < grid.columns();
  return exists ? grid.number_of(row, column) : -1;
}

void coordinates_of(Int context, Int number, Int* row, Int* column) {
  const Grid& grid = grid_of(context, "blacs_pcoord");
  const bool exists = number >= 0 && number < grid.rows() * grid.columns();
  *row = exists ? number / grid.columns() : -1;
  *column = exists ? number % grid.columns() : -1;
}

void exit_grid(Int context) {
  grid_of(context, "blacs_gridexit");
  nagaya::blacs::remove_grid(context);
}

// Waits until all messages that the process has sent are received.
void exit_all(Int goes_on) {
  nagaya::blacs::remove_all_grids();
  nagaya::blacs::await_sends();
  nagaya::blacs::await_closes();
  if (goes_on == 0) System::own().finalize();
}

void end_job(Int context, Int error) {
  Int rows, columns, row, column;
  get_grid_info(context, &rows, &columns, &row, &column);
  System::own().abort(error, "blacs_abort: {" + std::to_string(row) + "," + std::to_string(column) +
                                 "} of context " + std::to_string(context) +
                                 " ends the job with error " + std::to_string(error));
}

void get_process_info(Int* number, Int* count) {
  *number = System::own().rank();
  *count = System::own().size();
}

nagaya::blacs::Scope scope(const char* letter, const char* caller) {
  return nagaya::blacs::scope_of(letter, caller);
}

Int next_id(Int context, const char* letter, const char* caller) {
  return grid_of(context, caller).next_id(scope(letter, caller));
}

void free_buffers(Int waits) {
  if (waits != 0) nagaya::blacs::await_sends();
}

// Returns the Fortran handle of a system handle's communicator. Precondition: there is an MPI.
Int communicator(Int handle) {
  return nagaya::blacs::is_grid_handle(handle)
             ? nagaya::blacs::grid_of_handle(handle, "blacs2sys_handle").communicator()
             : System::own().communicator_of(handle);
}

double wall_time() {
  timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

}  // namespace

#define ENTRY NAGAYA_BLACS_ENTRY

ENTRY(void, Cblacs_pinfo, (Int * number, Int* count), (number, count)) {
  get_process_info(number, count);
}
ENTRY(void, blacs_pinfo_, (Int * number, Int* count), (number, count)) {
  get_process_info(number, count);
}
ENTRY(void, Cblacs_setup, (Int * number, Int* count), (number, count)) {
  get_process_info(number, count);
}
ENTRY(void, blacs_setup_, (Int * number, Int* count), (number, count)) {
  get_process_info(number, count);
}

ENTRY(void, Cblacs_get, (Int context, Int what, Int* value), (context, what, value)) {
  get(context, what, value, false);
}
ENTRY(void, blacs_get_, (Int * context, Int* what, Int* value), (context, what, value)) {
  get(*context, *what, value, true);
}
ENTRY(void, Cblacs_set, (Int context, Int what, Int* value), (context, what, value)) {
  set(context, what, value);
}
ENTRY(void, blacs_set_, (Int * context, Int* what, Int* value), (context, what, value)) {
  set(*context, *what, value);
}

ENTRY(void, Cblacs_gridinit, (Int * context, char* order, Int rows, Int columns),
      (context, order, rows, columns)) {
  make_grid_in_order(context, order, rows, columns);
}
ENTRY(void, blacs_gridinit_, (Int * context, char* order, Int* rows, Int* columns),
      (context, order, rows, columns)) {
  make_grid_in_order(context, order, *rows, *columns);
}
ENTRY(void, Cblacs_gridmap, (Int * context, Int* map, Int ld, Int rows, Int columns),
      (context, map, ld, rows, columns)) {
  make_grid_by_map(context, map, ld, rows, columns);
}
ENTRY(void, blacs_gridmap_, (Int * context, Int* map, Int* ld, Int* rows, Int* columns),
      (context, map, ld, rows, columns)) {
  make_grid_by_map(context, map, *ld, *rows, *columns);
}
ENTRY(void, Cblacs_gridinfo, (Int context, Int* rows, Int* columns, Int* row, Int* column),
      (context, rows, columns, row, column)) {
  get_grid_info(context, rows, columns, row, column);
}
ENTRY(void, blacs_gridinfo_, (Int * context, Int* rows, Int* columns, Int* row, Int* column),
      (context, rows, columns, row, column)) {
  get_grid_info(*context, rows, columns, row, column);
}
ENTRY(void, Cblacs_gridexit, (Int context), (context)) {
  exit_grid(context);
}
ENTRY(void, blacs_gridexit_, (Int * context), (context)) {
  exit_grid(*context);
}

ENTRY(Int, Cblacs_pnum, (Int context, Int row, Int column), (context, row, column)) {
  return number_of(context, row, column);
}
ENTRY(Int, blacs_pnum_, (Int * context, Int* row, Int* column), (context, row, column)) {
  return number_of(*context, *row, *column);
}
ENTRY(void, Cblacs_pcoord, (Int context, Int number, Int* row, Int* column),
      (context, number, row, column)) {
  coordinates_of(context, number, row, column);
}
ENTRY(void, blacs_pcoord_, (Int * context, Int* number, Int* row, Int* column),
      (context, number, row, column)) {
  coordinates_of(*context, *number, row, column);
}

ENTRY(void, Cblacs_barrier, (Int context, char* letter), (context, letter)) {
  nagaya::blacs::barrier(grid_of(context, "blacs_barrier"), scope(letter, "blacs_barrier"));
}
ENTRY(void, blacs_barrier_, (Int * context, char* letter), (context, letter)) {
  nagaya::blacs::barrier(grid_of(*context, "blacs_barrier"), scope(letter, "blacs_barrier"));
}
ENTRY(void, Cblacs_freebuff, (Int context, Int waits), (context, waits)) {
  static_cast<void>(context);
  free_buffers(waits);
}
ENTRY(void, blacs_freebuff_, (Int * context, Int* waits), (context, waits)) {
  static_cast<void>(context);
  free_buffers(*waits);
}
ENTRY(void, Cblacs_abort, (Int context, Int error), (context, error)) {
  end_job(context, error);
}
ENTRY(void, blacs_abort_, (Int * context, Int* error), (context, error)) {
  end_job(*context, *error);
}
ENTRY(void, Cblacs_exit, (Int goes_on), (goes_on)) {
  exit_all(goes_on);
}
ENTRY(void, blacs_exit_, (Int * goes_on), (goes_on)) {
  exit_all(*goes_on);
}

ENTRY(Int, Csys2blacs_handle, (uintptr_t comm), (comm)) {
  const nagaya_blacs_mpi* const mpi = System::own().mpi();
  return mpi != nullptr ? mpi->from_c(comm) : 0;
}
ENTRY(Int, sys2blacs_handle_, (Int * comm), (comm)) {
  return *comm;
}
ENTRY(uintptr_t, Cblacs2sys_handle, (Int handle), (handle)) {
  const nagaya_blacs_mpi* const mpi = System::own().mpi();
  return mpi != nullptr ? mpi->to_c(communicator(handle)) : 0;
}
ENTRY(Int, blacs2sys_handle_, (Int * handle), (handle)) {
  return System::own().mpi() != nullptr ? communicator(*handle) : *handle;
}
ENTRY(void, Cfree_blacs_system_handle, (Int handle), (handle)) {
  static_cast<void>(handle);
}
ENTRY(void, free_blacs_system_handle_, (Int * handle), (handle)) {
  static_cast<void>(handle);
}

ENTRY(Int, Cksendid, (Int context, Int row, Int column), (context, row, column)) {
  static_cast<void>(row), static_cast<void>(column);
  return grid_of(context, "ksendid").next_pair_id();
}
ENTRY(Int, ksendid_, (Int * context, Int* row, Int* column), (context, row, column)) {
  static_cast<void>(row), static_cast<void>(column);
  return grid_of(*context, "ksendid").next_pair_id();
}
ENTRY(Int, Ckrecvid, (Int context, Int row, Int column), (context, row, column)) {
  static_cast<void>(row), static_cast<void>(column);
  return grid_of(context, "krecvid").next_pair_id();
}
ENTRY(Int, krecvid_, (Int * context, Int* row, Int* column), (context, row, column)) {
  static_cast<void>(row), static_cast<void>(column);
  return grid_of(*context, "krecvid").next_pair_id();
}
ENTRY(Int, Ckbsid, (Int context, char* letter), (context, letter)) {
  return next_id(context, letter, "kbsid");
}
ENTRY(Int, kbsid_, (Int * context, char* letter), (context, letter)) {
  return next_id(*context, letter, "kbsid");
}
ENTRY(Int, Ckbrid, (Int context, char* letter, Int row, Int column),
      (context, letter, row, column)) {
  static_cast<void>(row), static_cast<void>(column);
  return next_id(context, letter, "kbrid");
}
ENTRY(Int, kbrid_, (Int * context, char* letter, Int* row, Int* column),
      (context, letter, row, column)) {
  static_cast<void>(row), static_cast<void>(column);
  return next_id(*context, letter, "kbrid");
}

// Processor time: -1, unknown, as with the reference BLACS.
ENTRY(double, Cdcputime00, (), ()) {
  return -1;
}
ENTRY(double, dcputime00_, (), ()) {
  return -1;
}
ENTRY(double, Cdwalltime00, (), ()) {
  return wall_time();
}
ENTRY(double, dwalltime00_, (), ()) {
  return wall_time();
}

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
using nagaya::blacs::scope_of;
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
Int* setting_of(Int context, Int what) {
  if (what < kBroadcastRings || what > kCoherent) return nullptr;
  Grid& grid = grid_of(context);
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
      Grid& grid = grid_of(context);
      const bool is_communicator = is_fortran && System::own().mpi() != nullptr;
      *value = is_communicator ? grid.communicator() : grid.handle();
      return;
    }
  }
  const Int* const setting = setting_of(context, what);
  if (setting != nullptr)
    *value = *setting;
  else
    warn("blacs_get: there is nothing with number " + std::to_string(what));
}

void set(Int context, Int what, const Int* value) {
  Int* const setting = setting_of(context, what);
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
  const Grid& grid = grid_of(context);
  const bool exists = row >= 0 && row < grid.rows() && column >= 0 && column < grid.columns();
  return exists ? grid.number_of(row, column) : -1;
}

void coordinates_of(Int context, Int number, Int* row, Int* column) {
  const Grid& grid = grid_of(context);
  const bool exists = number >= 0 && number < grid.rows() * grid.columns();
  *row = exists ? number / grid.columns() : -1;
  *column = exists ? number % grid.columns() : -1;
}

void exit_grid(Int context) {
  grid_of(context);
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

Int next_id(Int context, const char* letter) {
  return grid_of(context).next_id(scope_of(letter));
}

void free_buffers(Int waits) {
  if (waits != 0) nagaya::blacs::await_sends();
}

// Returns the Fortran handle of a system handle's communicator. Precondition: there is an MPI.
Int communicator(Int handle) {
  return nagaya::blacs::is_grid_handle(handle)
             ? nagaya::blacs::grid_of_handle(handle).communicator()
             : System::own().communicator_of(handle);
}

double wall_time() {
  timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

}  // namespace

#define ENTRY NAGAYA_BLACS_ENTRY
#define ENTRIES(result, name, PARAMETERS) NAGAYA_BLACS_ENTRIES(result, name, PARAMETERS, void)

// ---- the functions' parameters (entry_points.h) -------------------------------------------------

#define PROCESS_INFO(I, P, S, M) (P number, P count)
#define SETTING(I, P, S, M) (I context, I what, P value)
#define GRID_IN_ORDER(I, P, S, M) (P context, S order, I rows, I columns)
#define GRID_BY_MAP(I, P, S, M) (P context, P map, I ld, I rows, I columns)
#define GRID_INFO(I, P, S, M) (I context, P rows, P columns, P row, P column)
#define CONTEXT(I, P, S, M) (I context)
#define NUMBER(I, P, S, M) (I number)
#define COORDINATES(I, P, S, M) (I context, I row, I column)
#define PROCESS(I, P, S, M) (I context, I number, P row, P column)
#define SCOPE(I, P, S, M) (I context, S letter)
#define ROOT(I, P, S, M) (I context, S letter, I row, I column)
#define CONTEXT_AND_NUMBER(I, P, S, M) (I context, I number)

// ---- the functions ------------------------------------------------------------------------------

ENTRIES(void, blacs_pinfo, PROCESS_INFO) {
  get_process_info(number, count);
}
ENTRIES(void, blacs_setup, PROCESS_INFO) {
  get_process_info(number, count);
}

ENTRIES(void, blacs_get, SETTING) {
  constexpr bool kIsFortran = std::is_same_v<I, nagaya::blacs::ByAddress>;
  get(context, what, value, kIsFortran);
}
ENTRIES(void, blacs_set, SETTING) {
  set(context, what, value);
}

ENTRIES(void, blacs_gridinit, GRID_IN_ORDER) {
  make_grid_in_order(context, order, rows, columns);
}
ENTRIES(void, blacs_gridmap, GRID_BY_MAP) {
  make_grid_by_map(context, map, ld, rows, columns);
}
ENTRIES(void, blacs_gridinfo, GRID_INFO) {
  get_grid_info(context, rows, columns, row, column);
}
ENTRIES(void, blacs_gridexit, CONTEXT) {
  exit_grid(context);
}

ENTRIES(Int, blacs_pnum, COORDINATES) {
  return number_of(context, row, column);
}
ENTRIES(void, blacs_pcoord, PROCESS) {
  coordinates_of(context, number, row, column);
}

ENTRIES(void, blacs_barrier, SCOPE) {
  nagaya::blacs::barrier(grid_of(context), scope_of(letter));
}
ENTRIES(void, blacs_freebuff, CONTEXT_AND_NUMBER) {
  static_cast<void>(context);
  free_buffers(number);
}
ENTRIES(void, blacs_abort, CONTEXT_AND_NUMBER) {
  end_job(context, number);
}
ENTRIES(void, blacs_exit, NUMBER) {
  exit_all(number);
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
ENTRIES(void, free_blacs_system_handle, NUMBER) {
  static_cast<void>(number);
}

ENTRIES(Int, ksendid, COORDINATES) {
  static_cast<void>(row), static_cast<void>(column);
  return grid_of(context).next_pair_id();
}
ENTRIES(Int, krecvid, COORDINATES) {
  static_cast<void>(row), static_cast<void>(column);
  return grid_of(context).next_pair_id();
}
ENTRIES(Int, kbsid, SCOPE) {
  return next_id(context, letter);
}
ENTRIES(Int, kbrid, ROOT) {
  static_cast<void>(row), static_cast<void>(column);
  return next_id(context, letter);
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

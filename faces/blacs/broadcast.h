// SPDX-License-Identifier: BSD-3-Clause
// broadcast.h - broadcasts, barriers and allgathers among the processes of a scope.
#pragma once

#include <vector>

#include "faces/blacs/grid.h"
#include "faces/blacs/layout.h"

namespace nagaya::blacs {

// Broadcasts the caller's matrix, which the other processes read. The caller waits for them as long
// as a copy takes, then makes a copy for those that have not begun, and returns.
void broadcast(Grid& grid, Scope scope, const Layout& layout);
// Receives a broadcast of `root`, a rank of the scope. Calls broadcast() if that is the caller.
void receive_broadcast(Grid& grid, Scope scope, Int root, const Layout& layout);
void barrier(Grid& grid, Scope scope);

void allgather(Grid& grid, Scope scope, const void* own, size_t bytes, void* all);
// Gathers one value of each process of the scope. Returns all of them, by rank.
template <class T>
std::vector<T> allgather_value(Grid& grid, Scope scope, const T& own) {
  std::vector<T> all(static_cast<size_t>(grid.size_of(scope)));
  allgather(grid, scope, &own, sizeof own, all.data());
  return all;
}

// Closes the team at once if all of its broadcasts have been received; else a later close_team() or
// await_closes() does.
void close_team(nagaya_team* team);
// Returns when all teams that close_team() was called for are closed.
void await_closes();

}  // namespace nagaya::blacs

// SPDX-License-Identifier: BSD-3-Clause
// broadcast.h - broadcasts, barriers and the values that all processes of a scope tell each other.
#pragma once

#include <vector>

#include "faces/blacs/grid.h"
#include "faces/blacs/layout.h"

namespace nagaya::blacs {

// The others read the matrix. The root waits for them as long as a copy takes, then leaves a copy
// to those that have not begun, and goes on.
void broadcast(Grid& grid, Scope scope, const Layout& layout);
// Receives a broadcast of `root` of the scope. As broadcast(), if that is the caller.
void receive_broadcast(Grid& grid, Scope scope, Int root, const Layout& layout);
void barrier(Grid& grid, Scope scope);

void allgather(Grid& grid, Scope scope, const void* own, size_t bytes, void* all);
// The values that all processes of the scope tell each other, by rank.
template <class T>
std::vector<T> tell_all(Grid& grid, Scope scope, const T& own) {
  std::vector<T> all(static_cast<size_t>(grid.size_of(scope)));
  allgather(grid, scope, &own, sizeof own, all.data());
  return all;
}

// Now, if all of its broadcasts have been received; else later.
void close_team(nagaya_team* team);
// Returns when all of those are closed.
void await_closes();

}  // namespace nagaya::blacs

// SPDX-License-Identifier: BSD-3-Clause
#include "faces/blacs/broadcast.h"

#include <errno.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "faces/blacs/waiting.h"

namespace nagaya::blacs {
namespace {

// A broadcast that nobody waits for, from memory of its own.
struct Copy {
  nagaya_collective what = {};
  std::unique_ptr<std::byte[]> data;
};

// A matrix with gaps, and how many bytes were sent to it.
struct Unpacked {
  const Layout& layout;
  size_t sent_bytes;
};

void check(int error, const char* what) {
  if (error == 0) return;
  System::own().abort(1, std::string(what) + ": " +
                             (error == -EMSGSIZE ? "what was sent is longer than the matrix"
                                                 : strerrorname_np(-error)));
}

// Of grids that exist no more.
std::vector<nagaya_team*> to_close;

void close_idle() {
  std::erase_if(to_close, [](nagaya_team* team) { return nagaya_coll_close(team) != -EBUSY; });
}

}  // namespace

void broadcast(Grid& grid, Scope scope, const Layout& layout) {
  if (grid.size_of(scope) == 1) return;
  auto* const copy = new Copy;
  copy->data = std::make_unique_for_overwrite<std::byte[]>(layout.bytes());
  layout.pack(copy->data.get());
  copy->what.kind = NAGAYA_BCAST;
  copy->what.root = static_cast<uint32_t>(grid.rank_in(scope, grid.row(), grid.column()));
  copy->what.send.base = copy->data.get();
  copy->what.send.bytes = layout.bytes();
  copy->what.complete = [](nagaya_collective* what) {
    check(what->error, "a broadcast");
    delete reinterpret_cast<Copy*>(what);
  };
  check(nagaya_coll_start(&grid.team(scope), &copy->what), "a broadcast");
}

void receive_broadcast(Grid& grid, Scope scope, Int root, const Layout& layout) {
  if (root == grid.rank_in(scope, grid.row(), grid.column())) return broadcast(grid, scope, layout);
  nagaya_collective what = {};
  Unpacked unpacked = {layout, 0};
  what.kind = NAGAYA_BCAST;
  what.root = static_cast<uint32_t>(root);
  what.receive.base = layout.data();
  what.receive.bytes = layout.bytes();
  if (!layout.is_one_run()) {
    what.store = [](void* context, uint32_t, const void* data, size_t bytes) {
      auto* const into = static_cast<Unpacked*>(context);
      into->sent_bytes = bytes;
      into->layout.unpack(data, std::min(bytes, into->layout.bytes()));
    };
    what.store_context = &unpacked;
  }
  check(nagaya_coll_run(&grid.team(scope), &what), "the receipt of a broadcast");
  if (unpacked.sent_bytes > layout.bytes()) check(-EMSGSIZE, "the receipt of a broadcast");
}

void barrier(Grid& grid, Scope scope) {
  nagaya_collective what = {};
  what.kind = NAGAYA_BARRIER;
  check(nagaya_coll_run(&grid.team(scope), &what), "a barrier");
}

void close_team(nagaya_team* team) {
  to_close.push_back(team);
  close_idle();
}

void await_closes() {
  wait([] {
    close_idle();
    return to_close.empty();
  });
}

}  // namespace nagaya::blacs

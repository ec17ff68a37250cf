// SPDX-License-Identifier: BSD-3-Clause
// areas.h - a process's matching areas: its own, and those of the others on its node.
#pragma once

#include <span>
#include <vector>

#include "area/cell.h"
#include "area/spool.h"
#include "llcl/group.h"
#include "llcl/process_set.h"
#include "llcl/wait.h"
#include "task/space/spin_lock.h"

namespace nagaya::area {

class Areas;

// Those that a task has opened, and which every wait of the task moves.
class OpenAreas {
 public:
  // Of the calling task. May throw std::bad_alloc.
  static OpenAreas& own(llcl::Wait& waits);

  // Returns 0, -ENOSPC. May throw std::bad_alloc.
  int add(Areas& areas);
  // No thread looks at it any more.
  void remove(Areas& areas);
  // Moves all sends that wait for a header. How many are complete now. Any thread.
  int advance();

  task::SpinLock lock;  // of the sends of all of them, too

 private:
  explicit OpenAreas(llcl::Wait& waits) : waits_(waits) {}

  llcl::Wait& waits_;
  bool is_in_waits_ = false;
  std::vector<Areas*> all_;
  std::atomic<uint32_t> count_ = 0;  // of them
};

class Areas {
 public:
  // May throw std::bad_alloc.
  Areas(nagaya_area_cell* cells, uint64_t* flags, uint32_t count,
        std::span<const nagaya_process> processes, uint32_t rank, uint32_t number,
        llcl::Wait& waits);
  ~Areas();
  Areas(const Areas&) = delete;
  Areas& operator=(const Areas&) = delete;

  // Returns 0, -ENOMEM, -ENOSPC. May throw std::bad_alloc.
  int open(llcl::Board& board, task::TaskRecord& self);
  bool is_idle();

  // Whether the process has opened, as a receive from it needs.
  bool is_open(uint32_t rank) const { return !is_here(rank) || part_of(rank) != nullptr; }

  int start(nagaya_area_send& send);
  int start(nagaya_area_receive& receive);
  // Complete until it is started.
  static void prepare(nagaya_area_send& send);
  // The same. Its cell is its own until release().
  int prepare(nagaya_area_receive& receive);
  int start_prepared(nagaya_area_receive& receive);
  int start_prepared(nagaya_area_send& send);
  int release(nagaya_area_receive& receive);
  // Sends, if the header is there and no message waits for it; between nodes: if that needs no
  // waiting. Else nothing happens.
  bool try_now(nagaya_area_send& send);
  bool is_complete(nagaya_area_send& send);
  bool is_complete(nagaya_area_receive& receive);
  int cancel(nagaya_area_receive& receive);

  // As Spool::set.
  bool set_spool(void* memory, size_t bytes, uint64_t patience_us);
  const Spool& spool() const { return spool_; }
  // Sends from a copy in the spool. Returns 0, -ENOBUFS. May throw std::bad_alloc.
  int send_from_spool(const nagaya_area_send& send);
  bool exists(uint32_t rank, uint32_t index) const {
    return rank < processes_.size() && index < count_;
  }
  // Moves all sends that wait for a header, and messages between nodes before. Any thread.
  void progress();
  uint32_t spooled();
  // Of a message that was sent from the spool, the first since the last call; 0: none.
  int take_spool_error();

 private:
  // A process tells the others of its node where its memory is; it stores `cells` last.
  struct Part {
    uint64_t* flags;
    std::atomic<nagaya_area_cell*> cells;
  };

  bool is_here(uint32_t rank) const { return processes_.is_here(rank); }
  uint32_t index_here(uint32_t rank) const { return processes_.nodes().index_of(rank); }
  const Part* part_of(uint32_t rank) const;
  Cell& own_cell(uint32_t index) const { return *reinterpret_cast<Cell*>(&cells_[index]); }
  Cell& cell_of(uint32_t rank, uint32_t index) const;
  // The following under the lock.
  bool try_send(nagaya_area_send& send);
  bool try_finish(nagaya_area_send& send);
  bool is_awaited_before(const nagaya_area_send& send, uint64_t state) const;
  friend class OpenAreas;
  int advance();
  void copy(const Cell& cell, const nagaya_area_send& send, size_t bytes);
  static void begin(nagaya_area_receive& receive);
  static bool write_header(Cell& cell, const nagaya_area_receive& receive, uint64_t idle);
  void post(Cell& cell, const nagaya_area_receive& receive);
  int start_message(nagaya_area_send& send);
  int start_message(nagaya_area_receive& receive);
  nagaya_envelope envelope(uint32_t source, uint32_t index) const {
    return {context_, static_cast<int32_t>(source), static_cast<int32_t>(index)};
  }
  void add(nagaya_area_send& send);

  nagaya_area_cell* const cells_;
  uint64_t* const flags_;
  const uint32_t count_;
  const llcl::ProcessSet processes_;
  const uint32_t context_;
  OpenAreas& open_;
  llcl::Group group_;
  uint32_t spooled_ = 0;
  int spool_error_ = 0;
  nagaya_area_send *first_ = nullptr, **last_ = &first_;  // that wait for a header
  Spool spool_;
};

}  // namespace nagaya::area

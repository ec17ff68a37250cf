// SPDX-License-Identifier: BSD-3-Clause
// areas.h - a process's matching areas: its own, and those of the others on its node.
#pragma once

#include <memory>
#include <vector>

#include "area/cell.h"
#include "area/spool.h"
#include "llcl/board/group.h"
#include "llcl/requests/pending_work.h"
#include "match/contexts.h"
#include "processes/process_set.h"

namespace nagaya::area {

class Areas;

// The areas that a task has opened. Every wait of the task advances their sends.
class OpenAreas : public llcl::PendingWork<OpenAreas> {
 public:
  // Returns 0, -ENOSPC. May throw std::bad_alloc.
  int add(Areas& areas);
  // When this returns, no wait uses `areas` any more.
  void remove(Areas& areas);
  // Tries all sends that wait for a header, unless another thread does so. Returns how many have
  // completed.
  int advance();

 private:
  friend PendingWork;
  using PendingWork::PendingWork;

  std::vector<Areas*> areas_;  // the lock protects their sends, too
};

class Areas {
 public:
  // May throw std::bad_alloc.
  Areas(nagaya_area_cell* cells, uint64_t* flags, uint32_t count,
        std::shared_ptr<const processes::ProcessSet> processes, uint32_t number, llcl::Wait& waits);
  ~Areas();
  Areas(const Areas&) = delete;
  Areas& operator=(const Areas&) = delete;

  // Returns 0, -ENOMEM, -ENOSPC. May throw std::bad_alloc.
  int open(llcl::Board& board, task::TaskRecord& self);
  bool is_idle();

  // Whether a receive from the process may start: it has opened its areas, or is on another node.
  bool is_open(uint32_t rank) const { return !is_here(rank) || addresses_of(rank) != nullptr; }

  int start(nagaya_area_send& send);
  int start(nagaya_area_receive& receive);
  // Marks the send as complete until it is started.
  static void prepare(nagaya_area_send& send);
  // Marks the receive as complete until it is started, and gives it its cell until release().
  int prepare(nagaya_area_receive& receive);
  int start_prepared(nagaya_area_receive& receive);
  int start_prepared(nagaya_area_send& send);
  int release(nagaya_area_receive& receive);
  // Within a node, sends if the header is there and no earlier send waits for it; between nodes, if
  // that needs no waiting. Returns false if nothing was sent.
  bool try_send_now(nagaya_area_send& send);
  bool is_complete(nagaya_area_send& send);
  bool is_complete(nagaya_area_receive& receive);
  int cancel(nagaya_area_receive& receive);

  // Calls Spool::set() under the lock.
  bool set_spool(void* memory, size_t bytes, uint64_t patience_us);
  const Spool& spool() const { return spool_; }
  // Copies the data to the spool, and sends from there. Returns 0, -ENOBUFS. May throw
  // std::bad_alloc.
  int send_from_spool(const nagaya_area_send& send);
  bool is_here(uint32_t rank) const { return processes_->is_here(rank); }
  nagaya_process process(uint32_t rank) const { return processes_->process(rank); }
  bool exists(uint32_t rank, uint32_t index) const {
    return rank < processes_->size() && index < count_;
  }
  // Advances messages between nodes, then tries all sends that wait for a header. Any thread.
  void progress();
  uint32_t spooled();
  // Returns the first error since the last call of a message sent from the spool; 0: none.
  int take_spool_error();

 private:
  // Each process publishes here to its node where its cells and flags are; it stores `cells` last.
  struct SharedAddresses {
    uint64_t* flags;
    std::atomic<nagaya_area_cell*> cells;
  };

  uint32_t index_here(uint32_t rank) const { return processes_->index_of(rank); }
  const SharedAddresses* addresses_of(uint32_t rank) const;
  Cell& own_cell(uint32_t index) const { return *reinterpret_cast<Cell*>(&cells_[index]); }
  Cell& cell_of(uint32_t rank, uint32_t index) const;
  // The caller holds open_areas_.lock when it calls add_waiting(), or a function from here to
  // copy().
  bool try_send(nagaya_area_send& send);
  bool try_finish(nagaya_area_send& send);
  bool is_posted_for_earlier(const nagaya_area_send& send, uint64_t state) const;
  friend class OpenAreas;
  int advance();
  void copy(const Cell& cell, const nagaya_area_send& send, size_t bytes);
  static void reset(nagaya_area_receive& receive);
  static bool write_header(Cell& cell, const nagaya_area_receive& receive, uint64_t idle);
  void post(Cell& cell, const nagaya_area_receive& receive);
  int start_message(nagaya_area_send& send);
  int start_message(nagaya_area_receive& receive);
  nagaya_envelope envelope(uint32_t source, uint32_t index) const {
    return match::area_envelope(number_, source, index);
  }
  void add_waiting(nagaya_area_send& send);

  nagaya_area_cell* const cells_;
  uint64_t* const flags_;
  const uint32_t count_;
  const std::shared_ptr<const processes::ProcessSet> processes_;
  const uint32_t number_;
  OpenAreas& open_areas_;
  llcl::Group group_;
  uint32_t spooled_ = 0;
  int spool_error_ = 0;
  // The list of the sends that wait for a header, in order. `last_waiting_`: the link at its end.
  nagaya_area_send *first_waiting_ = nullptr, **last_waiting_ = &first_waiting_;
  Spool spool_;
};

}  // namespace nagaya::area

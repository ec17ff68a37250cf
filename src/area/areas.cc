// SPDX-License-Identifier: BSD-3-Clause
#include "area/areas.h"

#include <errno.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <mutex>
#include <utility>

#include "layout/bytes.h"
#include "match/finish.h"

namespace nagaya::area {
namespace {

// Any thread that waits completes sends. Release: pairs with is_complete().
void complete(nagaya_area_send& send, int error) {
  send.error = error;
  std::atomic_ref(send.is_complete).store(1, std::memory_order_release);
}

}  // namespace

// ---- the open areas of a task -------------------------------------------------------------------

int OpenAreas::add(Areas& areas) {
  const std::lock_guard guard(lock);
  areas_.reserve(areas_.size() + 1);
  if (const int error = register_with_waits(); error != 0) return error;
  areas_.push_back(&areas);
  count_added();
  return 0;
}

void OpenAreas::remove(Areas& areas) {
  const std::lock_guard guard(lock);
  count_removed(std::erase(areas_, &areas));
}

int OpenAreas::advance() {
  const auto guard = lock_if_pending();
  if (!guard) return 0;
  int moved = 0;
  for (Areas* const areas : areas_) moved += areas->advance();
  return moved;
}

// ---- opening ------------------------------------------------------------------------------------

Areas::Areas(nagaya_area_cell* cells, uint64_t* flags, uint32_t count,
             std::shared_ptr<const processes::ProcessSet> processes, uint32_t number,
             llcl::Wait& waits)
    : cells_(cells),
      flags_(flags),
      count_(count),
      processes_(std::move(processes)),
      number_(number),
      open_areas_(OpenAreas::own(waits)) {
  std::fill_n(cells_, count, nagaya_area_cell{});
  std::fill_n(flags_, count, 0);
}

Areas::~Areas() {
  open_areas_.remove(*this);
}

int Areas::open(llcl::Board& board, task::TaskRecord& self) {
  if (const int error = open_areas_.add(*this); error != 0) return error;
  const llcl::GroupName name = {llcl::GroupUser::kAreas, 0, number_};
  const int error =
      group_.open(board, self, name, processes_->tasks_here(), sizeof(SharedAddresses));
  if (error != 0) return error;
  auto* const own = reinterpret_cast<SharedAddresses*>(group_.part(index_here(processes_->rank())));
  own->flags = flags_;
  // Release: pairs with addresses_of().
  own->cells.store(cells_, std::memory_order_release);
  group_.wake();
  return 0;
}

// Returns a process's cells and flags; nullptr: it has not opened yet.
const Areas::SharedAddresses* Areas::addresses_of(uint32_t rank) const {
  const auto* const addresses =
      reinterpret_cast<const SharedAddresses*>(group_.part(index_here(rank)));
  // Acquire: pairs with open(). Its flags are there.
  return addresses->cells.load(std::memory_order_acquire) == nullptr ? nullptr : addresses;
}

Cell& Areas::cell_of(uint32_t rank, uint32_t index) const {
  return *reinterpret_cast<Cell*>(addresses_of(rank)->cells.load(std::memory_order_relaxed) +
                                  index);
}

// ---- sending ------------------------------------------------------------------------------------

int Areas::start(nagaya_area_send& send) {
  send.is_complete = 0;
  send.error = 0;
  send.copy = nullptr;
  if (!is_here(send.to)) return start_message(send);
  const std::lock_guard lock(open_areas_.lock);
  if (!try_send(send)) add_waiting(send);
  return 0;
}

void Areas::prepare(nagaya_area_send& send) {
  send.is_complete = 1;
  send.error = 0;
}

int Areas::start_prepared(nagaya_area_send& send) {
  if (!is_complete(send)) return -EBUSY;
  const int error = start(send);
  if (error != 0) send.is_complete = 1;
  return error;
}

bool Areas::try_send_now(nagaya_area_send& send) {
  send.is_complete = 0;
  send.error = 0;
  if (is_here(send.to)) {
    const std::lock_guard lock(open_areas_.lock);
    return try_send(send);
  }
  const nagaya_envelope own = envelope(processes_->rank(), send.index);
  return nagaya_match_try_send(processes_->process(send.to), &own, send.data, send.bytes, nullptr,
                               nullptr) == 0;
}

void Areas::add_waiting(nagaya_area_send& send) {
  send.next = nullptr;
  *last_waiting_ = &send;
  last_waiting_ = &send.next;
}

int Areas::start_message(nagaya_area_send& send) {
  send.message = {};
  send.message.to = processes_->process(send.to);
  send.message.envelope = envelope(processes_->rank(), send.index);
  send.message.data = send.data;
  send.message.bytes = send.bytes;
  return nagaya_match_send(&send.message);
}

// Whether an earlier send waits for the header of the cell that has this `state`.
bool Areas::is_posted_for_earlier(const nagaya_area_send& send, uint64_t state) const {
  for (const nagaya_area_send* one = first_waiting_; one != nullptr && one != &send;
       one = one->next)
    if (one->index == send.index && Cell::state_of(kPosted, one->to) == state) return true;
  return false;
}

// Returns whether the send is complete; false: its header is not there yet.
bool Areas::try_send(nagaya_area_send& send) {
  Cell& cell = own_cell(send.index);
  uint64_t state = cell.state.load(std::memory_order_relaxed);
  if (!Cell::is_posted(state) || is_posted_for_earlier(send, state)) return false;
  if (state != Cell::state_of(kPosted, send.to)) {
    if (send.copy != nullptr)
      return false;  // a send from the spool waits until the header is its receiver's
    complete(send, -EBUSY);
    return true;
  }
  // Acquire: pairs with the receiver's post().
  if (!cell.state.compare_exchange_strong(state, kCopying, std::memory_order_acquire,
                                          std::memory_order_relaxed))
    return false;
  copy(cell, send, std::min(send.bytes, cell.capacity));
  const int error = send.bytes > cell.capacity ? -EMSGSIZE : 0;
  uint64_t* const flag = &addresses_of(send.to)->flags[send.index];
  // Release: `to` was read before. Pairs with write_header() of another receiver.
  cell.state.store(cell.idle, std::memory_order_release);
  // Release: the data and the idle cell are seen before. Pairs with is_complete().
  std::atomic_ref(*flag).store(send.bytes + 1, std::memory_order_release);
  group_.wake_one(index_here(send.to));
  complete(send, error);
  return true;
}

void Areas::copy(const Cell& cell, const nagaya_area_send& send, size_t bytes) {
  if (bytes < llcl::CopyMachine::kOfferedMinBytes) {
    layout::copy_bytes(cell.to, send.data, bytes);
    group_.count_copied(bytes);
  } else {
    group_.copy(cell.to, send.data, bytes, index_here(send.to));
  }
}

bool Areas::try_finish(nagaya_area_send& send) {
  return is_here(send.to) ? try_send(send) : is_complete(send);
}

bool Areas::is_idle() {
  const std::lock_guard lock(open_areas_.lock);
  return first_waiting_ == nullptr && spool_.is_empty();
}

bool Areas::set_spool(void* memory, size_t bytes, uint64_t patience_us) {
  const std::lock_guard lock(open_areas_.lock);
  return spool_.set(memory, bytes, patience_us);
}

uint32_t Areas::spooled() {
  const std::lock_guard lock(open_areas_.lock);
  return spooled_;
}

int Areas::take_spool_error() {
  const std::lock_guard lock(open_areas_.lock);
  return std::exchange(spool_error_, 0);
}

void Areas::progress() {
  nagaya_match_progress();
  open_areas_.advance();
}

int Areas::advance() {
  int moved = 0;
  for (nagaya_area_send** link = &first_waiting_; *link != nullptr;) {
    nagaya_area_send* const send = *link;
    nagaya_area_send* const next = send->next;
    // Read before try_finish(): the caller may reuse the memory of a complete send at once.
    auto* const block = static_cast<std::byte*>(send->copy);
    if (!try_finish(*send)) {
      link = &send->next;
      continue;
    }
    *link = next;
    if (next == nullptr) last_waiting_ = link;
    ++moved;
    if (block != nullptr) {
      if (spool_error_ == 0) spool_error_ = send->error;
      spool_.free(block);
      --spooled_;
      delete send;
    }
  }
  return moved;
}

bool Areas::is_complete(nagaya_area_send& send) {
  if (!is_here(send.to) && send.is_complete == 0 && match::is_complete(send.message))
    complete(send, send.message.error);
  return std::atomic_ref(send.is_complete).load(std::memory_order_acquire) != 0;
}

int Areas::send_from_spool(const nagaya_area_send& send) {
  const std::lock_guard lock(open_areas_.lock);
  auto copy = std::make_unique<nagaya_area_send>(send);
  std::byte* const block = spool_.allocate(send.bytes);
  if (block == nullptr) return -ENOBUFS;
  if (send.bytes != 0) std::memcpy(block, send.data, send.bytes);
  copy->data = copy->copy = block;
  if (const int error = is_here(send.to) ? 0 : start_message(*copy); error != 0) {
    spool_.free(block);
    return error;
  }
  ++spooled_;
  add_waiting(*copy.release());
  return 0;
}

// ---- receiving ----------------------------------------------------------------------------------

int Areas::start(nagaya_area_receive& receive) {
  reset(receive);
  receive.prepared = nullptr;
  if (!is_here(receive.from)) return start_message(receive);
  Cell& cell = cell_of(receive.from, receive.index);
  if (!write_header(cell, receive, kFree)) return -EBUSY;
  post(cell, receive);
  return 0;
}

int Areas::prepare(nagaya_area_receive& receive) {
  reset(receive);
  receive.prepared = nullptr;
  if (is_here(receive.from)) {
    Cell& cell = cell_of(receive.from, receive.index);
    const uint64_t prepared = Cell::state_of(kPrepared, processes_->rank());
    if (!write_header(cell, receive, prepared)) return -EBUSY;
    cell.state.store(prepared, std::memory_order_relaxed);
    receive.prepared = &cell;
  }
  receive.is_complete = 1;
  return 0;
}

int Areas::start_prepared(nagaya_area_receive& receive) {
  if (receive.is_complete == 0) return -EBUSY;
  if (is_here(receive.from) && receive.prepared == nullptr) return -EINVAL;
  reset(receive);
  if (receive.prepared != nullptr) {
    post(*static_cast<Cell*>(receive.prepared), receive);
    return 0;
  }
  const int error = start_message(receive);
  receive.is_complete = error != 0;
  return error;
}

int Areas::release(nagaya_area_receive& receive) {
  if (receive.is_complete == 0) return -EBUSY;
  if (receive.prepared != nullptr)
    // Release: the header was read and written before. Pairs with write_header() of another.
    static_cast<Cell*>(receive.prepared)->state.store(kFree, std::memory_order_release);
  receive.prepared = nullptr;
  return 0;
}

void Areas::reset(nagaya_area_receive& receive) {
  receive.is_complete = receive.is_cancelled = 0;
  receive.error = 0;
}

// Takes the cell and fills it in. Returns false if another receive has it.
bool Areas::write_header(Cell& cell, const nagaya_area_receive& receive, uint64_t idle) {
  uint64_t free = kFree;
  // One transfer of the line. Acquire: pairs with the release by which try_send() of the sender, or
  // release() or cancel() of another receiver, has freed it.
  if (!cell.state.compare_exchange_strong(free, kWriting, std::memory_order_acquire,
                                          std::memory_order_relaxed))
    return false;
  cell.to = static_cast<std::byte*>(receive.buffer);
  cell.capacity = receive.capacity;
  cell.idle = idle;
  return true;
}

void Areas::post(Cell& cell, const nagaya_area_receive& receive) {
  // Release: pairs with try_send().
  cell.state.store(Cell::state_of(kPosted, processes_->rank()), std::memory_order_release);
  group_.wake_one(index_here(receive.from));
}

int Areas::start_message(nagaya_area_receive& receive) {
  receive.message = {};
  receive.message.wanted = envelope(receive.from, receive.index);
  receive.message.from = processes_->process(receive.from);
  receive.message.buffer = receive.buffer;
  receive.message.capacity = receive.capacity;
  return nagaya_match_receive(&receive.message);
}

bool Areas::is_complete(nagaya_area_receive& receive) {
  if (receive.is_complete != 0) return true;
  if (!is_here(receive.from)) {
    if (!match::is_complete(receive.message)) return false;
    receive.bytes = receive.message.bytes;
    receive.error = receive.message.error;
  } else {
    const std::atomic_ref flag(flags_[receive.index]);
    const uint64_t value = flag.load(std::memory_order_acquire);  // pairs with try_send()
    if (value == 0) return false;
    flag.store(0, std::memory_order_relaxed);
    receive.bytes = value - 1;
    receive.error = receive.bytes > receive.capacity ? -EMSGSIZE : 0;
  }
  receive.is_complete = 1;
  return true;
}

int Areas::cancel(nagaya_area_receive& receive) {
  if (is_complete(receive)) return -EALREADY;
  if (!is_here(receive.from)) {
    if (const int error = nagaya_match_cancel_receive(&receive.message); error != 0) return error;
  } else {
    uint64_t state = Cell::state_of(kPosted, processes_->rank());
    // Not cell.idle: once the sender has taken the cell, another receiver may write it.
    const uint64_t idle = receive.prepared != nullptr
                              ? Cell::state_of(kPrepared, processes_->rank())
                              : uint64_t{kFree};
    // Release: the header was written before. Pairs with write_header() of another receiver.
    if (!cell_of(receive.from, receive.index)
             .state.compare_exchange_strong(state, idle, std::memory_order_release,
                                            std::memory_order_relaxed))
      return -EALREADY;
  }
  receive.is_complete = receive.is_cancelled = 1;
  return 0;
}

}  // namespace nagaya::area

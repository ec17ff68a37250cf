// SPDX-License-Identifier: BSD-3-Clause
#include "coll/operation.h"

#include <new>

#include "layout/blocks.h"
#include "layout/runs.h"

namespace nagaya::coll {

// If memory is missing the state does not change, and a later call tries again; the others wait.
bool Operation::advance() try {
  if (state_ == State::kWaiting && !begin()) return false;
  if (state_ == State::kWorking) {
    if (!algorithm_.work(*this)) return false;
    team_.leave(number_);
    state_ = State::kLeft;
  }
  if (state_ == State::kLeft) {
    if (is_direct_ && !has_no_users()) return false;
    if (algorithm_.end != nullptr) algorithm_.end(*this);
    state_ = State::kComplete;
    what_.operation = nullptr;
    team_.end_collective();
  }
  return true;
} catch (const std::bad_alloc&) {
  return false;
}

void Operation::tell(llcl::Recorder& recorder, bool is_over) const {
  const nagaya_process whom =
      missed_ != kNobody ? team_.process_of(missed_) : nagaya_process{0, UINT32_MAX};
  const llcl::Purpose purpose = purpose_of(what_.kind);
  is_over ? recorder.arrived(purpose, whom) : recorder.expect(purpose, whom);
}

bool Operation::detach() {
  if (have_all_begun()) return false;
  const layout::Buffer block = layout::block_of(direct_buffers.send, 0);
  std::byte* const copy = new_scratch(block.bytes());
  layout::gather(block, copy, block.bytes());
  detach(copy);
  return true;
}

bool Operation::have_all_begun() {
  const bool have_begun = detachable_.begun() == size() - 1;
  if (have_begun) detachable_.skip_copy();
  return have_begun;
}

// A root in kWaiting has not posted its block yet: it will post the copy instead.
void Operation::detach(const std::byte* copy) {
  if (state_ == State::kWaiting) {
    direct_buffers.send = layout::equal_blocks(const_cast<std::byte*>(copy),
                                               layout::block_of(direct_buffers.send, 0).bytes());
    direct_buffers.detachable = nullptr;
  }
  detachable_.detach(copy);
}

bool Operation::begin() {
  if (!team_.may_begin(number_)) return false;
  algorithm_.post(*this);
  team_.begin(number_);
  state_ = State::kWorking;
  return true;
}

// Sets the form and size of this member's line. Returns the memory for its data: in the line, or
// its buffer.
std::byte* Operation::prepare_line(size_t bytes) {
  Line& line = team_.line(rank(), number_);
  line.form = bytes <= Line::kInlineMaxBytes ? Form::kInline : Form::kBuffered;
  line.bytes = static_cast<uint32_t>(bytes);
  line.level.store(0, std::memory_order_relaxed);
  if (line.form == Form::kInline) return line.body;
  std::byte* const buffer = team_.buffer(number_, bytes);
  if (buffer == nullptr) throw std::bad_alloc();
  line.buffer = buffer;
  return buffer;
}

void Operation::post_direct(uint32_t block_bytes) {
  Line& line = team_.line(rank(), number_);
  line.form = Form::kDirect;
  line.bytes = block_bytes;
  line.direct = &direct_buffers;
  is_direct_ = true;
  team_.post(number_);
}

bool Operation::has_no_users() {
  for (; next_user_ < size(); ++next_user_) {
    const bool is_user = next_user_ != rank() && algorithm_.is_used_by(*this, next_user_);
    if (is_user && !team_.has_left(next_user_, number_)) return misses(next_user_);
  }
  return true;
}

}  // namespace nagaya::coll

// SPDX-License-Identifier: BSD-3-Clause
// asynchronous.h - operations that the program started with an `async` clause and that no
// wait_async has completed yet. `async` gives each a number, its tag.
#pragma once

#include <memory>

struct nagaya_xmp_array_state;

namespace nagaya::xmp {

// One started operation.
class Asynchronous {
 public:
  virtual ~Asynchronous() = default;
  // Polls once.
  virtual bool is_complete() = 0;
  // Returns when the operation is complete; the program fails with the place `where` if it fails.
  virtual void wait(const char* where) = 0;
  virtual bool is_reflect_of(const nagaya_xmp_array_state&) const { return false; }
};

// Adds an operation under the program's number `tag`, which several operations may share.
void add_operation(long tag, std::unique_ptr<Asynchronous> operation);
// Waits for all operations of this number and removes them; does nothing if there is none.
void complete_tag(const char* where, long tag);
// Polls the operations of this number in order and removes complete ones, up to the first that is
// not. Returns true if none is left.
bool poll_tag(long tag);
// Whether there is a reflect of the array that no wait_async has waited for yet, complete or not.
bool has_reflect_of(const nagaya_xmp_array_state& array);
// Waits for all reflects of the array. Called before the array is freed.
void complete_reflect_of(const nagaya_xmp_array_state& array);
// Waits for all operations. Called before the process ends.
void complete_all();

}  // namespace nagaya::xmp

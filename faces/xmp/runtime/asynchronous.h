// SPDX-License-Identifier: BSD-3-Clause
// asynchronous.h - communication that a program has started by `async`, until its wait_async.
#pragma once

#include <functional>
#include <memory>

struct nagaya_xmp_array_state;

namespace nagaya::xmp {

// One operation under way.
class Asynchronous {
 public:
  virtual ~Asynchronous() = default;
  // Looks once.
  virtual bool is_complete() = 0;
  virtual void wait(const char* where) = 0;
  virtual bool is_reflect_of(const nagaya_xmp_array_state&) const { return false; }
};

// Of the program's number `tag`, which several operations may have.
void add(long tag, std::unique_ptr<Asynchronous> operation);
// Nothing happens if there is none.
void complete(const char* where, long tag);
// Whether all of that number are; those that are go.
bool test(long tag);
// Whether the program has yet to wait for one, complete or not.
bool has_reflect_of(const nagaya_xmp_array_state& array);
// Before the array goes.
void complete_reflect_of(const nagaya_xmp_array_state& array);
// Before the process ends.
void complete_all();

}  // namespace nagaya::xmp

// SPDX-License-Identifier: BSD-3-Clause
// send_buffer.h - the memory that the program has attached for buffered sends, and the copies in
// it.
//
//   the program's request ◄─partner─► a copy's request ──► its place in the memory
//
// The program's request is complete at once. A message that did not leave at once has a copy, whose
// request ends when the receiver has it. A copy takes its bytes and MPI_BSEND_OVERHEAD of the
// memory: a program that reckons as the standard says has room, and one that reckons less is told.
#pragma once

#include "objects/requests.h"

namespace nagaya::mpi::NAGAYA_MPI_ABI {

// All functions may be called by several threads.
class SendBuffer {
 public:
  // `memory`: may be MPI_BUFFER_AUTOMATIC. Returns an error class: MPI_ERR_BUFFER if there is one
  // already.
  static int attach(void* memory, size_t bytes);
  // Waits until all copies have been received. Returns false if nothing is attached.
  static bool detach(void*& memory, size_t& bytes);
  // Waits as detach() does.
  static void flush();
  // Called before a buffered send on a communicator that is not ours: gives the MPI beneath as much
  // memory.
  static void provide_beneath();

  // Whether a copy of so many bytes has room; if not, tries once more after progress.
  static bool has_room(size_t bytes);
  // Returns the request of a new copy for `original`, with its place in `buffer`. nullptr: no room,
  // no memory.
  static Request* add_copy(Request& original);
  // Removes a copy that could not be sent.
  static void remove(Request* copy);
  // Frees the copies that have been received.
  static void collect();

  // Asks the receiver to cancel the original's copy. Returns false if no copy is pending.
  static bool cancel_copy(Request& original);
  // Tells the original how the cancelling of its copy has ended, if it has.
  static void settle(Request& original);
  // Separates the original from its pending copy, which no longer tells it anything.
  static void forget_copy(Request& original);
};

}  // namespace nagaya::mpi::NAGAYA_MPI_ABI

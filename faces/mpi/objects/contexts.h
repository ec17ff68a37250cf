// SPDX-License-Identifier: BSD-3-Clause
// contexts.h - the contexts of new communicators (match.h), below NAGAYA_CONTEXTS_BLACS. The
// leader, rank 0 of a communicator, takes one that no other process of the space takes:
//
//   bits 18 to 29   the leader's task
//   bits 0 to 17    its own count, from 1 on
//
// A leader gives a context back when its own communicator has ended, and takes it again only after
// all others.
#pragma once

#include <cstdint>

namespace nagaya::mpi {

class Contexts {
 public:
  // Returns 0 if all are in use. Callable by any thread, as give_back() is.
  static uint32_t take();
  // Does nothing for the context of another leader.
  static void give_back(uint32_t context);
};

}  // namespace nagaya::mpi

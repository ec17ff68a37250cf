// SPDX-License-Identifier: BSD-3-Clause
// system.h - the processes that grids are made of, and the MPI that the program may have.
//
// A system handle names an ordered set of them: the Fortran handle of a communicator, 0 for all
// processes of a job without MPI, or for those of a grid a number that no MPI has (grid.h).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "faces/blacs/mpi.h"
#include "nagaya/llcl.h"

namespace nagaya::blacs {

using Int = int;

class System {
 public:
  // Returns the calling process's. The first call initialises MPI, or without one Nagaya's ranks.
  static System& own();
  // Whether this library serves the calls: the process is a task, and has no MPI or one with a
  // shim. Decides without communication.
  static bool is_served_here();
  // Whether the caller is a forked child of a process for which is_served_here() is true.
  static bool is_forked_child();

  const nagaya_blacs_mpi* mpi() const { return mpi_; }
  Int world() const { return mpi_ != nullptr ? mpi_->world() : 0; }
  // Returns the communicator of a system handle that is not a grid's. 0 means all processes with
  // any MPI, as with the reference BLACS in C.
  Int communicator_of(Int handle) const { return handle == 0 ? world() : handle; }
  // Whether several threads may advance our messages: those that call MPI do. Only one thread calls
  // the BLACS.
  bool has_threads() const { return has_threads_; }
  Int rank() const { return rank_; }
  Int size() const { return size_; }

  // Processes as ranks of a communicator.
  struct Ranks {
    Int communicator;
    std::vector<Int> ranks;  // in `communicator`
  };

  // The processes of a system handle, in its order.
  struct Members {
    std::vector<nagaya_process> processes;
    Int own;                    // the caller, among them
    uint32_t next_grid_number;  // the greatest next_grid_number among them
    Ranks ranks;                // of the processes, in the same order
  };
  // Gathers the processes of a communicator, or all without MPI. Collective among them.
  Members gather(Int handle);
  // Makes a communicator of those processes, which all of them call: `number` is the same at all,
  // and differs from those of other communicators that they make at the time. Precondition: an MPI.
  Int new_communicator(const Ranks& of, uint32_t number);
  void free_communicator(Int communicator);

  // All grids of this process have lower numbers.
  uint32_t next_grid_number = 0;

  // The exported function of the BLACS that the process has called last.
  static inline const char* called = "";

  void finalize();
  // Ends the job with a line that names the call, without the underscore of a Fortran name.
  [[noreturn]] void refuse_call(const std::string& why);
  // Prints `why` in one line and ends the job with exit code `code`.
  [[noreturn]] void abort(int code, const std::string& why);

 private:
  System();
  bool is_mpi_on_nagaya() const;
  // Returns the `count` processes of a communicator as ranks of the world if all are in it; else,
  // if MPI_Comm_spawn has started some that the world does not have, as ranks of the communicator.
  Ranks ranks_in_world(Int comm, Int count) const;
  // Makes the waits of the BLACS advance the messages of an MPI that is not on Nagaya.
  void advance_mpi_messages();
  // Ends the job when a node is lost; without MPI only. A node whose processes have all ended looks
  // lost: so each process waits for all others at its exit, even if it has not called blacs_exit.
  void watch_nodes();

  const nagaya_blacs_mpi* mpi_;
  bool has_threads_ = false;
  Int rank_ = 0, size_ = 1;
  bool is_over_ = false;  // this process has left Nagaya's ranks
};

// Prints in one line that a forked child has called `function`, and ends only the child, without
// exit handlers and MPI.
[[noreturn]] void end_child(std::string_view function);

// Prints one line to stderr that begins with "nagaya: BLACS:".
void warn(const std::string& what);

}  // namespace nagaya::blacs

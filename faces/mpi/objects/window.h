// SPDX-License-Identifier: BSD-3-Clause
// window.h - a window whose processes are all tasks: its accesses are ours (nagaya/window.h).
//
// Its handle is that of a *carrier*: a window of the MPI beneath, of this process alone, by which
// nobody communicates. Attributes, name, error handler and info of the program are
// those of the carrier, so functions that are not ours, and Fortran's, find them by the handle. A
// window whose handle is not in the table is the MPI's beneath, in every function.
#pragma once

#include <nagaya/window.h>

#include "beneath/functions.h"
#include "objects/communicator.h"
#include "objects/report.h"

namespace nagaya::mpi::NAGAYA_MPI_ABI {

class Window {
 public:
  // Returns nullptr if it is not ours.
  static Window* find(MPI_Win handle);

  // Makes a window. Collective over `comm`; all members return an error if any has one. `own.error`
  // may say that this member has one. Returns an error class.
  static int make(Communicator& comm, int flavor, const nagaya_window_memory& own, MPI_Info info,
                  Window*& out);
  // Ends the carrier, whose attributes are deleted while this window still works, then this window,
  // and sets `handle` to MPI_WIN_NULL. Collective. Returns an error class: then nothing has ended.
  int free(MPI_Win* handle);

  MPI_Win handle() const { return handle_; }
  const Communicator& communicator() const { return comm_; }
  nagaya_window* accesses() const { return accesses_; }
  MPI_Group group() const { return group_; }
  bool is_dynamic() const { return flavor_ == MPI_WIN_FLAVOR_DYNAMIC; }
  void* base() const { return base_; }

  // Returns the value of an attribute that the standard defines, as MPI_Win_get_attr stores it;
  // nullptr and false for others.
  bool find_attribute(int keyval, void*& value);

 private:
  Window(Communicator& comm, int flavor, nagaya_window* accesses, uint64_t context);
  ~Window();

  int make_carrier(MPI_Info info);

  Communicator& comm_;  // held
  nagaya_window* const accesses_;
  const uint64_t context_;
  MPI_Group group_{};  // owned
  MPI_Win handle_ = MPI_WIN_NULL;

  // Attributes: the program gets their addresses.
  void* base_ = nullptr;
  MPI_Aint bytes_ = 0;
  int unit_ = 0, flavor_, model_ = MPI_WIN_UNIFIED;
};

// The class for an error of nagaya/window.h.
int class_of_window_failure(int error);
inline int class_of_window_error(int error) {
  return error == 0 ? MPI_SUCCESS : class_of_window_failure(error);
}

// Calls the window's error handler if there is an error, and returns it if the handler does.
inline int raise(const Window& window, int error_class) {
  if (error_class == MPI_SUCCESS) [[likely]]
    return MPI_SUCCESS;
  tell_of_failure(window.handle(), window.communicator());
  beneath.Win_call_errhandler(window.handle(), error_class);
  return error_class;
}

}  // namespace nagaya::mpi::NAGAYA_MPI_ABI

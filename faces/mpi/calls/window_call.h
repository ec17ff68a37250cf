// SPDX-License-Identifier: BSD-3-Clause
// window_call.h - the forms of a function of windows. An operation is one function for X and X_c,
//
//   int put(Window& window, const void* buffer, MPI_Count count, ...);   // returns an error class
//
// and the function of MPI has the window behind the operation's own arguments, then perhaps a
// request (MPI_Put, MPI_Rput), or before them (MPI_Win_test).
#pragma once

#include <new>
#include <tuple>
#include <utility>

#include "beneath/foreign_call.h"
#include "objects/job.h"
#include "objects/requests.h"
#include "objects/window.h"

namespace nagaya::mpi::NAGAYA_MPI_ABI {

template <class Function>
struct WindowOperation;
template <class... Own>
struct WindowOperation<int (*)(Window&, Own...)> {
  static constexpr size_t kOwn = sizeof...(Own);
};

// Makes the request of an access, which is complete; between nodes waits until it is. Where
// requests are the MPI's beneath, one to nobody is complete.
inline int make_complete_request(const Window& window, MPI_Request* out) {
  if (window.communicator().is_over_nodes())
    if (const int error = ::nagaya_window_flush_all(window.accesses()); error != 0)
      return class_of_window_error(error);
  if (!Job::has_messages())
    return beneath.Isend(nullptr, 0, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_SELF, out);
  Request* const request = Requests::make(RequestKind::kComplete, nullptr);
  if (request == nullptr) return MPI_ERR_NO_MEM;
  request->is_active = true;
  *out = Requests::handle_of(request);
  return MPI_SUCCESS;
}

template <class Operation, class... Own>
int run_on(Window& window, Operation operation, Own... own) {
  try {
    return operation(window, own...);
  } catch (const std::bad_alloc&) {
    return MPI_ERR_NO_MEM;
  }
}

// A function of MPI whose window is behind the operation's arguments; `function` is its namesake
// beneath.
template <auto operation, auto function, class... Arguments>
int call_on_window(Arguments... arguments) {
  constexpr size_t kOwn = WindowOperation<decltype(operation)>::kOwn;
  const std::tuple<Arguments...> all(arguments...);
  Window* const window = Window::find(std::get<kOwn>(all));
  if (window == nullptr) return call_beneath(beneath.*function, arguments...);
  int error = [&]<size_t... n>(std::index_sequence<n...>) {
    return run_on(*window, operation, std::get<n>(all)...);
  }
  (std::make_index_sequence<kOwn>());
  if constexpr (sizeof...(Arguments) == kOwn + 2)
    if (error == MPI_SUCCESS) error = make_complete_request(*window, std::get<kOwn + 1>(all));
  return raise(*window, error);
}

template <auto operation, auto function, class... Own>
int call_with_window(MPI_Win handle, Own... own) {
  Window* const window = Window::find(handle);
  if (window == nullptr) return call_beneath(beneath.*function, handle, own...);
  return raise(*window, run_on(*window, operation, own...));
}

template <auto operation, auto function, class... Arguments>
void enter_one(int (*&entry)(Arguments...)) {
  entry = call_on_window<operation, function, Arguments...>;
}
// Enters functions that have the window behind the arguments of the operation.
template <auto operation, auto... functions>
void enter(Functions& ours) {
  (enter_one<operation, functions>(ours.*functions), ...);
}

template <auto operation, auto function, class... Own>
void enter_one_with_window(int (*&entry)(MPI_Win, Own...)) {
  entry = call_with_window<operation, function, Own...>;
}
// Enters functions that have the window first.
template <auto operation, auto... functions>
void enter_with_window(Functions& ours) {
  (enter_one_with_window<operation, functions>(ours.*functions), ...);
}

}  // namespace nagaya::mpi::NAGAYA_MPI_ABI

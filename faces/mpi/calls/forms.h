// SPDX-License-Identifier: BSD-3-Clause
// forms.h - the forms of a collective: MPI_X, MPI_Ix and MPI_X_init, each with int or with
// MPI_Count.
//
// An operation is one function, which describes its arguments to a plan:
//
//   int bcast(CollectiveCall& call, void* buffer, MPI_Count count, MPI_Datatype type, int root);
//
// and what follows its own arguments tells the form:
//
//   MPI_Bcast         communicator                   Plan::run()
//   MPI_Ibcast        communicator, request          a request, started
//   MPI_Bcast_init    communicator, info, request    a persistent request
#pragma once

#include <memory>
#include <new>
#include <tuple>
#include <utility>

#include "beneath/foreign_call.h"
#include "objects/errors.h"
#include "objects/requests.h"

namespace nagaya::mpi::NAGAYA_MPI_ABI {

template <class Function>
struct Described;
template <class Plan_, class... Own>
struct Described<int (*)(Plan_&, Own...)> {
  using Plan = Plan_;
  static constexpr size_t kOwn = sizeof...(Own);
};

// Makes a request whose part is a Plan. `fill` describes the arguments to it.
template <class Plan, class Fill>
int make_request(Communicator& comm, Fill fill, bool is_persistent, MPI_Request* out) {
  std::unique_ptr<Request, void (*)(Request*)> request(Requests::make(Plan::kKind, &comm),
                                                       Requests::free);
  if (request == nullptr) return MPI_ERR_NO_MEM;
  auto* const plan = new Plan(comm, *request);
  request->part = plan;
  request->is_persistent = is_persistent;
  int error = fill(*plan);
  if (error == MPI_SUCCESS) error = plan->keep(is_persistent);
  if (error == MPI_SUCCESS && !is_persistent) {
    request->is_active = true;
    error = plan->start();
  }
  if (error == MPI_SUCCESS) *out = Requests::handle_of(request.release());
  return error;
}

// A function of MPI. `operation` describes its arguments; `function` is its namesake beneath.
template <auto operation, auto function, class... Arguments>
int call(Arguments... arguments) {
  using Operation = Described<decltype(operation)>;
  using Plan = typename Operation::Plan;
  constexpr bool is_blocking = sizeof...(Arguments) == Operation::kOwn + 1;
  constexpr bool is_persistent = sizeof...(Arguments) == Operation::kOwn + 3;
  const std::tuple<Arguments...> all(arguments...);
  Communicator* const comm = Communicator::find(std::get<Operation::kOwn>(all));
  if (comm == nullptr) {
    if constexpr (is_blocking) return call_beneath(beneath.*function, arguments...);
    return (beneath.*function)(arguments...);
  }
  const auto fill = [&all](Plan& plan) {
    return [&]<size_t... n>(std::index_sequence<n...>) {
      return operation(plan, std::get<n>(all)...);
    }
    (std::make_index_sequence<Operation::kOwn>());
  };
  int error = MPI_SUCCESS;
  try {
    if constexpr (is_blocking)
      error = Plan::run(*comm, fill);
    else
      error =
          make_request<Plan>(*comm, fill, is_persistent, std::get<sizeof...(Arguments) - 1>(all));
  } catch (const std::bad_alloc&) {
    error = MPI_ERR_NO_MEM;
  }
  return raise(comm, error);
}

template <auto operation, auto function, class... Arguments>
void enter_form(int (*&entry)(Arguments...)) {
  entry = call<operation, function, Arguments...>;
}

// Enters the functions of one operation.
template <auto operation, auto... functions>
void enter(Functions& ours) {
  (enter_form<operation, functions>(ours.*functions), ...);
}

}  // namespace nagaya::mpi::NAGAYA_MPI_ABI

// SPDX-License-Identifier: BSD-3-Clause
// window_accesses.cc - put, get, accumulates, and their forms with requests.
#include "calls/calls.h"
#include "calls/window_call.h"
#include "objects/window_side.h"

namespace nagaya::mpi::NAGAYA_MPI_ABI {
namespace {

// `target` may be MPI_PROC_NULL.
int check(const Window& window, MPI_Count count, int target, MPI_Aint displacement) {
  if (count < 0) return MPI_ERR_COUNT;
  if (target == MPI_PROC_NULL) return MPI_SUCCESS;
  if (!window.communicator().has(target)) return MPI_ERR_RANK;
  return displacement < 0 && !window.is_dynamic() ? MPI_ERR_DISP : MPI_SUCCESS;
}

int check(const Window& window, MPI_Count origin_count, int target, MPI_Aint displacement,
          MPI_Count count) {
  return origin_count < 0 ? MPI_ERR_COUNT : check(window, count, target, displacement);
}

// As a message, data may be shorter than the side that receives them.
int fit(size_t bytes, WindowSide& receiver) {
  if (bytes == receiver.bytes()) [[likely]]
    return MPI_SUCCESS;
  if (bytes > receiver.bytes()) return MPI_ERR_TRUNCATE;
  receiver.shorten(bytes);
  return MPI_SUCCESS;
}

nagaya_window_target target_of(int rank, MPI_Aint displacement, const WindowSide& there) {
  return {static_cast<uint32_t>(rank), static_cast<uint64_t>(displacement), there.buffer()};
}

int put(Window& window, const void* origin, MPI_Count origin_count, MPI_Datatype origin_type,
        int target, MPI_Aint displacement, MPI_Count count, MPI_Datatype type) {
  WindowSide here, there;
  int error = check(window, origin_count, target, displacement, count);
  if (error != MPI_SUCCESS || target == MPI_PROC_NULL) return error;
  if ((error = here.set(origin, origin_count, origin_type))) return error;
  if ((error = there.set(nullptr, count, type))) return error;
  if ((error = fit(here.bytes(), there))) return error;
  const nagaya_window_target to = target_of(target, displacement, there);
  return class_of_window_error(::nagaya_window_put(window.accesses(), &here.buffer(), &to));
}

int get(Window& window, void* origin, MPI_Count origin_count, MPI_Datatype origin_type, int target,
        MPI_Aint displacement, MPI_Count count, MPI_Datatype type) {
  WindowSide here, there;
  int error = check(window, origin_count, target, displacement, count);
  if (error != MPI_SUCCESS || target == MPI_PROC_NULL) return error;
  if ((error = here.set(origin, origin_count, origin_type))) return error;
  if ((error = there.set(nullptr, count, type))) return error;
  if ((error = fit(there.bytes(), here))) return error;
  const nagaya_window_target from = target_of(target, displacement, there);
  return class_of_window_error(::nagaya_window_get(window.accesses(), &here.buffer(), &from));
}

// ---- accumulates ------------------------------------------------------------------------------

// The class for an error of an accumulate, whose other arguments are right.
int class_of_accumulate(int error) {
  return error == -EINVAL ? MPI_ERR_OP : class_of_window_error(error);
}

// Describes a side whose elements must be of `element`.
int set_elements(WindowSide& side, const void* buffer, MPI_Count count, MPI_Datatype type,
                 nagaya_reduction operation, nagaya_element_type element) {
  nagaya_element_type found{};
  const int error = side.set_elements(buffer, count, type, operation, found);
  if (error != MPI_SUCCESS) return error;
  return found == element || side.bytes() == 0 ? MPI_SUCCESS : MPI_ERR_TYPE;
}

int accumulate(Window& window, const void* origin, MPI_Count origin_count, MPI_Datatype origin_type,
               int target, MPI_Aint displacement, MPI_Count count, MPI_Datatype type, MPI_Op op) {
  const nagaya_reduction* const operation = find_reduction(op);
  nagaya_element_type element{};
  WindowSide here, there;
  int error = check(window, origin_count, target, displacement, count);
  if (error == MPI_SUCCESS && operation == nullptr) error = MPI_ERR_OP;
  if (error != MPI_SUCCESS || target == MPI_PROC_NULL) return error;
  if ((error = there.set_elements(nullptr, count, type, *operation, element))) return error;
  if (origin_count == count && origin_type == type && there.is_one_run()) {
    here.set_like(there, origin);
  } else {
    if ((error = set_elements(here, origin, origin_count, origin_type, *operation, element)))
      return error;
    if ((error = fit(here.bytes(), there))) return error;
  }
  const nagaya_window_target to = target_of(target, displacement, there);
  return class_of_accumulate(
      ::nagaya_window_accumulate(window.accesses(), &here.buffer(), &to, element, *operation));
}

// MPI_NO_OP ignores the origin's elements.
int get_accumulate(Window& window, const void* origin, MPI_Count origin_count,
                   MPI_Datatype origin_type, void* result, MPI_Count result_count,
                   MPI_Datatype result_type, int target, MPI_Aint displacement, MPI_Count count,
                   MPI_Datatype type, MPI_Op op) {
  const nagaya_reduction* const operation = find_reduction(op);
  if (operation == nullptr) return MPI_ERR_OP;
  const bool has_origin = *operation != NAGAYA_REDUCE_NO_OP;
  nagaya_element_type element{};
  WindowSide here, old, there;
  int error = check(window, has_origin ? origin_count : 0, target, displacement, count);
  if (result_count < 0) error = MPI_ERR_COUNT;
  if (error != MPI_SUCCESS || target == MPI_PROC_NULL) return error;
  if ((error = there.set_elements(nullptr, count, type, *operation, element))) return error;
  if (has_origin) {
    error = set_elements(here, origin, origin_count, origin_type, *operation, element);
    if (error == MPI_SUCCESS) error = fit(here.bytes(), there);
    if (error != MPI_SUCCESS) return error;
  }
  if ((error = set_elements(old, result, result_count, result_type, *operation, element)))
    return error;
  if ((error = fit(there.bytes(), old))) return error;
  const nagaya_window_target to = target_of(target, displacement, there);
  return class_of_accumulate(
      ::nagaya_window_get_accumulate(window.accesses(), has_origin ? &here.buffer() : nullptr,
                                     &old.buffer(), &to, element, *operation));
}

// ---- one element ------------------------------------------------------------------------------

int fetch_and_op(Window& window, const void* origin, void* result, MPI_Datatype type, int target,
                 MPI_Aint displacement, MPI_Op op) {
  const nagaya_element_type* const element = find_element_type(type);
  if (element == nullptr)
    return get_accumulate(window, origin, 1, type, result, 1, type, target, displacement, 1, type,
                          op);
  const nagaya_reduction* const operation = find_reduction(op);
  const int error = check(window, 1, target, displacement);
  if (error != MPI_SUCCESS || target == MPI_PROC_NULL) return error;
  if (operation == nullptr) return MPI_ERR_OP;
  return class_of_accumulate(
      ::nagaya_window_fetch_and_op(window.accesses(), origin, result, static_cast<uint32_t>(target),
                                   static_cast<uint64_t>(displacement), *element, *operation));
}

int compare_and_swap(Window& window, const void* desired, const void* expected, void* result,
                     MPI_Datatype type, int target, MPI_Aint displacement) {
  const nagaya_element_type* const element = find_element_type(type);
  const int error = check(window, 1, target, displacement);
  if (error != MPI_SUCCESS || target == MPI_PROC_NULL) return error;
  if (element == nullptr) return MPI_ERR_TYPE;
  const int failure = ::nagaya_window_compare_and_swap(
      window.accesses(), desired, expected, result, static_cast<uint32_t>(target),
      static_cast<uint64_t>(displacement), *element);
  return failure == -EINVAL ? MPI_ERR_TYPE : class_of_window_error(failure);
}

}  // namespace

void add_window_accesses(Functions& ours) {
  enter<put, &Functions::Put, &Functions::Put_c, &Functions::Rput, &Functions::Rput_c>(ours);
  enter<get, &Functions::Get, &Functions::Get_c, &Functions::Rget, &Functions::Rget_c>(ours);
  enter<accumulate, &Functions::Accumulate, &Functions::Accumulate_c, &Functions::Raccumulate,
        &Functions::Raccumulate_c>(ours);
  enter<get_accumulate, &Functions::Get_accumulate, &Functions::Get_accumulate_c,
        &Functions::Rget_accumulate, &Functions::Rget_accumulate_c>(ours);
  enter<fetch_and_op, &Functions::Fetch_and_op>(ours);
  enter<compare_and_swap, &Functions::Compare_and_swap>(ours);
}

}  // namespace nagaya::mpi::NAGAYA_MPI_ABI

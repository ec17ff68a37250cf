// SPDX-License-Identifier: BSD-3-Clause
#include "objects/operation.h"

#include <algorithm>

#include "beneath/completer.h"
#include "objects/job.h"
#include "objects/kept_handles.h"
#include "objects/predefined.h"
#include "reduction/reductions.h"

namespace nagaya::mpi::NAGAYA_MPI_ABI {
namespace {

// Whether the MPI beneath may reduce such elements by a predefined operation.
bool is_named(MPI_Datatype type) {
  int numbers = 0, addresses = 0, types = 0, combiner = 0;
  beneath.Type_get_envelope(type, &numbers, &addresses, &types, &combiner);
  return combiner == MPI_COMBINER_NAMED || combiner == MPI_COMBINER_F90_REAL ||
         combiner == MPI_COMBINER_F90_COMPLEX || combiner == MPI_COMBINER_F90_INTEGER;
}

KeptHandles<MPI_Op> kept_ops;
KeptHandles<MPI_Datatype> kept_types;

}  // namespace

int Operation::set(MPI_Op op, MPI_Datatype type, nagaya_elements& elements) {
  if (op == MPI_OP_NULL || op == MPI_REPLACE || op == MPI_NO_OP) return MPI_ERR_OP;
  const nagaya_reduction* const reduction = find_reduction(op);
  const nagaya_element_type* const named = reduction != nullptr ? find_element_type(type) : nullptr;
  if (named != nullptr) [[likely]] {
    const reduction::Elements& known = reduction::elements_of(*named);
    reduction::Reduce* const reduce = known.reduce[*reduction];
    elements = {0, known.extent,      reduce,  known.copy, nullptr, 1,
                0, known.true_extent, nullptr, nullptr};
    return reduce != nullptr ? MPI_SUCCESS : MPI_ERR_OP;
  }
  if (const int error = mpi::NAGAYA_MPI_ABI::describe(type, datatype_)) return error;
  if (reduction != nullptr && !is_named(type)) return MPI_ERR_OP;
  int commutes = 1;
  if (reduction == nullptr && beneath.Op_commutative(op, &commutes) != MPI_SUCCESS)
    return MPI_ERR_OP;
  op_ = op;
  type_ = type;
  is_beneath_ = true;
  const bool has_gaps = datatype_.has_gaps();
  elements = {0,
              static_cast<size_t>(datatype_.extent),
              reduce_beneath,
              has_gaps ? copy_elements : nullptr,
              this,
              static_cast<uint32_t>(commutes),
              has_gaps ? datatype_.type->true_lb() : 0,
              has_gaps ? datatype_.type->true_extent() : datatype_.bytes,
              nullptr,
              may_reduce};
  return MPI_SUCCESS;
}

// The completer may not call a function of the program, nor the MPI beneath, unless any thread may.
int Operation::may_reduce(void*) {
  return Job::has_threads() || !Completer::is_self();
}

// The MPI's function has an int, and the elements of several ranks may be more.
void Operation::reduce_beneath(void* operation, const void* in, void* inout, size_t count) {
  constexpr size_t kAtOnce = size_t{1} << 30;
  const auto& self = *static_cast<const Operation*>(operation);
  const auto* from = static_cast<const char*>(in);
  auto* to = static_cast<char*>(inout);
  while (count != 0) {
    const size_t some = std::min(count, kAtOnce);
    beneath.Reduce_local(from, to, static_cast<int>(some), self.type_, self.op_);
    from += static_cast<ptrdiff_t>(some) * self.datatype_.extent;
    to += static_cast<ptrdiff_t>(some) * self.datatype_.extent;
    count -= some;
  }
}

void Operation::copy_elements(void* operation, void* to, const void* from, size_t count) {
  const Datatype& datatype = static_cast<const Operation*>(operation)->datatype_;
  const size_t total = count * datatype.bytes;
  char data[2048];
  for (size_t done = 0; done < total; done += sizeof data) {
    const size_t some = std::min(total - done, sizeof data);
    datatype.type->pack(from, done, some, data);
    datatype.type->unpack(to, done, some, data);
  }
}

// ---- freed by the program, while calls use them
// -----------------------------------------------------

void Operation::keep() {
  if (!is_beneath_) return;
  kept_ops.hold(op_);
  if (datatype_.type != nullptr) kept_types.hold(type_);
  is_kept_ = true;
}

Operation::~Operation() {
  if (!is_kept_) return;
  if (kept_ops.release(op_)) beneath.Op_free(&op_);
  if (datatype_.type != nullptr && kept_types.release(type_)) beneath.Type_free(&type_);
}

int Operation::free_op(MPI_Op* op) {
  if (!kept_ops.free_later(*op)) return beneath.Op_free(op);
  *op = MPI_OP_NULL;
  return MPI_SUCCESS;
}

int Operation::free_type(MPI_Datatype* type) {
  if (!kept_types.free_later(*type)) return beneath.Type_free(type);
  *type = MPI_DATATYPE_NULL;
  return MPI_SUCCESS;
}

}  // namespace nagaya::mpi::NAGAYA_MPI_ABI

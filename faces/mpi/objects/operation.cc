// SPDX-License-Identifier: BSD-3-Clause
#include "objects/operation.h"

#include <algorithm>

#include "beneath/completer.h"
#include "objects/handle_table.h"
#include "objects/job.h"
#include "objects/kept_handles.h"
#include "objects/reductions.h"

namespace nagaya::mpi::NAGAYA_MPI_ABI {
namespace {

// ---- predefined ones
// --------------------------------------------------------------------------------

struct NamedType {
  MPI_Datatype type;
  const Items* items;
};
struct NamedOp {
  MPI_Op op;
  Rule rule;
};

static_assert(sizeof(long) == 8);

// Made at the first use: some ABIs know their handles only when the MPI is loaded.
struct Predefined {
  HandleTable<const Items> items;
  HandleTable<const Rule> rules;

  Predefined();
  static const Predefined& known() {
    static const Predefined all;
    return all;
  }
};

Predefined::Predefined() {
  static const NamedOp ops[] = {
      {MPI_MAX, Rule::kMax},   {MPI_MIN, Rule::kMin},       {MPI_SUM, Rule::kSum},
      {MPI_PROD, Rule::kProd}, {MPI_LAND, Rule::kLand},     {MPI_BAND, Rule::kBand},
      {MPI_LOR, Rule::kLor},   {MPI_BOR, Rule::kBor},       {MPI_LXOR, Rule::kLxor},
      {MPI_BXOR, Rule::kBxor}, {MPI_MAXLOC, Rule::kMaxloc}, {MPI_MINLOC, Rule::kMinloc},
  };
  const NamedType types[] = {
      {MPI_CHAR, &items_of<int8_t>()},
      {MPI_SIGNED_CHAR, &items_of<int8_t>()},
      {MPI_UNSIGNED_CHAR, &items_of<uint8_t>()},
      {MPI_SHORT, &items_of<int16_t>()},
      {MPI_UNSIGNED_SHORT, &items_of<uint16_t>()},
      {MPI_INT, &items_of<int32_t>()},
      {MPI_UNSIGNED, &items_of<uint32_t>()},
      {MPI_LONG, &items_of<int64_t>()},
      {MPI_UNSIGNED_LONG, &items_of<uint64_t>()},
      {MPI_LONG_LONG, &items_of<int64_t>()},
      {MPI_UNSIGNED_LONG_LONG, &items_of<uint64_t>()},
      {MPI_INT8_T, &items_of<int8_t>()},
      {MPI_INT16_T, &items_of<int16_t>()},
      {MPI_INT32_T, &items_of<int32_t>()},
      {MPI_INT64_T, &items_of<int64_t>()},
      {MPI_UINT8_T, &items_of<uint8_t>()},
      {MPI_UINT16_T, &items_of<uint16_t>()},
      {MPI_UINT32_T, &items_of<uint32_t>()},
      {MPI_UINT64_T, &items_of<uint64_t>()},
      {MPI_AINT, &items_of<int64_t>()},
      {MPI_OFFSET, &items_of<int64_t>()},
      {MPI_COUNT, &items_of<int64_t>()},
      {MPI_INTEGER, &items_of<int32_t>()},
      {MPI_INTEGER1, &items_of<int8_t>()},
      {MPI_INTEGER2, &items_of<int16_t>()},
      {MPI_INTEGER4, &items_of<int32_t>()},
      {MPI_INTEGER8, &items_of<int64_t>()},
      {MPI_FLOAT, &items_of<float>()},
      {MPI_DOUBLE, &items_of<double>()},
      {MPI_LONG_DOUBLE, &items_of<long double>()},
      {MPI_REAL, &items_of<float>()},
      {MPI_DOUBLE_PRECISION, &items_of<double>()},
      {MPI_REAL4, &items_of<float>()},
      {MPI_REAL8, &items_of<double>()},
      {MPI_C_FLOAT_COMPLEX, &items_of<Complex<float>>()},
      {MPI_C_DOUBLE_COMPLEX, &items_of<Complex<double>>()},
      {MPI_C_LONG_DOUBLE_COMPLEX, &items_of<Complex<long double>>()},
      {MPI_COMPLEX, &items_of<Complex<float>>()},
      {MPI_DOUBLE_COMPLEX, &items_of<Complex<double>>()},
      {MPI_COMPLEX8, &items_of<Complex<float>>()},
      {MPI_COMPLEX16, &items_of<Complex<double>>()},
      {MPI_CXX_FLOAT_COMPLEX, &items_of<Complex<float>>()},
      {MPI_CXX_DOUBLE_COMPLEX, &items_of<Complex<double>>()},
      {MPI_CXX_LONG_DOUBLE_COMPLEX, &items_of<Complex<long double>>()},
      {MPI_BYTE, &items_of<Byte>()},
      {MPI_C_BOOL, &items_of<Logical<uint8_t>>()},
      {MPI_CXX_BOOL, &items_of<Logical<uint8_t>>()},
      {MPI_LOGICAL, &items_of<Logical<int32_t>>()},
      {MPI_FLOAT_INT, &items_of<Located<float, int>>()},
      {MPI_DOUBLE_INT, &items_of<Located<double, int>>()},
      {MPI_LONG_INT, &items_of<Located<long, int>>()},
      {MPI_2INT, &items_of<Located<int, int>>()},
      {MPI_SHORT_INT, &items_of<Located<short, int>>()},
      {MPI_LONG_DOUBLE_INT, &items_of<Located<long double, int>>()},
      {MPI_2INTEGER, &items_of<Located<int, int>>()},
      {MPI_2REAL, &items_of<Located<float, float>>()},
      {MPI_2DOUBLE_PRECISION, &items_of<Located<double, double>>()},
  };
  for (const NamedOp& one : ops) rules.insert(key_of(one.op), &one.rule);
  for (const NamedType& one : types)  // an MPI need not have those that the standard calls optional
    if (one.type != MPI_DATATYPE_NULL) items.insert(key_of(one.type), one.items);
}

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
  const Rule* const rule = Predefined::known().rules.find(key_of(op));
  const Items* const items =
      rule != nullptr ? Predefined::known().items.find(key_of(type)) : nullptr;
  if (items != nullptr) [[likely]] {
    Reduce* const reduce = items->reduce[static_cast<size_t>(*rule)];
    elements = {0, items->extent,      reduce,  items->copy, nullptr, 1,
                0, items->true_extent, nullptr, nullptr};
    return reduce != nullptr ? MPI_SUCCESS : MPI_ERR_OP;
  }
  if (const int error = mpi::NAGAYA_MPI_ABI::describe(type, datatype_)) return error;
  if (op == MPI_OP_NULL || op == MPI_REPLACE || op == MPI_NO_OP ||
      (rule != nullptr && !is_named(type)))
    return MPI_ERR_OP;
  int commutes = 1;
  if (rule == nullptr && beneath.Op_commutative(op, &commutes) != MPI_SUCCESS) return MPI_ERR_OP;
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

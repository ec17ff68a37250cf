// SPDX-License-Identifier: BSD-3-Clause
#include "objects/predefined.h"

#include "objects/handle_table.h"
#include "objects/kept_handles.h"

namespace nagaya::mpi::NAGAYA_MPI_ABI {
namespace {

struct NamedType {
  MPI_Datatype type;
  nagaya_element_type element;
};
struct NamedOp {
  MPI_Op op;
  nagaya_reduction reduction;
};

static_assert(sizeof(long) == 8);

// Made at the first use: some ABIs know their handles only when the MPI is loaded.
struct Predefined {
  HandleTable<const nagaya_element_type> elements;
  HandleTable<const nagaya_reduction> reductions;

  Predefined();
  static const Predefined& known() {
    static const Predefined all;
    return all;
  }
};

Predefined::Predefined() {
  static const NamedOp ops[] = {
      {MPI_MAX, NAGAYA_REDUCE_MAX},         {MPI_MIN, NAGAYA_REDUCE_MIN},
      {MPI_SUM, NAGAYA_REDUCE_SUM},         {MPI_PROD, NAGAYA_REDUCE_PROD},
      {MPI_LAND, NAGAYA_REDUCE_LAND},       {MPI_BAND, NAGAYA_REDUCE_BAND},
      {MPI_LOR, NAGAYA_REDUCE_LOR},         {MPI_BOR, NAGAYA_REDUCE_BOR},
      {MPI_LXOR, NAGAYA_REDUCE_LXOR},       {MPI_BXOR, NAGAYA_REDUCE_BXOR},
      {MPI_MAXLOC, NAGAYA_REDUCE_MAXLOC},   {MPI_MINLOC, NAGAYA_REDUCE_MINLOC},
      {MPI_REPLACE, NAGAYA_REDUCE_REPLACE}, {MPI_NO_OP, NAGAYA_REDUCE_NO_OP},
  };
  static const NamedType types[] = {
      {MPI_CHAR, NAGAYA_ELEMENT_INT8},
      {MPI_SIGNED_CHAR, NAGAYA_ELEMENT_INT8},
      {MPI_UNSIGNED_CHAR, NAGAYA_ELEMENT_UINT8},
      {MPI_SHORT, NAGAYA_ELEMENT_INT16},
      {MPI_UNSIGNED_SHORT, NAGAYA_ELEMENT_UINT16},
      {MPI_INT, NAGAYA_ELEMENT_INT32},
      {MPI_UNSIGNED, NAGAYA_ELEMENT_UINT32},
      {MPI_LONG, NAGAYA_ELEMENT_INT64},
      {MPI_UNSIGNED_LONG, NAGAYA_ELEMENT_UINT64},
      {MPI_LONG_LONG, NAGAYA_ELEMENT_INT64},
      {MPI_UNSIGNED_LONG_LONG, NAGAYA_ELEMENT_UINT64},
      {MPI_INT8_T, NAGAYA_ELEMENT_INT8},
      {MPI_INT16_T, NAGAYA_ELEMENT_INT16},
      {MPI_INT32_T, NAGAYA_ELEMENT_INT32},
      {MPI_INT64_T, NAGAYA_ELEMENT_INT64},
      {MPI_UINT8_T, NAGAYA_ELEMENT_UINT8},
      {MPI_UINT16_T, NAGAYA_ELEMENT_UINT16},
      {MPI_UINT32_T, NAGAYA_ELEMENT_UINT32},
      {MPI_UINT64_T, NAGAYA_ELEMENT_UINT64},
      {MPI_AINT, NAGAYA_ELEMENT_INT64},
      {MPI_OFFSET, NAGAYA_ELEMENT_INT64},
      {MPI_COUNT, NAGAYA_ELEMENT_INT64},
      {MPI_INTEGER, NAGAYA_ELEMENT_INT32},
      {MPI_INTEGER1, NAGAYA_ELEMENT_INT8},
      {MPI_INTEGER2, NAGAYA_ELEMENT_INT16},
      {MPI_INTEGER4, NAGAYA_ELEMENT_INT32},
      {MPI_INTEGER8, NAGAYA_ELEMENT_INT64},
      {MPI_FLOAT, NAGAYA_ELEMENT_FLOAT},
      {MPI_DOUBLE, NAGAYA_ELEMENT_DOUBLE},
      {MPI_LONG_DOUBLE, NAGAYA_ELEMENT_LONG_DOUBLE},
      {MPI_REAL, NAGAYA_ELEMENT_FLOAT},
      {MPI_DOUBLE_PRECISION, NAGAYA_ELEMENT_DOUBLE},
      {MPI_REAL4, NAGAYA_ELEMENT_FLOAT},
      {MPI_REAL8, NAGAYA_ELEMENT_DOUBLE},
      {MPI_C_FLOAT_COMPLEX, NAGAYA_ELEMENT_COMPLEX_FLOAT},
      {MPI_C_DOUBLE_COMPLEX, NAGAYA_ELEMENT_COMPLEX_DOUBLE},
      {MPI_C_LONG_DOUBLE_COMPLEX, NAGAYA_ELEMENT_COMPLEX_LONG_DOUBLE},
      {MPI_COMPLEX, NAGAYA_ELEMENT_COMPLEX_FLOAT},
      {MPI_DOUBLE_COMPLEX, NAGAYA_ELEMENT_COMPLEX_DOUBLE},
      {MPI_COMPLEX8, NAGAYA_ELEMENT_COMPLEX_FLOAT},
      {MPI_COMPLEX16, NAGAYA_ELEMENT_COMPLEX_DOUBLE},
      {MPI_CXX_FLOAT_COMPLEX, NAGAYA_ELEMENT_COMPLEX_FLOAT},
      {MPI_CXX_DOUBLE_COMPLEX, NAGAYA_ELEMENT_COMPLEX_DOUBLE},
      {MPI_CXX_LONG_DOUBLE_COMPLEX, NAGAYA_ELEMENT_COMPLEX_LONG_DOUBLE},
      {MPI_BYTE, NAGAYA_ELEMENT_BYTE},
      {MPI_C_BOOL, NAGAYA_ELEMENT_BOOL},
      {MPI_CXX_BOOL, NAGAYA_ELEMENT_BOOL},
      {MPI_LOGICAL, NAGAYA_ELEMENT_LOGICAL},
      {MPI_FLOAT_INT, NAGAYA_ELEMENT_FLOAT_INT},
      {MPI_DOUBLE_INT, NAGAYA_ELEMENT_DOUBLE_INT},
      {MPI_LONG_INT, NAGAYA_ELEMENT_LONG_INT},
      {MPI_2INT, NAGAYA_ELEMENT_INT_INT},
      {MPI_SHORT_INT, NAGAYA_ELEMENT_SHORT_INT},
      {MPI_LONG_DOUBLE_INT, NAGAYA_ELEMENT_LONG_DOUBLE_INT},
      {MPI_2INTEGER, NAGAYA_ELEMENT_INT_INT},
      {MPI_2REAL, NAGAYA_ELEMENT_FLOAT_FLOAT},
      {MPI_2DOUBLE_PRECISION, NAGAYA_ELEMENT_DOUBLE_DOUBLE},
  };
  for (const NamedOp& one : ops) reductions.insert(key_of(one.op), &one.reduction);
  for (const NamedType& one : types)  // an MPI need not have those that the standard calls optional
    if (one.type != MPI_DATATYPE_NULL) elements.insert(key_of(one.type), &one.element);
}

}  // namespace

const nagaya_element_type* find_element_type(MPI_Datatype type) {
  return Predefined::known().elements.find(key_of(type));
}

const nagaya_reduction* find_reduction(MPI_Op op) {
  return Predefined::known().reductions.find(key_of(op));
}

}  // namespace nagaya::mpi::NAGAYA_MPI_ABI

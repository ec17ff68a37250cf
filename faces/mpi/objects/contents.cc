// SPDX-License-Identifier: BSD-3-Clause
#include "objects/contents.h"

namespace nagaya::mpi::NAGAYA_MPI_ABI {
namespace {

struct Envelope {
  MPI_Count integers = 0, addresses = 0, counts = 0, types = 0;  // how many arguments of each kind
  int combiner = MPI_UNDEFINED;                                  // if the MPI beneath does not tell
  bool has_counts = true;  // the MPI beneath has functions with MPI_Count
};

// MPICH answers the function with ints only for types that were made by such functions; the one
// with MPI_Count answers for all.
Envelope envelope_of(MPI_Datatype type) {
  Envelope all;
  if (beneath.Type_get_envelope_c(type, &all.integers, &all.addresses, &all.counts, &all.types,
                                  &all.combiner) != MPI_ERR_UNSUPPORTED_OPERATION)
    return all;
  int integers = 0, addresses = 0, types = 0;
  beneath.Type_get_envelope(type, &integers, &addresses, &types, &all.combiner);
  return {integers, addresses, 0, types, all.combiner, false};
}

bool is_made_by_mpi(int combiner) {
  return combiner == MPI_COMBINER_NAMED || combiner == MPI_COMBINER_F90_REAL ||
         combiner == MPI_COMBINER_F90_COMPLEX || combiner == MPI_COMBINER_F90_INTEGER ||
         combiner == MPI_COMBINER_VALUE_INDEX;
}

}  // namespace

bool Contents::is_predefined() const {
  return is_made_by_mpi(combiner_);
}

Contents::Contents(MPI_Datatype type) {
  const Envelope all = envelope_of(type);
  combiner_ = all.combiner;
  if (combiner_ == MPI_UNDEFINED || combiner_ == MPI_COMBINER_NAMED) return;
  integers_.resize(static_cast<size_t>(all.integers));
  addresses_.resize(static_cast<size_t>(all.addresses));
  counts_.resize(static_cast<size_t>(all.counts));
  types_.resize(static_cast<size_t>(all.types));
  const int error =
      all.has_counts
          ? beneath.Type_get_contents_c(type, all.integers, all.addresses, all.counts, all.types,
                                        integers_.data(), addresses_.data(), counts_.data(),
                                        types_.data())
          : beneath.Type_get_contents(type, static_cast<int>(all.integers),
                                      static_cast<int>(all.addresses), static_cast<int>(all.types),
                                      integers_.data(), addresses_.data(), types_.data());
  if (error == MPI_SUCCESS) return;
  combiner_ = MPI_UNDEFINED;
  types_.clear();
}

Contents::~Contents() {
  for (MPI_Datatype type : types_)
    if (!is_made_by_mpi(envelope_of(type).combiner)) beneath.Type_free(&type);
}

ptrdiff_t Contents::number() {
  return counts_.empty() ? integers_[next_integer_++]
                         : static_cast<ptrdiff_t>(counts_[next_count_++]);
}

ptrdiff_t Contents::address() {
  return counts_.empty() ? addresses_[next_address_++]
                         : static_cast<ptrdiff_t>(counts_[next_count_++]);
}

std::vector<ptrdiff_t> Contents::numbers(size_t count, ptrdiff_t unit) {
  std::vector<ptrdiff_t> all(count);
  for (ptrdiff_t& one : all) one = number() * unit;
  return all;
}

std::vector<ptrdiff_t> Contents::addresses(size_t count) {
  std::vector<ptrdiff_t> all(count);
  for (ptrdiff_t& one : all) one = address();
  return all;
}

}  // namespace nagaya::mpi::NAGAYA_MPI_ABI

// SPDX-License-Identifier: BSD-3-Clause
#include "objects/combiners.h"

#include <algorithm>

namespace nagaya::mpi::NAGAYA_MPI_ABI {
namespace {

using Numbers = std::vector<ptrdiff_t>;

// The new type, as its parts are added.
class Combination {
 public:
  // Adds `count` elements of an old type, one extent apart.
  void add(ptrdiff_t place, const TypeLayout& old, ptrdiff_t count) {
    add(place, old, count, old.extent);
  }
  void add(ptrdiff_t place, const TypeLayout& old, ptrdiff_t count, ptrdiff_t stride) {
    if (count <= 0 || old.layout->bytes() == 0) return;
    builder_.add(place, old.layout, static_cast<size_t>(count), stride);
    elementary_ = is_empty_ || elementary_ == old.elementary ? old.elementary : MPI_DATATYPE_NULL;
    is_empty_ = false;
  }
  TypeLayout finish() { return {builder_.finish(), 0, elementary_}; }

 private:
  LayoutBuilder builder_;
  MPI_Datatype elementary_ = MPI_DATATYPE_NULL;
  bool is_empty_ = true;
};

TypeLayout repeated(const TypeLayout& old, ptrdiff_t count, ptrdiff_t stride) {
  Combination all;
  all.add(0, old, count, stride);
  return all.finish();
}

TypeLayout vector(const TypeLayout& old, ptrdiff_t count, ptrdiff_t length, ptrdiff_t stride) {
  return repeated(repeated(old, length, old.extent), count, stride);
}

// Blocks of one or many old types: the struct has an old type for each block.
TypeLayout indexed(const std::vector<TypeLayout>& old, const Numbers& lengths,
                   const Numbers& places) {
  Combination all;
  for (size_t n = 0; n < places.size(); ++n)
    all.add(places[n], old[old.size() > 1 ? n : 0], lengths[n]);
  return all.finish();
}

// ---- boxes of arrays ----------------------------------------------------------------------------

// One dimension of an array, and the part of it that the type has.
struct Dimension {
  ptrdiff_t size;
  // Blocks of `length` indices, `step` from one to the next; then one of `rest`.
  ptrdiff_t first, length, count, step, rest;
};

// `all`: dimensions as the call has them. The order of the message is that of the addresses.
TypeLayout box(TypeLayout element, std::vector<Dimension> all, int order) {
  if (order == MPI_ORDER_C) std::reverse(all.begin(), all.end());
  ptrdiff_t stride = element.extent;
  for (const Dimension& one : all) {
    const TypeLayout block = repeated(element, one.length, stride);
    Combination next;
    next.add(one.first * stride, block, one.count, one.step * stride);
    next.add((one.first + one.count * one.step) * stride, element, one.rest, stride);
    element = next.finish();
    stride *= one.size;
  }
  return element;
}

TypeLayout subarray(Contents& made, const TypeLayout& old) {
  const auto dimensions = static_cast<size_t>(made.integer());
  const Numbers sizes = made.numbers(dimensions), parts = made.numbers(dimensions),
                starts = made.numbers(dimensions);
  std::vector<Dimension> all;
  for (size_t n = 0; n < dimensions; ++n) all.push_back({sizes[n], starts[n], parts[n], 1, 0, 0});
  return box(old, std::move(all), made.integer());
}

// The part of process `coordinate` of `processes`. `argument`: of the distribution.
Dimension distributed(ptrdiff_t size, int distribution, int argument, ptrdiff_t processes,
                      ptrdiff_t coordinate) {
  if (distribution == MPI_DISTRIBUTE_NONE) return {size, 0, size, 1, 0, 0};
  const bool is_cyclic = distribution == MPI_DISTRIBUTE_CYCLIC;
  ptrdiff_t length = argument;
  if (argument == MPI_DISTRIBUTE_DFLT_DARG)
    length = is_cyclic ? 1 : (size + processes - 1) / processes;
  const ptrdiff_t first = coordinate * length, step = processes * length;
  const ptrdiff_t left = std::max<ptrdiff_t>(size - first, 0);
  const ptrdiff_t count = left / step + (left % step >= length ? 1 : 0);
  const ptrdiff_t rest = std::clamp<ptrdiff_t>(left - count * step, 0, length);
  return {size, first, length, count, step, rest};
}

TypeLayout distributed_array(Contents& made, const TypeLayout& old) {
  made.integer();  // processes
  ptrdiff_t rank = made.integer();
  const auto dimensions = static_cast<size_t>(made.integer());
  const Numbers sizes = made.numbers(dimensions);
  std::vector<int> words(3 * dimensions + 1);  // distributions, arguments, processes, order
  for (int& word : words) word = made.integer();
  std::vector<Dimension> all(dimensions);
  for (size_t n = dimensions; n-- != 0;) {  // ranks are in the order of C
    const int processes = words[2 * dimensions + n];
    all[n] = distributed(sizes[n], words[n], words[dimensions + n], processes, rank % processes);
    rank /= processes;
  }
  return box(old, std::move(all), words.back());
}

}  // namespace

// A pair (MPI_SHORT_INT) may have a gap before its index.
SharedLayout layout_of_predefined(MPI_Datatype type, const Contents& made) {
  MPI_Aint true_lb = 0, true_extent = 0;
  int size = 0, index_size = sizeof(int);
  beneath.Type_size(type, &size);
  beneath.Type_get_true_extent(type, &true_lb, &true_extent);
  LayoutBuilder builder;
  if (size == true_extent || size == 0) {
    builder.add_runs(true_lb, static_cast<size_t>(size));
    return builder.finish();
  }
  if (made.combiner() == MPI_COMBINER_VALUE_INDEX) beneath.Type_size(made.types()[1], &index_size);
  builder.add_runs(true_lb, static_cast<size_t>(size - index_size));
  builder.add_runs(true_lb + true_extent - index_size, static_cast<size_t>(index_size));
  return builder.finish();
}

std::optional<TypeLayout> combine(Contents& made, const std::vector<TypeLayout>& old) {
  if (made.combiner() == MPI_UNDEFINED) return std::nullopt;
  if (old.empty()) return TypeLayout{LayoutBuilder().finish(), 0, MPI_DATATYPE_NULL};
  const ptrdiff_t extent = old[0].extent;
  // Arguments are read in their order, so each has a statement of its own.
  switch (made.combiner()) {
    case MPI_COMBINER_DUP:
    case MPI_COMBINER_RESIZED:
      return old[0];
    case MPI_COMBINER_SUBARRAY:
      return subarray(made, old[0]);
    case MPI_COMBINER_DARRAY:
      return distributed_array(made, old[0]);
    default:
      break;
  }
  const ptrdiff_t count = made.number();
  const auto blocks = static_cast<size_t>(count);
  Numbers lengths;
  ptrdiff_t length = 0;
  switch (made.combiner()) {
    case MPI_COMBINER_CONTIGUOUS:
      return repeated(old[0], count, extent);
    case MPI_COMBINER_VECTOR:
      length = made.number();
      return vector(old[0], count, length, made.number() * extent);
    case MPI_COMBINER_HVECTOR:
      length = made.number();
      return vector(old[0], count, length, made.address());
    case MPI_COMBINER_HVECTOR_INTEGER:
      length = made.number();
      return vector(old[0], count, length, made.number());
    case MPI_COMBINER_INDEXED:
      lengths = made.numbers(blocks);
      return indexed(old, lengths, made.numbers(blocks, extent));
    case MPI_COMBINER_HINDEXED:
    case MPI_COMBINER_STRUCT:
      lengths = made.numbers(blocks);
      return indexed(old, lengths, made.addresses(blocks));
    case MPI_COMBINER_HINDEXED_INTEGER:
    case MPI_COMBINER_STRUCT_INTEGER:
      lengths = made.numbers(blocks);
      return indexed(old, lengths, made.numbers(blocks));
    case MPI_COMBINER_INDEXED_BLOCK:
      lengths.assign(blocks, made.number());
      return indexed(old, lengths, made.numbers(blocks, extent));
    case MPI_COMBINER_HINDEXED_BLOCK:
      lengths.assign(blocks, made.number());
      return indexed(old, lengths, made.addresses(blocks));
    default:
      return std::nullopt;
  }
}

}  // namespace nagaya::mpi::NAGAYA_MPI_ABI

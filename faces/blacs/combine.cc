// SPDX-License-Identifier: BSD-3-Clause
#include "faces/blacs/combine.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "faces/blacs/broadcast.h"
#include "faces/blacs/layout.h"
#include "faces/blacs/waiting.h"

namespace nagaya::blacs {
namespace {

// ---- items --------------------------------------------------------------------------------------

// An item, and the distance in ranks, counted cyclically, from the first process to its own.
template <class T>
struct Candidate {
  T item;
  Int distance;
};

template <class T>
bool is_second_better(const Candidate<T>& a, const Candidate<T>& b, bool wants_greatest) {
  const auto far_a = distance_from_0(a.item), far_b = distance_from_0(b.item);
  if (wants_greatest ? far_a < far_b : far_b < far_a) return true;
  return far_a == far_b && b.distance < a.distance;
}

template <class T>
void reduce_by_sum(void*, const void* in, void* inout, size_t count) {
  add_items<T>(in, inout, count);
}

template <class T>
void reduce_by_extreme(void* wants_greatest, const void* in, void* inout, size_t count) {
  choose_items<T>(wants_greatest != nullptr, in, inout, count);
}

// ---- matrices -----------------------------------------------------------------------------------

bool is_result_for_all(const CombineOperand& operand) {
  return operand.destination_row == -1 || operand.destination_column == -1;
}

bool is_result_here(const Grid& grid, Scope scope, const CombineOperand& operand) {
  return is_result_for_all(operand) ||
         grid.rank_in(scope, operand.destination_row, operand.destination_column) ==
             grid.rank_in(scope, grid.row(), grid.column());
}

size_t count_of(const CombineOperand& operand) {
  return operand.m < 1 || operand.n < 1
             ? 0
             : static_cast<size_t>(operand.m) * static_cast<size_t>(operand.n);
}

// Calls what(item, number) for each item of the matrix. `number`: the item's place among the items,
// column by column.
template <class T, class What>
void for_each_item(const CombineOperand& operand, Int ld, T* matrix, What what) {
  size_t number = 0;
  for (Int column = 0; column < operand.n; ++column)
    for (Int row = 0; row < operand.m; ++row)
      what(matrix[static_cast<ptrdiff_t>(column) * ld + row], number++);
}

// Reduces `items` in place. `gaps`: the runs of a matrix that is not one run, used instead of
// `items`; else nullptr.
template <class T>
void reduce(Grid& grid, Scope scope, const CombineOperand& operand, T* items,
            const nagaya_runs* gaps, void (*reduce)(void*, const void*, void*, size_t),
            void* context) {
  nagaya_collective what = {};
  what.kind = is_result_for_all(operand) ? NAGAYA_ALLREDUCE : NAGAYA_REDUCE;
  if (!is_result_for_all(operand))
    what.root = static_cast<uint32_t>(
        grid.rank_in(scope, operand.destination_row, operand.destination_column));
  what.send.base = what.receive.base = items;
  what.send.runs = what.receive.runs = gaps;
  what.elements.count = count_of(operand);
  what.elements.extent = sizeof(T);
  what.elements.reduce = reduce;
  what.elements.context = context;
  what.elements.commutes = 1;
  const int error = run(grid.team(scope), what);
  if (error != 0) grid.refuse_call(strerrorname_np(-error));
}

// Reduces a matrix that may have gaps between its columns; over several nodes by a packed copy.
template <class T>
void reduce_matrix(Grid& grid, Scope scope, const CombineOperand& operand, T* matrix,
                   void (*function)(void*, const void*, void*, size_t), void* context) {
  const Layout layout = Layout::rectangle(matrix, operand.m, operand.n, operand.lda, sizeof(T));
  if (layout.is_one_run() || grid.is_in_one_node(scope))
    return reduce(grid, scope, operand, matrix, layout.runs_or_null(), function, context);
  std::vector<T> items(count_of(operand));
  for_each_item(operand, operand.lda, matrix, [&](T& item, size_t n) { items[n] = item; });
  reduce<T>(grid, scope, operand, items.data(), nullptr, function, context);
  if (is_result_here(grid, scope, operand))
    for_each_item(operand, operand.lda, matrix, [&](T& item, size_t n) { item = items[n]; });
}

// ---- extremes with their origins ----------------------------------------------------------------

// A search of a scope's matrices for the extreme of each item, and the process that has it.
template <class T>
class ExtremeSearch {
 public:
  ExtremeSearch(Grid& grid, Scope scope, const CombineOperand& operand, T* matrix,
                const Origins& origins, bool wants_greatest)
      : grid_(grid),
        scope_(scope),
        operand_(operand),
        own_{matrix,
             std::max(operand.lda, operand.m),
             {origins.rows, origins.columns, std::max(origins.ld, operand.m)}},
        wants_greatest_(wants_greatest),
        size_(grid.size_of(scope)),
        rank_(grid.rank_in(scope, grid.row(), grid.column())),
        first_(is_result_for_all(operand)
                   ? 0
                   : grid.rank_in(scope, operand.destination_row, operand.destination_column)) {}

  // Each item is sent with the distance of its process beside it.
  void run_by_copies() {
    std::vector<Candidate<T>> found(count_of(operand_));
    for_each_item(operand_, own_.lda, own_.items, [&](T& item, size_t n) {
      found[n] = {item, (size_ + rank_ - first_) % size_};
    });
    reduce(grid_, scope_, operand_, found.data(), nullptr, reduce_by_extreme<Candidate<T>>,
           wants_greatest_ ? &wants_greatest_ : nullptr);
    if (found.empty() || !is_result_here(grid_, scope_, operand_)) return;
    for (Int column = 0; column < operand_.n; ++column)
      store(own_, 0, column, &found[static_cast<size_t>(column) * static_cast<size_t>(operand_.m)],
            operand_.m);
  }

  // For a scope in one node. Each process searches one slice: it reads and writes all matrices.
  void run_directly() {
    const std::vector<Matrices> all = allgather_value(grid_, scope_, own_);
    const auto size = static_cast<size_t>(size_), rank = static_cast<size_t>(rank_);
    const size_t count = count_of(operand_), end = count * (rank + 1) / size;
    const auto m = static_cast<size_t>(operand_.m);
    for (size_t n = count * rank / size, length; n < end; n += length) {
      length = std::min({m - n % m, end - n, kTile});
      search_tile(all, static_cast<Int>(n % m), static_cast<Int>(n / m), static_cast<Int>(length));
    }
    barrier(grid_, scope_);
  }

 private:
  // Items of a column that stay in the first cache.
  static constexpr size_t kTile = 256;

  // The matrices of one process.
  struct Matrices {
    T* items;
    Int lda;
    Origins origins;

    T* at(Int row, Int column) const { return items + static_cast<ptrdiff_t>(column) * lda + row; }
  };

  void search_tile(const std::vector<Matrices>& all, Int row, Int column, Int length) {
    Candidate<T> found[kTile];
    for (Int distance = 0; distance < size_; ++distance) {
      const Matrices& next = all[static_cast<size_t>((first_ + distance) % size_)];
      const T* const items = next.at(row, column);
      for (Int n = 0; n < length; ++n) {
        const Candidate<T> one{items[n], distance};
        if (distance == 0 || is_second_better(found[n], one, wants_greatest_)) found[n] = one;
      }
    }
    if (!is_result_for_all(operand_))
      return store(all[static_cast<size_t>(first_)], row, column, found, length);
    for (const Matrices& one : all) store(one, row, column, found, length);
  }

  // Stores `length` results into one column, from `row` on.
  void store(const Matrices& to, Int row, Int column, const Candidate<T>* found, Int length) const {
    T* const items = to.at(row, column);
    const ptrdiff_t origin = static_cast<ptrdiff_t>(column) * to.origins.ld + row;
    for (Int n = 0; n < length; ++n) {
      const Int rank = (first_ + found[n].distance) % size_;
      items[n] = found[n].item;
      to.origins.rows[origin + n] = scope_ == Scope::kRow      ? grid_.row()
                                    : scope_ == Scope::kColumn ? rank
                                                               : rank / grid_.columns();
      to.origins.columns[origin + n] =
          scope_ == Scope::kColumn ? grid_.column() : rank % grid_.columns();
    }
  }

  Grid& grid_;
  const Scope scope_;
  const CombineOperand& operand_;
  const Matrices own_;
  bool wants_greatest_;
  const Int size_, rank_;
  const Int first_;  // rank from which distances count: of equal items the nearest wins
};

}  // namespace

template <class T>
void sum(Grid& grid, Scope scope, const CombineOperand& operand, T* matrix) {
  reduce_matrix(grid, scope, operand, matrix, reduce_by_sum<T>, nullptr);
}

template <class T>
void find_extreme(Grid& grid, Scope scope, const CombineOperand& operand, T* matrix,
                  const Origins& origins, bool wants_greatest) {
  void* const context = wants_greatest ? &wants_greatest : nullptr;
  if (origins.ld == -1)
    return reduce_matrix(grid, scope, operand, matrix, reduce_by_extreme<T>, context);
  ExtremeSearch<T> search(grid, scope, operand, matrix, origins, wants_greatest);
  // Shorter elements are posted as copies anyway (kCombined of tuning.h).
  constexpr size_t kDirectBytes = 4096;
  if (grid.is_in_one_node(scope) && count_of(operand) * sizeof(Candidate<T>) > kDirectBytes)
    search.run_directly();
  else
    search.run_by_copies();
}

#define INSTANTIATE(T)                                           \
  template void sum<T>(Grid&, Scope, const CombineOperand&, T*); \
  template void find_extreme<T>(Grid&, Scope, const CombineOperand&, T*, const Origins&, bool);
INSTANTIATE(Int)
INSTANTIATE(float)
INSTANTIATE(double)
INSTANTIATE(Complex<float>)
INSTANTIATE(Complex<double>)
#undef INSTANTIATE

}  // namespace nagaya::blacs

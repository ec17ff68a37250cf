// SPDX-License-Identifier: BSD-3-Clause
#include "faces/blacs/combine.h"

#include <cstring>
#include <string>
#include <vector>

#include "faces/blacs/layout.h"

namespace nagaya::blacs {
namespace {

// ---- items --------------------------------------------------------------------------------------

// An item, and how many processes behind the result's first it was found.
template <class T>
struct Found {
  T item;
  Int distance;
};

template <class T>
bool is_second_better(const Found<T>& a, const Found<T>& b, bool wants_greatest) {
  const auto far_a = distance_from_0(a.item), far_b = distance_from_0(b.item);
  if (far_a != far_b) return wants_greatest == (far_a < far_b);
  return b.distance < a.distance;
}

template <class T>
void add_all(void*, const void* in, void* inout, size_t count) {
  add_items<T>(in, inout, count);
}

template <class T>
void choose_all(void* wants_greatest, const void* in, void* inout, size_t count) {
  choose_items<T>(wants_greatest != nullptr, in, inout, count);
}

// ---- matrices -----------------------------------------------------------------------------------

bool is_for_all(const Place& place) {
  return place.row == -1 || place.column == -1;
}

bool is_result_here(const Grid& grid, Scope scope, const Place& place) {
  return is_for_all(place) || grid.rank_in(scope, place.row, place.column) ==
                                  grid.rank_in(scope, grid.row(), grid.column());
}

size_t count_of(const Place& place) {
  return place.m < 1 || place.n < 1 ? 0
                                    : static_cast<size_t>(place.m) * static_cast<size_t>(place.n);
}

// Calls what(item of the matrix, number of it in a matrix without gaps).
template <class T, class What>
void for_each_item(const Place& place, Int ld, T* matrix, What what) {
  size_t number = 0;
  for (Int column = 0; column < place.n; ++column)
    for (Int row = 0; row < place.m; ++row)
      what(matrix[static_cast<ptrdiff_t>(column) * ld + row], number++);
}

// In place. `gaps`: of a matrix that is not one run, in place of `items`.
template <class T>
void reduce(Grid& grid, Scope scope, const Place& place, T* items, const nagaya_runs* gaps,
            void (*reduce)(void*, const void*, void*, size_t), void* context) {
  nagaya_collective what = {};
  what.kind = is_for_all(place) ? NAGAYA_ALLREDUCE : NAGAYA_REDUCE;
  if (!is_for_all(place))
    what.root = static_cast<uint32_t>(grid.rank_in(scope, place.row, place.column));
  what.send.base = what.receive.base = items;
  what.send.runs = what.receive.runs = gaps;
  what.elements.count = count_of(place);
  what.elements.extent = sizeof(T);
  what.elements.reduce = reduce;
  what.elements.context = context;
  what.elements.commutes = 1;
  const int error = nagaya_coll_run(&grid.team(scope), &what);
  if (error != 0)
    System::own().abort(1, "a combine operation: " + std::string(strerrorname_np(-error)));
}

// The same of a matrix that may have gaps between its columns: over several nodes from a copy.
template <class T>
void reduce_matrix(Grid& grid, Scope scope, const Place& place, T* matrix,
                   void (*function)(void*, const void*, void*, size_t), void* context) {
  const Layout layout = Layout::rectangle(matrix, place.m, place.n, place.lda, sizeof(T));
  if (layout.is_one_run() || grid.is_in_one_node(scope))
    return reduce(grid, scope, place, matrix, layout.gaps(), function, context);
  std::vector<T> items(count_of(place));
  for_each_item(place, place.lda, matrix, [&](T& item, size_t n) { items[n] = item; });
  reduce<T>(grid, scope, place, items.data(), nullptr, function, context);
  if (is_result_here(grid, scope, place))
    for_each_item(place, place.lda, matrix, [&](T& item, size_t n) { item = items[n]; });
}

}  // namespace

template <class T>
void sum(Grid& grid, Scope scope, const Place& place, T* matrix) {
  reduce_matrix(grid, scope, place, matrix, add_all<T>, nullptr);
}

template <class T>
void find_extreme(Grid& grid, Scope scope, const Place& place, T* matrix, const Origins& origins,
                  bool wants_greatest) {
  void* const context = wants_greatest ? &wants_greatest : nullptr;
  if (origins.ld == -1) return reduce_matrix(grid, scope, place, matrix, choose_all<T>, context);
  const Int size = grid.size_of(scope);
  const Int first = is_for_all(place) ? 0 : grid.rank_in(scope, place.row, place.column);
  const Int own = grid.rank_in(scope, grid.row(), grid.column());
  const Int lda = std::max(place.lda, place.m), ld = std::max(origins.ld, place.m);
  std::vector<Found<T>> found(count_of(place));
  for_each_item(place, lda, matrix, [&](T& item, size_t n) {
    found[n] = {item, (size + own - first) % size};
  });
  reduce(grid, scope, place, found.data(), nullptr, choose_all<Found<T>>, context);
  if (!is_result_here(grid, scope, place)) return;
  const auto rank_of = [&](size_t n) { return (first + found[n].distance) % size; };
  for_each_item(place, lda, matrix, [&](T& item, size_t n) { item = found[n].item; });
  for_each_item(place, ld, origins.rows, [&](Int& row, size_t n) {
    row = scope == Scope::kRow      ? grid.row()
          : scope == Scope::kColumn ? rank_of(n)
                                    : rank_of(n) / grid.columns();
  });
  for_each_item(place, ld, origins.columns, [&](Int& column, size_t n) {
    column = scope == Scope::kColumn ? grid.column() : rank_of(n) % grid.columns();
  });
}

#define INSTANTIATE(T)                                  \
  template void sum<T>(Grid&, Scope, const Place&, T*); \
  template void find_extreme<T>(Grid&, Scope, const Place&, T*, const Origins&, bool);
INSTANTIATE(Int)
INSTANTIATE(float)
INSTANTIATE(double)
INSTANTIATE(Complex<float>)
INSTANTIATE(Complex<double>)
#undef INSTANTIATE

}  // namespace nagaya::blacs

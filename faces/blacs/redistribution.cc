// SPDX-License-Identifier: BSD-3-Clause
#include "faces/blacs/redistribution.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "faces/blacs/broadcast.h"

namespace nagaya::blacs {
namespace {

// ---- the distributions, which processes exchange ------------------------------------------------

// How a matrix's rows are distributed, block-cyclically, over the rows of a grid, or its columns
// over the columns. An index is the number of a row or column.
struct BlockCyclic {
  Int block, first, processes;
  Int begin;  // of the submatrix in the matrix, from 0

  // Whether a matrix of `all` indexes can be distributed so, with `count` of them from `begin` on.
  bool is_valid_for(Int count, Int all) const {
    return block > 0 && first >= 0 && first < processes && begin >= 0 && begin <= all - count;
  }
  // Returns how many of the first `n` indexes of the matrix the process has.
  Int local_count_of(Int n, Int process) const {
    const Int distance = (process - first + processes) % processes, blocks = n / block;
    const Int in_last_round = blocks % processes;
    const Int last = distance < in_last_round ? block : distance == in_last_round ? n % block : 0;
    return blocks / processes * block + last;
  }
  Int owner_of(Int n) const { return ((begin + n) / block + first) % processes; }
  Int local_index_of(Int n) const {
    const Int at = begin + n;
    return at / block / processes * block + at % block;
  }
  Int left_in_block(Int n) const { return block - (begin + n) % block; }
  // Returns how many indexes before `n` of the submatrix the process has: their local numbers are
  // below the result.
  Int local_before(Int n, Int process) const { return local_count_of(begin + n, process); }
  // Returns the index in the submatrix of a process's local number.
  Int submatrix_index_of(Int local, Int process) const {
    const Int distance = (process - first + processes) % processes;
    return (local / block * processes + distance) * block + local % block - begin;
  }
};

// A process's part of a matrix.
struct LocalSubmatrix {
  std::byte* local;
  ptrdiff_t column_bytes;
  Int row, column;  // its place in the matrix's grid; -1: it has no part
  BlockCyclic rows, columns;
};
struct LocalSubmatrices {
  LocalSubmatrix from, to;
};

LocalSubmatrix local_submatrix_of(const Submatrix& matrix, const Shape& shape, size_t item_bytes) {
  const Descriptor& descriptor = matrix.descriptor;
  const Grid* const grid = find_grid(descriptor.context);
  if (grid == nullptr) return {nullptr, 0, -1, -1, {}, {}};
  const BlockCyclic rows{descriptor.block_rows, descriptor.first_row, grid->rows(), matrix.row - 1};
  const BlockCyclic columns{descriptor.block_columns, descriptor.first_column, grid->columns(),
                            matrix.column - 1};
  const bool is_inside = rows.is_valid_for(shape.m, descriptor.rows) &&
                         columns.is_valid_for(shape.n, descriptor.columns) &&
                         descriptor.ld >= rows.local_count_of(descriptor.rows, grid->row());
  if (!is_inside)
    grid->refuse_call(std::to_string(shape.m) + " x " + std::to_string(shape.n) + " items from {" +
                      std::to_string(matrix.row) + "," + std::to_string(matrix.column) +
                      "} on are not in a matrix of " + std::to_string(descriptor.rows) + " x " +
                      std::to_string(descriptor.columns) + ", first process {" +
                      std::to_string(descriptor.first_row) + "," +
                      std::to_string(descriptor.first_column) + "}, leading dimension " +
                      std::to_string(descriptor.ld));
  return {static_cast<std::byte*>(matrix.local),
          static_cast<ptrdiff_t>(static_cast<size_t>(descriptor.ld) * item_bytes),
          grid->row(),
          grid->column(),
          rows,
          columns};
}

// ---- the copy -----------------------------------------------------------------------------------

// Rows or columns that follow each other in the memory of one process on both sides.
struct Interval {
  Int source;  // row or column of the source's grid that has it
  Int from, to, length;
};

// Returns the intervals that row or column `own` of the target's grid gets.
std::vector<Interval> intervals_of(const BlockCyclic& from, const BlockCyclic& to, Int own,
                                   Int count) {
  std::vector<Interval> all;
  for (Int n = 0, length; n < count; n += length) {
    length = std::min({from.left_in_block(n), to.left_in_block(n), count - n});
    if (to.owner_of(n) != own) continue;
    const Interval next{from.owner_of(n), from.local_index_of(n), to.local_index_of(n), length};
    const bool follows = !all.empty() && all.back().source == next.source &&
                         all.back().from + all.back().length == next.from &&
                         all.back().to + all.back().length == next.to;
    if (follows)
      all.back().length += length;
    else
      all.push_back(next);
  }
  return all;
}

// Copies a short interval item by item: that costs less than a call of memcpy().
template <size_t item_bytes>
void copy_items(std::byte* to, const std::byte* from, Int count) {
  constexpr Int kShort = 128 / item_bytes;
  if (count > kShort) {
    std::memcpy(to, from, static_cast<size_t>(count) * item_bytes);
    return;
  }
  for (Int n = 0; n < count; ++n, to += item_bytes, from += item_bytes)
    std::memcpy(to, from, item_bytes);
}

// The caller's part of the target, and the sources' parts by their places in their grid.
class Target {
 public:
  Target(const std::vector<LocalSubmatrices>& all, const LocalSubmatrix& own) : own_(own) {
    for (const auto& [from, to] : all) {
      if (from.row < 0) continue;
      sources_.resize(static_cast<size_t>(from.rows.processes * from.columns.processes));
      sources_[static_cast<size_t>(from.row * from.columns.processes + from.column)] = &from;
    }
    if (sources_.empty() || std::find(sources_.begin(), sources_.end(), nullptr) != sources_.end())
      System::own().refuse_call(": a process of the source's grid is not in the last argument's");
  }

  template <size_t item_bytes>
  void copy(const Shape& shape) const {
    if (own_.row < 0) return;
    const LocalSubmatrix& any = *sources_[0];
    const auto row_intervals = intervals_of(any.rows, own_.rows, own_.row, shape.m);
    for (const Interval& some : intervals_of(any.columns, own_.columns, own_.column, shape.n))
      for (Int n = 0; n < some.length; ++n) {
        const Shape::Rows rows =
            shape.rows_of(own_.columns.submatrix_index_of(some.to + n, own_.column));
        copy_column<item_bytes>(row_intervals,
                                {own_.rows.local_before(rows.begin, own_.row),
                                 own_.rows.local_before(rows.end, own_.row)},
                                some.source, some.from + n, some.to + n);
      }
  }

 private:
  // Copies the local rows `local` of column `to` from column `from` of the sources in their grid's
  // column `source`; `from` and `to` are local numbers.
  template <size_t item_bytes>
  void copy_column(const std::vector<Interval>& rows, Shape::Rows local, Int source, Int from,
                   Int to) const {
    const Int grid_columns = sources_[0]->columns.processes;
    std::byte* const target = own_.local + to * own_.column_bytes;
    for (const Interval& some : rows) {
      const Int skipped = std::max(local.begin - some.to, 0);
      const Int length = std::min(local.end - some.to, some.length) - skipped;
      if (length <= 0) continue;
      const LocalSubmatrix& part =
          *sources_[static_cast<size_t>(some.source * grid_columns + source)];
      const std::byte* const column = part.local + from * part.column_bytes;
      constexpr auto kBytes = static_cast<ptrdiff_t>(item_bytes);
      copy_items<item_bytes>(target + (some.to + skipped) * kBytes,
                             column + (some.from + skipped) * kBytes, length);
    }
  }

  const LocalSubmatrix& own_;
  std::vector<const LocalSubmatrix*> sources_;
};

}  // namespace

void redistribute(Grid& grid, const Shape& shape, size_t item_bytes, const Submatrix& from,
                  const Submatrix& to) {
  const LocalSubmatrices own{local_submatrix_of(from, shape, item_bytes),
                             local_submatrix_of(to, shape, item_bytes)};
  const std::vector<LocalSubmatrices> all = allgather_value(grid, Scope::kAll, own);
  const Target target(all, own.to);
  if (item_bytes == 4)
    target.copy<4>(shape);
  else if (item_bytes == 8)
    target.copy<8>(shape);
  else
    target.copy<16>(shape);
  barrier(grid, Scope::kAll);
}

}  // namespace nagaya::blacs

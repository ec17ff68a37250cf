// SPDX-License-Identifier: BSD-3-Clause
// transposition.cc - any MPI's way from a matrix that is distributed by rows to one that is
// distributed by columns: pack what goes to each rank, MPI_Alltoall. The blocks that arrive are
// whole rows of the new one, so nothing is unpacked. The slowest rank counts.
#include <mpi.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "mpi_program.h"

namespace nagaya::bench {
namespace {

class Bench {
 public:
  Bench(const Options& options, int extent, int limit_ms)
      : options_(options), extent_(static_cast<size_t>(extent)), limit_ms_(limit_ms) {
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    rank_ = static_cast<size_t>(rank);
    ranks_ = static_cast<size_t>(size);
    own_ = extent_ / ranks_;
    if (own_ * ranks_ != extent_)
      throw std::runtime_error("the number of ranks does not divide the extent");
    for (std::vector<double>* numbers : {&by_rows_, &packed_, &by_columns_})
      numbers->resize(own_ * extent_);
  }

  Result measure() {
    Result result{
        .program = "transposition", .quick = options_.quick, .figures = {}, .derived = {}};
    for (int round = 0; round < options_.rounds_or(5, 1); ++round)
      add_round(result, {{.name = "transposition",
                          .title = "from rows to columns",
                          .unit = "ms",
                          .subject = {"this job", {time_of_one()}},
                          .incumbent = {},
                          .floor = {}}});
    return result;
  }

 private:
  // Returns the mean time of one of some turns. [ms]
  double time_of_one() {
    const int turns = turns_within(limit_ms_, options_.quick ? 2 : 10, [this](int n) { act(n); });
    act(1);
    double time = act(turns), longest = 0;
    MPI_Allreduce(&time, &longest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return longest / turns * 1e3;
  }

  // Returns the time of so many turns, each from a barrier on. [s]
  double act(int turns) {
    double time = 0;
    for (int n = 0; n < turns; ++n) {
      std::iota(by_rows_.begin(), by_rows_.end(), value(rank_ * own_, 0) + ++written_);
      MPI_Barrier(MPI_COMM_WORLD);
      const double begin = MPI_Wtime();
      transpose();
      time += MPI_Wtime() - begin;
      check();
    }
    return time;
  }

  void transpose() {
    const size_t block = own_ * own_;
    for (size_t to = 0; to < ranks_; ++to)
      for (size_t row = 0; row < own_; ++row)
        std::copy_n(&by_rows_[row * extent_ + to * own_], own_, &packed_[to * block + row * own_]);
    const int count = static_cast<int>(block);
    MPI_Alltoall(packed_.data(), count, MPI_DOUBLE, by_columns_.data(), count, MPI_DOUBLE,
                 MPI_COMM_WORLD);
  }

  void check() {
    if (options_.corrupt) by_columns_[0] += 1;
    for (size_t row = 0; row < extent_; ++row)
      for (size_t column = 0; column < own_; ++column)
        if (by_columns_[row * own_ + column] != value(row, rank_ * own_ + column) + written_)
          throw std::runtime_error(fmt::format("wrong number in row {}", row));
  }

  double value(size_t row, size_t column) const {
    return static_cast<double>(row * extent_ + column);
  }

  const Options options_;
  const size_t extent_;
  const int limit_ms_;
  size_t rank_, ranks_, own_;  // own_: rows, and columns, of each rank
  double written_ = 0;         // how often the matrix was written; added to each number
  std::vector<double> by_rows_, packed_, by_columns_;
};

}  // namespace
}  // namespace nagaya::bench

int main(int argc, char** argv) {
  using namespace nagaya::bench;
  Options options;
  int extent = 2048, limit_ms = 0;
  CommandLine line("A matrix by rows becomes one by columns, by an MPI", "transposition", options);
  line.add_number("--extent", extent, 1, 1 << 14, "Rows and columns of the matrix");
  line.add_number("--limit-ms", limit_ms, 0, 1 << 20, kLimitHelp);
  return run_mpi_program(line, options, argc, argv,
                         [&] { return Bench(options, extent, limit_ms).measure(); });
}

// SPDX-License-Identifier: BSD-3-Clause
// blacs.cc - the BLACS of any library: point-to-point messages, broadcasts, combines, and a program
// that uses them, a system of linear equations. Data are checked.
#include <algorithm>
#include <cmath>
#include <vector>

#include "mpi_program.h"

extern "C" {
void Cblacs_get(int context, int what, int* value);
void Cblacs_gridinit(int* context, const char* order, int rows, int columns);
void Cblacs_gridinfo(int context, int* rows, int* columns, int* row, int* column);
void Cblacs_gridexit(int context);
void Cblacs_exit(int goes_on);
void Cblacs_barrier(int context, const char* scope);
void Cdgesd2d(int context, int m, int n, double* a, int lda, int row, int column);
void Cdgerv2d(int context, int m, int n, double* a, int lda, int row, int column);
void Cdtrsd2d(int context, const char* part, const char* diagonal, int m, int n, double* a, int lda,
              int row, int column);
void Cdtrrv2d(int context, const char* part, const char* diagonal, int m, int n, double* a, int lda,
              int row, int column);
void Cdgebs2d(int context, const char* scope, const char* top, int m, int n, double* a, int lda);
void Cdgebr2d(int context, const char* scope, const char* top, int m, int n, double* a, int lda,
              int row, int column);
void Cdgsum2d(int context, const char* scope, const char* top, int m, int n, double* a, int lda,
              int row, int column);
int numroc_(const int* n, const int* nb, const int* own, const int* first, const int* count);
void descinit_(int* desc, const int* m, const int* n, const int* mb, const int* nb, const int* row,
               const int* column, const int* context, const int* lld, int* info);
void pdgemr2d_(const int* m, const int* n, double* a, const int* ia, const int* ja,
               const int* desca, double* b, const int* ib, const int* jb, const int* descb,
               const int* context);
void pdgesv_(const int* n, const int* nrhs, double* a, const int* ia, const int* ja,
             const int* desca, int* ipiv, double* b, const int* ib, const int* jb, const int* descb,
             int* info);
}

namespace nagaya::bench {
namespace {

// Blocks of a larger matrix.
constexpr int kSmall = 1, kLarge = 362, kLda = 400;  // 1 MiB

class Bench {
 public:
  explicit Bench(const Options& options) : options_(options) {
    Cblacs_get(0, 0, &context_);
    Cblacs_gridinit(&context_, "r", 2, 2);
    Cblacs_gridinfo(context_, &rows_, &columns_, &row_, &column_);
    matrix_.assign(static_cast<size_t>(kLda) * kLarge, 0);
  }

  std::vector<Figure> measure_round() {
    std::vector<Figure> figures;
    for (const int n : {kSmall, kLarge}) {
      const char* const size = n == kSmall ? "8B" : "1MiB";
      const auto add = [&](const char* name, const char* title, double time) {
        figures.push_back({fmt::format("{}_{}", name, size),
                           fmt::format("{}, {}", title, size),
                           "us",
                           {"this job", {time}},
                           {},
                           {}});
      };
      add("pair", "block there and back, one way", measure(n, [&] { pair(n, false); }) / 2);
      add("trapezoid", "trapezoid there and back, one way", measure(n, [&] { pair(n, true); }) / 2);
      add("bcast_row", "broadcast in a row", measure(n, [&] { broadcast("Row", n); }));
      add("bcast_column", "broadcast in a column", measure(n, [&] { broadcast("Column", n); }));
      add("bcast_all", "broadcast to all", measure(n, [&] { broadcast("All", n); }));
      add("sum_all", "sum of all, to all", measure(n, [&] { sum(n); }));
    }
    for (const int block : {16, 64})
      figures.push_back({fmt::format("pdgesv_{}", block),
                         fmt::format("pdgesv of N = 2000, blocks of {}", block),
                         "s",
                         {"this job", {solve(options_.quick ? 100 : 2000, block)}},
                         {},
                         {}});
    figures.push_back({"redistribution",
                       "redistribution of N = 2000, blocks of 64 to blocks of 32",
                       "ms",
                       {"this job", {redistribute(options_.quick ? 100 : 2000)}},
                       {},
                       {}});
    return figures;
  }

 private:
  double& at(int i, int j) {
    return matrix_[static_cast<size_t>(j) * kLda + static_cast<size_t>(i)];
  }
  void mark(int n) {
    for (int j = 0; j < n; ++j) at(0, j) = at(n - 1, j) = turn_ + j;
    if (options_.corrupt) at(0, 0) += 1;
  }
  void check(int n, int times) {
    if (at(0, 0) != times * turn_ || at(n - 1, n - 1) != times * (turn_ + n - 1))
      throw std::runtime_error("wrong data");
  }

  // Messages between the processes {0,0} and {0,1}.
  void pair(int n, bool is_trapezoid) {
    ++turn_;
    if (row_ != 0) return;
    const int other = 1 - column_;
    const auto send = [&] {
      is_trapezoid ? Cdtrsd2d(context_, "U", "N", n, n, matrix_.data(), kLda, 0, other)
                   : Cdgesd2d(context_, n, n, matrix_.data(), kLda, 0, other);
    };
    const auto receive = [&] {
      is_trapezoid ? Cdtrrv2d(context_, "U", "N", n, n, matrix_.data(), kLda, 0, other)
                   : Cdgerv2d(context_, n, n, matrix_.data(), kLda, 0, other);
    };
    if (column_ == 0) {
      mark(n);
      send();
      receive();
    } else {
      receive();
      check(n, 1);
      send();
    }
  }

  void broadcast(const char* scope, int n) {
    ++turn_;
    const int root = turn_ % 2;
    const bool is_root = (*scope == 'C' || column_ == root) && (*scope == 'R' || row_ == root);
    if (is_root) {
      mark(n);
      Cdgebs2d(context_, scope, " ", n, n, matrix_.data(), kLda);
    } else {
      Cdgebr2d(context_, scope, " ", n, n, matrix_.data(), kLda, *scope == 'R' ? row_ : root,
               *scope == 'C' ? column_ : root);
    }
    check(n, 1);
  }

  void sum(int n) {
    ++turn_;
    mark(n);
    Cdgsum2d(context_, "All", " ", n, n, matrix_.data(), kLda, -1, -1);
    check(n, rows_ * columns_);
  }

  // Returns the shortest of three times, each that of the slowest process. [us]
  template <class Turn>
  double measure(int n, Turn turn) {
    const int turns = options_.quick ? 5 : n == kSmall ? 2000 : 40;
    double shortest = 1e30;
    for (int round = 0; round < 3; ++round) {
      Cblacs_barrier(context_, "All");
      const double start = MPI_Wtime();
      for (int k = 0; k < turns; ++k) turn();
      shortest = std::min(shortest, slowest((MPI_Wtime() - start) / turns * 1e6));
    }
    return shortest;
  }
  static double slowest(double time) {
    double longest;
    MPI_Allreduce(&time, &longest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return longest;
  }

  // Solves a system whose right side is A times ones. Returns the time [s].
  double solve(int n, int block) {
    const int zero = 0, one = 1;
    const int rows = numroc_(&n, &block, &row_, &zero, &rows_);
    const int columns = numroc_(&n, &block, &column_, &zero, &columns_);
    int desc_a[9], desc_b[9], info;
    descinit_(desc_a, &n, &n, &block, &block, &zero, &zero, &context_, &rows, &info);
    descinit_(desc_b, &n, &one, &block, &block, &zero, &zero, &context_, &rows, &info);
    std::vector<double> a(static_cast<size_t>(rows) * static_cast<size_t>(columns));
    std::vector<double> b(static_cast<size_t>(rows));
    std::vector<int> pivots(static_cast<size_t>(rows + block));
    const auto global = [&](int local, int own, int count) {
      return (local / block * count + own) * block + local % block;
    };
    for (int i = 0; i < rows; ++i) {
      const int gi = global(i, row_, rows_);
      for (int j = 0; j < columns; ++j)
        a[static_cast<size_t>(j) * static_cast<size_t>(rows) + static_cast<size_t>(i)] =
            element(gi, global(j, column_, columns_), n);
      for (int gj = 0; gj < n; ++gj) b[static_cast<size_t>(i)] += element(gi, gj, n);
    }
    Cblacs_barrier(context_, "All");
    const double start = MPI_Wtime();
    pdgesv_(&n, &one, a.data(), &one, &one, desc_a, pivots.data(), b.data(), &one, &one, desc_b,
            &info);
    const double time = slowest(MPI_Wtime() - start);
    for (int i = 0; column_ == 0 && i < rows; ++i)
      if (info != 0 || std::abs(b[static_cast<size_t>(i)] - 1) > 1e-6)
        throw std::runtime_error("pdgesv: wrong solution");
    return time;
  }
  // A matrix that is distributed in square blocks.
  struct DistributedMatrix {
    int block, rows, columns, descriptor[9];
    std::vector<double> items;
  };
  DistributedMatrix distribute(int n, int block) const {
    const int zero = 0;
    DistributedMatrix matrix = {block,
                                numroc_(&n, &block, &row_, &zero, &rows_),
                                numroc_(&n, &block, &column_, &zero, &columns_),
                                {},
                                {}};
    int info;
    descinit_(matrix.descriptor, &n, &n, &block, &block, &zero, &zero, &context_, &matrix.rows,
              &info);
    matrix.items.resize(static_cast<size_t>(matrix.rows) * static_cast<size_t>(matrix.columns));
    return matrix;
  }
  // Calls what(item, its row, its column) for each item of this process.
  template <class What>
  void for_each_item(DistributedMatrix& matrix, What what) const {
    const auto global = [&](int local, int own, int count) {
      return (local / matrix.block * count + own) * matrix.block + local % matrix.block;
    };
    size_t number = 0;
    for (int j = 0; j < matrix.columns; ++j)
      for (int i = 0; i < matrix.rows; ++i)
        what(matrix.items[number++], global(i, row_, rows_), global(j, column_, columns_));
  }

  // Returns the shortest of three times, each that of the slowest process. [ms]
  double redistribute(int n) {
    const int one = 1;
    DistributedMatrix from = distribute(n, 64), to = distribute(n, 32);
    double shortest = 1e30;
    for (int round = 0; round < 3; ++round) {
      for_each_item(from, [&](double& item, int i, int j) { item = element(i + round, j, n); });
      Cblacs_barrier(context_, "All");
      const double start = MPI_Wtime();
      pdgemr2d_(&n, &n, from.items.data(), &one, &one, from.descriptor, to.items.data(), &one, &one,
                to.descriptor, &context_);
      shortest = std::min(shortest, slowest((MPI_Wtime() - start) * 1e3));
      for_each_item(to, [&](double& item, int i, int j) {
        if (item != element(i + round, j, n)) throw std::runtime_error("pdgemr2d: wrong data");
      });
    }
    return shortest;
  }

  static double element(int i, int j, int n) {
    return i == j ? n : static_cast<double>((i * 7 + j * 13) % 11) / 11;
  }

  Options options_;
  int context_, rows_, columns_, row_, column_;
  int turn_ = 0;
  std::vector<double> matrix_;
};

Result measure(const Options& options) {
  Bench bench(options);
  Result result{.program = "blacs", .quick = options.quick, .figures = {}, .derived = {}};
  for (int round = 0; round < options.rounds_or(5, 1); ++round)
    add_round(result, bench.measure_round());
  return result;
}

}  // namespace
}  // namespace nagaya::bench

int main(int argc, char** argv) {
  using namespace nagaya::bench;
  Options options;
  CommandLine line("The BLACS on a grid of 2 x 2", "blacs", options);
  return run_mpi_program(
      line, options, argc, argv, [&] { return measure(options); }, [] { Cblacs_exit(1); });
}

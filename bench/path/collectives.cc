// SPDX-License-Identifier: BSD-3-Clause
// collectives.cc - any MPI's collectives by size. Buffers are written anew before each collective,
// results are checked, and the slowest rank counts. Short collectives are timed in a loop, which
// also writes a line; long ones singly, from a barrier on. The floor of a long collective: all
// ranks at once copy as many bytes as it must load and store (docs/coll.md).
#include <mpi.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <vector>

#include "mpi_program.h"

namespace nagaya::bench {
namespace {

using Number = uint64_t;
constexpr size_t kLongBytes = 64 << 10;
const std::vector<size_t> kSizes = {8, 1024, kLongBytes, 1 << 20};
const std::vector<size_t> kQuickSizes = {8, kLongBytes};

std::string size_name(size_t bytes) {
  if (bytes < 1 << 10) return fmt::format("{}B", bytes);
  return bytes < 1 << 20 ? fmt::format("{}KiB", bytes >> 10) : fmt::format("{}MiB", bytes >> 20);
}

// The collectives to be measured.
struct Wish {
  std::vector<std::string> kinds;  // empty: all
  std::vector<size_t> sizes;       // empty: those above                          [bytes]
  bool floors = false;             // measure the floors of long collectives
  int limit_ms = 0;                // see turns_within()
};

class Bench {
 public:
  Bench(const Options& options, Wish wish) : options_(options), wish_(std::move(wish)) {
    if (wish_.sizes.empty()) wish_.sizes = options_.quick ? kQuickSizes : kSizes;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
  }

  Result measure() {
    Result result{.program = "collectives", .quick = options_.quick, .figures = {}, .derived = {}};
    for (int round = 0; round < options_.rounds_or(5, 1); ++round)
      add_round(result, measure_round());
    return result;
  }

 private:
  // One collective of `count` numbers from `send_` to `receive_`, and the check of its result.
  struct Kind {
    const char* name;
    const char* title;
    size_t send_blocks, receive_blocks;  // of `count` numbers
    std::function<void(int count)> call;
    std::function<bool(size_t n, size_t count)> is_right;  // number `n` of the result
    double copied = 0;  // the part of `count` numbers that each rank copies as floor; 0: none
  };

  std::vector<Figure> measure_round() {
    std::vector<Figure> figures = {figure("barrier", "barrier", barrier())};
    double product_of_all = 1;
    int all = 0;
    for (const Kind& kind : kinds()) {
      if (!is_wished(kind)) continue;
      double product = 1;
      int short_ones = 0;
      for (const size_t bytes : wish_.sizes) {
        const double time = measure(kind, bytes);
        figures.push_back(figure(fmt::format("{}_{}", kind.name, size_name(bytes)),
                                 fmt::format("{} of {}", kind.title, size_name(bytes)), time));
        if (wish_.floors && kind.copied > 0 && bytes >= kLongBytes)
          figures.back().floor =
              Series{"memcpy by all at once", {measure(copies(kind.copied), bytes)}};
        if (bytes < kLongBytes) product *= time, ++short_ones;
        product_of_all *= time, ++all;
      }
      if (short_ones != 0)
        figures.push_back(figure(fmt::format("{}_short", kind.name),
                                 fmt::format("{} of up to 1 KiB, geometric mean", kind.title),
                                 std::pow(product, 1.0 / short_ones)));
    }
    if (!wish_.kinds.empty())
      figures.push_back(
          figure("all", "all of these, geometric mean", std::pow(product_of_all, 1.0 / all)));
    return figures;
  }

  bool is_wished(const Kind& kind) const {
    const auto& kinds = wish_.kinds;
    return kinds.empty() || std::find(kinds.begin(), kinds.end(), kind.name) != kinds.end();
  }

  std::vector<Kind> kinds() {
    const auto all = static_cast<size_t>(size_);
    const auto of_root = [this](size_t n, size_t) { return receive_[n] == mark(root_, n); };
    const auto sum = [this](size_t n, size_t) {
      return rank_ != root_ || receive_[n] == sum_of(size_, n);
    };
    const auto bcast = [this](int count) {
      MPI_Bcast(rank_ == root_ ? send_.data() : receive_.data(), count, MPI_UINT64_T, root_,
                MPI_COMM_WORLD);
    };
    const auto bcast_is_right = [this, of_root](size_t n, size_t count) {
      return rank_ == root_ || of_root(n, count);
    };
    const auto reduce = [this](int count) {
      MPI_Reduce(send_.data(), receive_.data(), count, MPI_UINT64_T, MPI_SUM, root_,
                 MPI_COMM_WORLD);
    };
    const auto rotate = [this](const auto& call) {
      return [this, call](int count) {
        root_ = (root_ + 1) % size_;
        call(count);
      };
    };
    return {
        {"bcast", "bcast", 1, 1, bcast, bcast_is_right, 1 - 1.0 / size_},
        {"bcast_rotating", "bcast with rotating roots", 1, 1, rotate(bcast), bcast_is_right},
        {"reduce", "reduce", 1, 1, reduce, sum},
        {"reduce_rotating", "reduce with rotating roots", 1, 1, rotate(reduce), sum},
        {"allreduce", "allreduce", 1, 1,
         [this](int count) {
           MPI_Allreduce(send_.data(), receive_.data(), count, MPI_UINT64_T, MPI_SUM,
                         MPI_COMM_WORLD);
         },
         [this](size_t n, size_t) { return receive_[n] == sum_of(size_, n); }, 1},
        {"reduce_scatter", "reduce_scatter_block", all, 1,
         [this](int count) {
           MPI_Reduce_scatter_block(send_.data(), receive_.data(), count, MPI_UINT64_T, MPI_SUM,
                                    MPI_COMM_WORLD);
         },
         [this](size_t n, size_t count) {
           return receive_[n] == sum_of(size_, static_cast<size_t>(rank_) * count + n);
         }},
        {"scan", "scan", 1, 1,
         [this](int count) {
           MPI_Scan(send_.data(), receive_.data(), count, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
         },
         [this](size_t n, size_t) { return receive_[n] == sum_of(rank_ + 1, n); }},
        {"gather", "gather", 1, all,
         [this](int count) {
           MPI_Gather(send_.data(), count, MPI_UINT64_T, receive_.data(), count, MPI_UINT64_T,
                      root_, MPI_COMM_WORLD);
         },
         [this](size_t n, size_t count) {
           return rank_ != root_ || receive_[n] == mark(static_cast<int>(n / count), n % count);
         }},
        {"scatter", "scatter", all, 1,
         [this](int count) {
           MPI_Scatter(send_.data(), count, MPI_UINT64_T, receive_.data(), count, MPI_UINT64_T,
                       root_, MPI_COMM_WORLD);
         },
         [this](size_t n, size_t count) {
           return receive_[n] == mark(root_, static_cast<size_t>(rank_) * count + n);
         }},
        {"allgather", "allgather", 1, all,
         [this](int count) {
           MPI_Allgather(send_.data(), count, MPI_UINT64_T, receive_.data(), count, MPI_UINT64_T,
                         MPI_COMM_WORLD);
         },
         [this](size_t n, size_t count) {
           return receive_[n] == mark(static_cast<int>(n / count), n % count);
         }},
        {"alltoall", "alltoall", all, all,
         [this](int count) {
           MPI_Alltoall(send_.data(), count, MPI_UINT64_T, receive_.data(), count, MPI_UINT64_T,
                        MPI_COMM_WORLD);
         },
         [this](size_t n, size_t count) {
           return receive_[n] ==
                  mark(static_cast<int>(n / count), static_cast<size_t>(rank_) * count + n % count);
         }},
    };
  }

  Kind copies(double share) {
    const auto numbers = [share](auto count) {
      return static_cast<size_t>(static_cast<double>(count) * share);
    };
    return {"copies",
            "memcpy",
            1,
            1,
            [this, numbers](int count) {
              std::memcpy(receive_.data(), send_.data(), numbers(count) * sizeof(Number));
            },
            [this, numbers](size_t n, size_t count) {
              return n >= numbers(count) || receive_[n] == mark(rank_, n);
            }};
  }

  // ---- measurements [us] ----

  double measure(const Kind& kind, size_t bytes) {
    const size_t count = bytes / sizeof(Number);
    root_ = 0;
    send_.assign(kind.send_blocks * count, 0);
    receive_.assign(kind.receive_blocks * count, 0);
    const int turns = turns_of(bytes * std::max(kind.send_blocks, kind.receive_blocks));
    return bytes < kLongBytes ? of_a_loop(kind, count, turns) : of_each(kind, count, turns);
  }

  double barrier() {
    return best(turns_of(0), [&](int turns) {
      const double start = MPI_Wtime();
      for (int n = 0; n < turns; ++n) MPI_Barrier(MPI_COMM_WORLD);
      return (MPI_Wtime() - start) / turns;
    });
  }

  double of_a_loop(const Kind& kind, size_t count, int turns_most) {
    return best(turns_most, [&](int turns) {
      const double start = MPI_Wtime();
      for (int n = 0; n < turns; ++n) {
        write();
        kind.call(static_cast<int>(count));
        require(kind.is_right(0, count), kind);
      }
      return (MPI_Wtime() - start) / turns;
    });
  }

  double of_each(const Kind& kind, size_t count, int turns_most) {
    return best(turns_most, [&](int turns) {
      double time = 0;
      for (int n = 0; n < turns; ++n) {
        write();
        MPI_Barrier(MPI_COMM_WORLD);
        const double start = MPI_Wtime();
        kind.call(static_cast<int>(count));
        time += MPI_Wtime() - start;
        for (const size_t at : {size_t{0}, count / 2 / 8 * 8, receive_.size() / 8 * 8 - 8})
          require(kind.is_right(at, count), kind);
      }
      return time / turns;
    });
  }

  // ---- with data that are checked ----

  // Returns number `n` that a rank sends in the present turn. Numbers that no check reads keep
  // their old values.
  Number mark(int rank, size_t n) const {
    return turn_ * 31 + static_cast<Number>(rank) * 7 + n / 8 + 1;
  }
  Number sum_of(int ranks, size_t n) const {
    Number sum = 0;
    for (int rank = 0; rank < ranks; ++rank) sum += mark(rank, n);
    return sum;
  }
  void write() {
    ++turn_;
    const size_t step = send_.size() * sizeof(Number) < kLongBytes ? 1 : 8;  // 8 are a line
    for (size_t n = 0; n < send_.size(); n += step) send_[n] = mark(rank_, n);
    if (options_.corrupt) send_[0] ^= 1;
  }
  static void require(bool is_right, const Kind& kind) {
    if (!is_right) throw std::runtime_error(fmt::format("wrong data of a {}", kind.title));
  }

  int turns_of(size_t bytes) const {
    if (options_.quick) return 10;
    const auto all = static_cast<size_t>(size_);
    return static_cast<int>(
        std::clamp<size_t>((size_t{128} << 20) / (bytes + 8192) / all, 10, 8000 / all));
  }

  // Returns the shortest of three times, each that of the slowest rank. [us]
  double best(int turns_most, const std::function<double(int turns)>& time_of) {
    const int turns = turns_within(wish_.limit_ms, turns_most, time_of);
    double shortest = 1e30;
    for (int n = 0; n < 3; ++n) {
      MPI_Barrier(MPI_COMM_WORLD);
      double time = time_of(turns), longest = 0;
      MPI_Allreduce(&time, &longest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
      shortest = std::min(shortest, longest * 1e6);
    }
    return shortest;
  }

  static Figure figure(const std::string& name, const std::string& title, double value) {
    return {name, title, "us", {"this job", {value}}, {}, {}};
  }

  Options options_;
  Wish wish_;
  int rank_, size_;
  int root_ = 0;
  Number turn_ = 0;
  std::vector<Number> send_, receive_;
};

}  // namespace
}  // namespace nagaya::bench

int main(int argc, char** argv) {
  using namespace nagaya::bench;
  Options options;
  Wish wish;
  CommandLine line("Collectives of an MPI", "collectives", options);
  line.add_words("--kinds", wish.kinds, "such as bcast,allreduce; else all");
  line.add_sizes("--sizes", wish.sizes, SIZE_MAX, "bytes of each rank, multiples of 8");
  line.add_number("--limit-ms", wish.limit_ms, 0, 10000, kLimitHelp);
  line.add_flag("--floors", wish.floors, "Beside long ones as many bytes copied");
  return run_mpi_program(line, options, argc, argv, [&] { return Bench(options, wish).measure(); });
}

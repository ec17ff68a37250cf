// SPDX-License-Identifier: BSD-3-Clause
// messages.cc - point-to-point messages of any MPI between pairs of ranks: ping-pong by size,
// streams, strided buffers. Ranks 2n and 2n+1 are a pair, or two ranks with the same place in the
// two halves of the job; all pairs run at once. Send buffers are written anew before each send.
#include <mpi.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <functional>
#include <vector>

#include "mpi_program.h"

namespace nagaya::bench {
namespace {

constexpr size_t kBytesMax = 16 << 20, kLineBytes = 64;
const std::vector<size_t> kSizes = {0,     8,     64,     256,     1024,    4096,
                                    16384, 65536, 262144, 1 << 20, 4 << 20, kBytesMax};
const std::vector<size_t> kQuickSizes = {8, 65536};
const std::vector<size_t> kCrowdedSizes = {8, 4096, 65536};
const std::vector<size_t> kHalvesSizes = {0, 8, 1024, 4096, 16384, 65536, 1 << 20, 4 << 20};

int int_of(size_t bytes) {
  return static_cast<int>(bytes);
}

// A word that two ranks of a node hand to each other: the floor.
class SharedWords {
 public:
  SharedWords(int rank, int partner) {
    MPI_Comm node;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    void* own_base;
    MPI_Win_allocate_shared(kLineBytes, 1, MPI_INFO_NULL, node, &own_base, &window_);
    MPI_Comm_free(&node);
    own_ = word_of(rank);
    other_ = word_of(partner);
    own_->store(0);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  ~SharedWords() { MPI_Win_free(&window_); }

  void give(uint64_t value) { other_->store(value, std::memory_order_release); }
  template <class Wait>
  void await(uint64_t value, Wait wait) {
    while (own_->load(std::memory_order_acquire) != value) wait();
  }

 private:
  std::atomic<uint64_t>* word_of(int rank) {
    MPI_Aint bytes;
    int unit;
    void* base;
    MPI_Win_shared_query(window_, rank, &bytes, &unit, &base);
    return static_cast<std::atomic<uint64_t>*>(base);
  }

  MPI_Win window_;
  std::atomic<uint64_t>*own_, *other_;
};

class Bench {
 public:
  Bench(const Options& options, bool halves, int limit_ms)
      : options_(options), halves_(halves), limit_ms_(limit_ms), out_(kBytesMax), in_(kBytesMax) {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
    partner_ = halves ? (rank_ + size_ / 2) % size_ : rank_ ^ 1;
    is_first_ = rank_ < partner_;
  }

  Result measure() {
    if (size_ % 2 != 0) throw std::runtime_error("it takes an even number of ranks");
    Result result{.program = "messages", .quick = options_.quick, .figures = {}, .derived = {}};
    if (!halves_)
      result.figures.push_back(figure("word", "a word handed over, without MPI", "us one way"));
    for (const size_t bytes : sizes())
      result.figures.push_back(figure(fmt::format("pingpong_{}B", bytes),
                                      fmt::format("ping-pong of {} B", bytes), "us one way"));
    if (!halves_) {
      result.figures.push_back(figure("above_word_8B", "8 B above a bare word", "us one way"));
      result.figures.push_back(figure("over_word_8B", "8 B over a bare word", "times"));
    }
    result.figures.push_back(figure("stream_8B", "64 messages of 8 B at once", "us per message"));
    result.figures.push_back(figure("strided_64KiB", "64 KiB in runs of 64 B", "us one way"));
    result.figures.push_back(
        figure("computing_1MiB", "1 MiB of a sender that computes meanwhile", "us to receive"));
    for (int round = 0; round < options_.rounds_or(5, 1); ++round) measure_round(result);
    return result;
  }

 private:
  const std::vector<size_t>& sizes() const {
    if (options_.quick) return kQuickSizes;
    return halves_ ? kHalvesSizes : crowded() ? kCrowdedSizes : kSizes;
  }
  bool crowded() const { return size_ > 2; }

  void measure_round(Result& result) {
    std::vector<double> values;
    if (!halves_) values.push_back(word());
    for (const size_t bytes : sizes()) values.push_back(pingpong(bytes));
    if (!halves_) {
      const auto eight = std::find(sizes().begin(), sizes().end(), 8u) - sizes().begin();
      const double of_eight = values[static_cast<size_t>(eight) + 1];
      values.push_back(of_eight - values[0]);
      values.push_back(of_eight / values[0]);
    }
    values.push_back(stream());
    values.push_back(strided());
    values.push_back(computing());
    for (size_t n = 0; n < values.size(); ++n)
      result.figures[n].subject.rounds.push_back(values[n]);
  }

  // ---- measurements [us] ----

  double word() {
    SharedWords words(rank_, partner_);
    uint64_t turn = 0;
    const auto wait = [&] {
      if (crowded()) ::sched_yield();
    };
    return best(turns_of(8),
                [&](int turns) {
                  for (int n = 0; n < turns; ++n) {
                    ++turn;
                    if (is_first_) words.give(turn);
                    words.await(turn, wait);
                    if (!is_first_) words.give(turn);
                  }
                }) /
           2;
  }

  double pingpong(size_t bytes) {
    return best(turns_of(bytes),
                [&](int turns) {
                  for (int n = 0; n < turns; ++n) {
                    if (is_first_) send(bytes);
                    receive(bytes);
                    if (!is_first_) send(bytes);
                    ++turn_;
                  }
                }) /
           2;
  }

  double stream() {
    constexpr int kAtOnce = 64;
    uint64_t values[kAtOnce];
    MPI_Request requests[kAtOnce];
    return best(turns_of(8 * kAtOnce),
                [&](int windows) {
                  for (int window = 0; window < windows; ++window) {
                    for (int n = 0; n < kAtOnce; ++n)
                      if (is_first_) {
                        values[n] = static_cast<uint64_t>(window + n);
                        MPI_Isend(&values[n], 8, MPI_BYTE, partner_, 1, MPI_COMM_WORLD,
                                  &requests[n]);
                      } else {
                        MPI_Irecv(&values[n], 8, MPI_BYTE, partner_, 1, MPI_COMM_WORLD,
                                  &requests[n]);
                      }
                    MPI_Waitall(kAtOnce, requests, MPI_STATUSES_IGNORE);
                    for (int n = 0; !is_first_ && n < kAtOnce; ++n)
                      require(values[n] == static_cast<uint64_t>(window + n), 8);
                    if (!is_first_)
                      MPI_Send(values, 0, MPI_BYTE, partner_, 2, MPI_COMM_WORLD);
                    else
                      MPI_Recv(values, 0, MPI_BYTE, partner_, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                  }
                }) /
           kAtOnce;
  }

  double strided() {
    constexpr int kRuns = 1024, kRun = 64, kStride = 192;
    MPI_Datatype type;
    MPI_Type_vector(kRuns, kRun, kStride, MPI_BYTE, &type);
    MPI_Type_commit(&type);
    const auto exchange = [&](bool is_sender) {
      if (is_sender) {
        for (int run = 0; run < kRuns; ++run) out_[size_t{kStride} * run] = mark(rank_);
        MPI_Send(out_.data(), 1, type, partner_, 3, MPI_COMM_WORLD);
      } else {
        MPI_Recv(in_.data(), 1, type, partner_, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int run = 0; run < kRuns; ++run)
          require(in_[size_t{kStride} * run] == mark(partner_), kRuns * kRun);
      }
    };
    const double time = best(turns_of(kRuns * kRun), [&](int turns) {
      for (int n = 0; n < turns; ++n) {
        exchange(is_first_);
        exchange(!is_first_);
        ++turn_;
      }
    });
    MPI_Type_free(&type);
    return time / 2;
  }

  // Returns the time to receive a message that was sent just now, while the sender computes and
  // does not poll.
  double computing() {
    constexpr size_t kBytes = 1 << 20;
    constexpr auto kComputing = std::chrono::milliseconds(2);
    double time = 0, all = 0;
    const auto exchange = [&] {
      if (is_first_) {
        MPI_Request request;
        write(kBytes);
        MPI_Send(nullptr, 0, MPI_BYTE, partner_, 4, MPI_COMM_WORLD);
        MPI_Isend(out_.data(), int_of(kBytes), MPI_BYTE, partner_, 0, MPI_COMM_WORLD, &request);
        const auto begin = std::chrono::steady_clock::now();
        while (std::chrono::steady_clock::now() - begin < kComputing) continue;
        MPI_Wait(&request, MPI_STATUS_IGNORE);
      } else {
        MPI_Recv(nullptr, 0, MPI_BYTE, partner_, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        const double begin = MPI_Wtime();
        receive(kBytes);
        time += MPI_Wtime() - begin;
      }
      ++turn_;
    };
    const auto exchanges = [&](int turns) {
      time = 0;
      for (int n = 0; n < turns; ++n) exchange();
    };
    const int turns = turns_within(limit_ms_, options_.quick ? 5 : 50, exchanges);
    exchanges(turns);
    MPI_Allreduce(&time, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return all / (size_ / 2) / turns * 1e6;
  }

  // ---- with data that is checked ----

  char mark(int from) const { return static_cast<char>(turn_ * 31 + from * 7 + 1); }

  void write(size_t bytes) {
    for (size_t at = 0; at < bytes; at += kLineBytes) out_[at] = mark(rank_);
    if (options_.corrupt && bytes > 0) out_[0] ^= 1;
  }
  void send(size_t bytes) {
    write(bytes);
    MPI_Send(out_.data(), int_of(bytes), MPI_BYTE, partner_, 0, MPI_COMM_WORLD);
  }
  void receive(size_t bytes) {
    MPI_Recv(in_.data(), int_of(bytes), MPI_BYTE, partner_, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (bytes > 0)
      require(
          in_[0] == mark(partner_) && in_[(bytes - 1) / kLineBytes * kLineBytes] == mark(partner_),
          bytes);
  }
  static void require(bool is_right, size_t bytes) {
    if (!is_right) throw std::runtime_error(fmt::format("wrong data in {} bytes", bytes));
  }

  int turns_of(size_t bytes) const {
    if (options_.quick) return 20;
    return static_cast<int>(std::clamp<size_t>((size_t{32} << 20) / (bytes + 4096), 8, 4000)) /
           (crowded() ? 4 : 1);
  }

  // Returns the shortest of three times of a turn, each a mean over the pairs. [us]
  double best(int turns_most, const std::function<void(int turns)>& act) {
    const int turns = turns_within(limit_ms_, turns_most, act);
    double shortest = 1e30;
    for (int n = 0; n < 3; ++n) {
      MPI_Barrier(MPI_COMM_WORLD);
      const double start = MPI_Wtime();
      act(turns);
      double time = MPI_Wtime() - start, sum = 0;
      MPI_Allreduce(&time, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
      shortest = std::min(shortest, sum / size_ / turns * 1e6);
    }
    return shortest;
  }

  static Figure figure(const std::string& name, const std::string& title, const std::string& unit) {
    return {name, title, unit, {"this job", {}}, {}, {}};
  }

  Options options_;
  bool halves_;
  int limit_ms_;
  std::vector<char> out_, in_;
  int rank_, size_, partner_;
  bool is_first_;  // this rank is the first of its pair
  int turn_ = 0;
};

}  // namespace
}  // namespace nagaya::bench

int main(int argc, char** argv) {
  using namespace nagaya::bench;
  Options options;
  bool halves = false;
  int limit_ms = 0;
  CommandLine line("Messages of an MPI between pairs of ranks", "messages", options);
  line.add_flag("--halves", halves, "Each rank's partner is in the other half of the job");
  line.add_number("--limit-ms", limit_ms, 0, 10000, kLimitHelp);
  return run_mpi_program(line, options, argc, argv,
                         [&] { return Bench(options, halves, limit_ms).measure(); });
}

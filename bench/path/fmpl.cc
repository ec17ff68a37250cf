// SPDX-License-Identifier: BSD-3-Clause
// fmpl.cc - the figures of FMPL's paper: a ping-pong of two processes by size (figure 6), and of
// all processes a barrier, a broadcast and a sum of 8 KB whose root changes (figures 7 to 9). Data
// are written anew, and checked.
#include "fmpl.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <vector>

#include "program_main.h"

namespace nagaya::bench {
namespace {

constexpr size_t kCollectiveBytes = 8192, kMostBytes = 16 << 20;

// A way that the library shall take: only what it changes is measured then.
struct Way {
  bool is_buffered = false, is_by_messages = false;
};

double now_us() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double, std::micro>(now).count();
}

class Bench {
 public:
  Bench(const Options& options, Way way)
      : options_(options), way_(way), rank_(fmpl::rank()), size_(fmpl::size()) {
    if (way.is_buffered) fmpl::buffer_sends(kMostBytes);
    if (way.is_by_messages) fmpl::forbid_special_support();
  }

  std::vector<Figure> measure_round() {
    std::vector<Figure> figures;
    if (size_ == 2 && !way_.is_by_messages) add_messages(figures);
    if (!way_.is_buffered) add_collectives(figures);
    return figures;
  }
  int rank() const { return rank_; }

 private:
  void add_messages(std::vector<Figure>& figures) {
    for (size_t bytes = 8; bytes <= kMostBytes; bytes *= options_.quick ? 128 : 8)
      figures.push_back(figure(fmt::format("pingpong_{}B", bytes),
                               fmt::format("one way of {} bytes", bytes), pingpong(bytes)));
    if (!way_.is_buffered)
      figures.push_back(
          figure("prepared_8B", "one way of 8 bytes, prepared once", prepared_pingpong()));
  }
  void add_collectives(std::vector<Figure>& figures) {
    figures.push_back(figure("barrier", "barrier", of_all([] { fmpl::barrier(); })));
    figures.push_back(figure("bcast", "bcast of 8 KB, root changing", of_all([this] { bcast(); })));
    figures.push_back(figure("sum", "sum of 8 KB, root changing", of_all([this] { sum(); })));
  }

  // [us]
  double pingpong(size_t bytes) {
    data_.assign(bytes, 0);
    const int peer = 1 - rank_;
    return one_way(
        bytes, [&] { fmpl::send(data_.data(), bytes, peer); },
        [&] { fmpl::receive(data_.data(), bytes, peer); });
  }
  double prepared_pingpong() {
    constexpr size_t kBytes = 8;
    data_.assign(kBytes, 0);
    fmpl::prepare(data_.data(), kBytes, 1 - rank_);
    const double time = one_way(kBytes, fmpl::send_prepared, fmpl::receive_prepared);
    fmpl::release_prepared();
    return time;
  }

  template <class Send, class Receive>
  double one_way(size_t bytes, Send send, Receive receive) {
    const int turns =
        options_.quick
            ? 10
            : static_cast<int>(std::clamp<size_t>((size_t{64} << 20) / (bytes + 2048), 8, 4000));
    return shortest([&] {
      const double start = now_us();
      for (int n = 0; n < turns; ++n)
        for (const int sender : {0, 1}) {
          if (sender == rank_) {
            mark(bytes);
            send();
          } else {
            receive();
            check(bytes);
          }
        }
      return (now_us() - start) / turns / 2;
    });
  }

  void mark(size_t bytes) {
    data_[0] = data_[bytes - 1] = static_cast<unsigned char>(++sent_);
    if (options_.corrupt) data_[0] ^= 1;
  }
  void check(size_t bytes) {
    const auto expected = static_cast<unsigned char>(++received_);
    require(data_[0] == expected && data_[bytes - 1] == expected);
  }

  void bcast() {
    const auto mark = static_cast<unsigned char>(++turn_);
    const int root = static_cast<int>(turn_ % static_cast<size_t>(size_));
    if (rank_ == root) std::memset(data_.data(), mark, kCollectiveBytes);
    fmpl::bcast(data_.data(), kCollectiveBytes, root);
    require(data_[0] == mark && data_[kCollectiveBytes - 1] == mark);
  }
  void sum() {
    const int root = static_cast<int>(++turn_ % static_cast<size_t>(size_));
    auto* const numbers = reinterpret_cast<double*>(data_.data());
    const size_t count = kCollectiveBytes / sizeof(double);
    for (size_t n = 0; n < count; ++n) numbers[n] = static_cast<double>(turn_ + n);
    fmpl::sum(numbers, static_cast<int>(count), root);
    if (rank_ == root)
      require(numbers[count - 1] == static_cast<double>(turn_ + count - 1) * size_);
  }

  template <class Turn>
  double of_all(Turn turn) {
    data_.assign(kCollectiveBytes, 0);
    const int turns = options_.quick ? 10 : 8000 / size_;
    return shortest([&] {
      const double start = now_us();
      for (int n = 0; n < turns; ++n) turn();
      return (now_us() - start) / turns;
    });
  }

  // Of three, of the slowest process.
  template <class Time>
  double shortest(Time time_of) {
    double shortest = 1e30;
    for (int n = 0; n < 3; ++n) {
      fmpl::barrier();
      shortest = std::min(shortest, fmpl::greatest(time_of()));
    }
    return shortest;
  }

  static void require(bool is_right) {
    if (!is_right) throw std::runtime_error("wrong data");
  }
  static Figure figure(const std::string& name, const std::string& title, double value) {
    return {name, title, "us", {"this job", {value}}, {}, {}};
  }

  Options options_;
  Way way_;
  int rank_, size_;
  size_t sent_ = 0, received_ = 0, turn_ = 0;
  std::vector<unsigned char> data_;
};

int run(int argc, char** argv) {
  CLI::App app("FMPL's figures, by FMPL or an MPI", "fmpl");
  Options options;
  Way way;
  add_options(app, options);
  app.add_flag("--buffered", way.is_buffered, "Messages only, which their sender copies first");
  app.add_flag("--by-messages", way.is_by_messages,
               "Collectives only, without memory that all load");
  CLI11_PARSE(app, argc, argv);
  try {
    Bench bench(options, way);
    Result result{.program = "fmpl", .quick = options.quick, .figures = {}, .derived = {}};
    for (int round = 0; round < options.rounds_or(5, 1); ++round)
      add_round(result, bench.measure_round());
    if (bench.rank() == 0) print(result, options.json);
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}: {}\n", app.get_name(), error.what());
    std::_Exit(2);
  }
}

}  // namespace
}  // namespace nagaya::bench

int main(int argc, char** argv) {
  nagaya::bench::fmpl::begin();
  const int code = nagaya::bench::run(argc, argv);
  nagaya::bench::fmpl::end();
  return code;
}

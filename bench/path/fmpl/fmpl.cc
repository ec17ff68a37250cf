// SPDX-License-Identifier: BSD-3-Clause
// fmpl.cc - measures the figures of FMPL's paper: a ping-pong of two processes by size (figure 6),
// and a barrier, a broadcast and a sum of 8 KB by all processes, with changing roots (figures 7 to
// 9). Data are written anew each time, and checked.
#include <cstring>

#include "pingpong.h"

namespace nagaya::bench {
namespace {

constexpr size_t kCollectiveBytes = 8192, kMostBytes = 16 << 20;

// Settings of the library. If one is set, only the figures that it changes are measured.
struct Way {
  bool is_buffered = false, is_by_messages = false;
};

class Bench {
 public:
  Bench(const Options& options, Way way) : options_(options), way_(way), pingpong_(options) {
    if (way.is_buffered) fmpl::buffer_sends(kMostBytes);
    if (way.is_by_messages) fmpl::forbid_special_support();
  }

  std::vector<Figure> measure_round() {
    std::vector<Figure> figures;
    if (size_ == 2 && !way_.is_by_messages) add_messages(figures);
    if (!way_.is_buffered) add_collectives(figures);
    return figures;
  }

 private:
  void add_messages(std::vector<Figure>& figures) {
    for (size_t bytes = 8; bytes <= kMostBytes; bytes *= options_.quick ? 128 : 8)
      figures.push_back(figure(fmt::format("pingpong_{}B", bytes),
                               fmt::format("one way of {} bytes", bytes), pingpong(bytes)));
    if (!way_.is_buffered && fmpl::can_prepare())
      figures.push_back(
          figure("prepared_8B", "one way of 8 bytes, prepared once", prepared_pingpong()));
  }
  void add_collectives(std::vector<Figure>& figures) {
    figures.push_back(figure("barrier", "barrier", of_all([] { fmpl::barrier(); })));
    figures.push_back(figure("bcast", "bcast of 8 KB, root changing", of_all([this] { bcast(); })));
    figures.push_back(figure("sum", "sum of 8 KB, root changing", of_all([this] { sum(); })));
  }

  // Returns the time of one message [us].
  double pingpong(size_t bytes) {
    unsigned char* const data = pingpong_.buffer(bytes);
    const int peer = 1 - rank_;
    return pingpong_.one_way([&] { fmpl::send(data, bytes, peer); },
                             [&] { fmpl::receive(data, bytes, peer); });
  }
  double prepared_pingpong() {
    constexpr size_t kBytes = 8;
    fmpl::prepare(pingpong_.buffer(kBytes), kBytes, 1 - rank_);
    const double time = pingpong_.one_way(fmpl::send_prepared, fmpl::receive_prepared);
    fmpl::release_prepared();
    return time;
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

  static void require(bool is_right) {
    if (!is_right) throw std::runtime_error("wrong data");
  }
  static Figure figure(const std::string& name, const std::string& title, double value) {
    return {name, title, "us", {"this job", {value}}, {}, {}};
  }

  Options options_;
  Way way_;
  PingPong pingpong_;
  int rank_ = fmpl::rank(), size_ = fmpl::size();
  size_t turn_ = 0;
  std::vector<unsigned char> data_;
};

}  // namespace
}  // namespace nagaya::bench

int main(int argc, char** argv) {
  using namespace nagaya::bench;
  Options options;
  Way way;
  CommandLine line("FMPL's figures, by FMPL, an MPI or a BLACS", "fmpl", options);
  line.add_flag("--buffered", way.is_buffered, "Messages only, which their sender copies first");
  line.add_flag("--by-messages", way.is_by_messages,
                "Collectives only, without memory that all load");
  return run_fmpl_program(line, options, argc, argv, [&] { return Bench(options, way); });
}

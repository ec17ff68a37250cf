// SPDX-License-Identifier: BSD-3-Clause
// pingpong.h - shared by the benchmarks of FMPL: the ping-pong of two processes, and main().
#pragma once

#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <vector>

#include "fmpl.h"
#include "program_main.h"

namespace nagaya::bench {

inline double now_us() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double, std::micro>(now).count();
}

// Measures three times at all processes. Returns the shortest time, each time being that of the
// slowest process.
template <class Time>
double shortest(Time time_of) {
  double shortest = 1e30;
  for (int n = 0; n < 3; ++n) {
    fmpl::barrier();
    shortest = std::min(shortest, fmpl::greatest(time_of()));
  }
  return shortest;
}

// A ping-pong of two processes. Each message is marked before it is sent, and checked when it was
// received.
class PingPong {
 public:
  explicit PingPong(const Options& options) : options_(options) {}

  // Makes the buffer from which messages are sent, and into which they are received.
  unsigned char* buffer(size_t bytes) {
    data_.assign(bytes, 0);
    return data_.data();
  }

  // Returns the time of one message of the whole buffer.                                      [us]
  template <class Send, class Receive>
  double one_way(Send send, Receive receive) {
    const int turns = turns_of(data_.size());
    return shortest([&] {
      const double start = now_us();
      for (int n = 0; n < turns; ++n)
        for (const int sender : {0, 1}) {
          if (sender == rank_) {
            mark();
            send();
          } else {
            receive();
            check();
          }
        }
      return (now_us() - start) / turns / 2;
    });
  }

 private:
  int turns_of(size_t bytes) const {
    const size_t turns = std::clamp<size_t>((size_t{64} << 20) / (bytes + 2048), 8, 4000);
    return static_cast<int>(options_.quick ? turns / 400 + 1 : turns);
  }
  void mark() {
    data_.front() = data_.back() = static_cast<unsigned char>(++sent_);
    if (options_.corrupt) data_.front() ^= 1;
  }
  void check() {
    const auto expected = static_cast<unsigned char>(++received_);
    if (data_.front() != expected || data_.back() != expected)
      throw std::runtime_error("wrong data");
  }

  const Options options_;
  const int rank_ = fmpl::rank();
  size_t sent_ = 0, received_ = 0;
  std::vector<unsigned char> data_;
};

// Every process measures; the first one prints. A process that fails ends the job with code 2.
// make() returns an object whose measure_round() returns the figures of one round.
template <class Make>
int measure_rounds(const CommandLine& line, const Options& options, Make make) {
  try {
    auto bench = make();
    Result result{.program = line.name(), .quick = options.quick, .figures = {}, .derived = {}};
    for (int round = 0; round < options.rounds_or(5, 1); ++round)
      add_round(result, bench.measure_round());
    if (fmpl::rank() == 0) print(result, options.json);
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}: {}\n", line.name(), error.what());
    std::_Exit(2);
  }
}

template <class Make>
int run_fmpl_program(CommandLine& line, const Options& options, int argc, char** argv, Make make) {
  line.parse(argc, argv);
  fmpl::begin();
  const int code = measure_rounds(line, options, make);
  fmpl::end();
  return code;
}

}  // namespace nagaya::bench

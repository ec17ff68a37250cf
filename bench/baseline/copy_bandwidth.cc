// SPDX-License-Identifier: BSD-3-Clause
// copy_bandwidth.cc - memcpy, by one core and by two: the floor of a copied message.
#include <chrono>
#include <cstring>
#include <latch>
#include <memory>
#include <stdexcept>
#include <thread>

#include "machine.h"
#include "program_main.h"

namespace nagaya::bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t kAlignment = 4096;

struct Free {
  void operator()(char* block) const { std::free(block); }
};
using Buffer = std::unique_ptr<char, Free>;

Buffer buffer_of(size_t bytes) {
  return Buffer(static_cast<char*>(std::aligned_alloc(kAlignment, bytes)));
}

// Copies `bytes` `times` times and returns the time of one copy [us]. Each copy gets a stamp of
// its own, so that the compiler cannot leave any out; the last one is compared in full.
double copy_us(size_t bytes, int times, std::latch& ready, bool corrupt) {
  const Buffer from = buffer_of(bytes), to = buffer_of(bytes);
  for (size_t at = 0; at < bytes; ++at) from.get()[at] = static_cast<char>(at * 31 + at / 251);
  std::memset(to.get(), 0, bytes);
  ready.arrive_and_wait();
  bool right = true;
  const auto start = Clock::now();
  for (int n = 0; n < times; ++n) {
    from.get()[bytes - 1] = static_cast<char>(n);
    std::memcpy(to.get(), from.get(), bytes);
    right &= *static_cast<volatile char*>(to.get() + bytes - 1) == static_cast<char>(n);
  }
  const std::chrono::duration<double, std::micro> taken = Clock::now() - start;
  if (corrupt) to.get()[bytes / 2] ^= 1;
  if (!right || std::memcmp(from.get(), to.get(), bytes) != 0)
    throw std::runtime_error("memcpy gave wrong data");
  return taken.count() / times;
}

// Copies on `threads` cores at once, each with its own buffers; returns the mean time of a copy
// [us].
double measure(size_t bytes, int threads, const Options& options) {
  const int times = options.quick ? 2 : static_cast<int>((256u << 20) / bytes);
  const auto processors = usable_processors();
  std::latch ready(threads);
  std::vector<double> us(static_cast<size_t>(threads));
  std::vector<std::string> errors(static_cast<size_t>(threads));
  std::vector<std::thread> all;
  for (size_t n = 0; n < us.size(); ++n)
    all.emplace_back([&, n] {
      try {
        bind_to(processors[n % processors.size()]);
        us[n] = copy_us(bytes, times, ready, options.corrupt);
      } catch (const std::exception& error) {
        errors[n] = error.what();
      }
    });
  for (std::thread& thread : all) thread.join();
  double sum = 0;
  for (size_t n = 0; n < us.size(); ++n) {
    if (!errors[n].empty()) throw std::runtime_error(errors[n]);
    sum += us[n];
  }
  return sum / threads;
}

Result measure_all(const Options& options) {
  const int rounds = options.rounds_or(9, 1);
  Result result{.program = "copy-bandwidth", .quick = options.quick, .figures = {}, .derived = {}};
  for (size_t kib : {4u, 64u, 1024u, 16384u})
    for (int threads : {1, 2})
      result.figures.push_back(
          {.name = fmt::format("floor_copy_{}KiB_{}", kib, threads),
           .title = fmt::format("memcpy of {} KiB, {} core(s) at once", kib, threads),
           .unit = "us per copy",
           .subject = {"memcpy", {}},
           .incumbent = {},
           .floor = {}});
  for (int round = 0; round < rounds; ++round) {
    progress(fmt::format("memcpy: round {} of {}", round + 1, rounds));
    size_t figure = 0;
    for (size_t kib : {4u, 64u, 1024u, 16384u})
      for (int threads : {1, 2})
        result.figures[figure++].subject.rounds.push_back(measure(kib * 1024, threads, options));
  }
  return result;
}

}  // namespace
}  // namespace nagaya::bench

int main(int argc, char** argv) {
  using namespace nagaya::bench;
  Options options;
  CommandLine line("memcpy by one core and by two.", "copy-bandwidth", options);
  return run_program(line, options, argc, argv, [&] { return measure_all(options); });
}

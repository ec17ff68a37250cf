// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <barrier>
#include <chrono>
#include <stdexcept>
#include <thread>

#include "figure.h"
#include "requests.h"

namespace nagaya::bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t kPlaces = 64;  // places for the data of so many requests, if they are small
constexpr size_t kLocalBytes = kMemoryBytes;
constexpr uint32_t kRequestsPerLook = 16;  // at the clock

double ns_between(Clock::time_point from, Clock::time_point to) {
  return std::chrono::duration<double, std::nano>(to - from).count();
}

// The memory into which one thread's requests read.
class Destination {
 public:
  explicit Destination(size_t bytes)
      : memory_(kLocalBytes, kUnread),
        bytes_(bytes),
        places_(std::clamp<size_t>(kLocalBytes / bytes, 1, kPlaces)) {}

  std::byte* all() { return memory_.data(); }
  std::byte* place(uint64_t number) { return memory_.data() + number % places_ * bytes_; }
  // Erases the first and the last byte of a request's place: cheap enough between two requests.
  void forget_ends(uint64_t number) {
    place(number)[0] = kUnread;
    place(number)[bytes_ - 1] = kUnread;
  }
  void check_ends(uint64_t number) {
    if (place(number)[0] != pattern_at(0) || place(number)[bytes_ - 1] != pattern_at(bytes_ - 1))
      throw std::runtime_error("a read brought wrong data");
  }
  // Throws if the data of one of the first `requests` is wrong.
  void check(uint64_t requests) {
    for (uint64_t number = 0; number < std::min<uint64_t>(requests, places_); ++number)
      for (size_t at = 0; at < bytes_; ++at)
        if (place(number)[at] != pattern_at(at))
          throw std::runtime_error("a read brought wrong data");
  }

 private:
  std::vector<std::byte> memory_;
  size_t bytes_, places_;
};

// Runs work(Reader&, Destination&, deadline, n), which returns the number of requests that it has
// made, in `point.threads` threads that begin together. The time is from the first one's beginning
// to the last one's end. Checks the data. Rethrows the first exception of any thread.
template <class Work>
double by_threads_ns(Path& path, const Point& point, std::chrono::milliseconds length, Work work) {
  struct Span {
    Clock::time_point begin, end;
    std::exception_ptr failure;
  };
  path.begin(point.threads);
  std::vector<Destination> destinations(point.threads, Destination(point.bytes));
  std::vector<std::unique_ptr<Reader>> readers;
  for (Destination& destination : destinations)
    readers.push_back(path.reader(destination.all(), kLocalBytes));
  std::vector<Span> spans(point.threads);
  std::barrier together(point.threads);
  const auto run = [&](uint32_t n) {
    together.arrive_and_wait();
    spans[n].begin = Clock::now();
    try {
      const uint64_t requests = work(*readers[n], destinations[n], spans[n].begin + length, n);
      spans[n].end = Clock::now();
      destinations[n].check(requests);
    } catch (...) {
      spans[n].failure = std::current_exception();
    }
  };
  // The calling thread is one of them: a thread with a lane that only waited for others' ends would
  // count as one that wants a processor.
  std::vector<std::jthread> threads;
  for (uint32_t n = 1; n < point.threads; ++n) threads.emplace_back(run, n);
  run(0);
  threads.clear();
  readers.clear();
  path.end();
  Span whole = spans[0];
  for (const Span& span : spans) {
    if (span.failure) std::rethrow_exception(span.failure);
    whole = {std::min(whole.begin, span.begin), std::max(whole.end, span.end), {}};
  }
  return ns_between(whole.begin, whole.end);
}

struct Samples {
  std::vector<double> overhead_ns, latency_ns;
};

uint64_t read_one_by_one(Reader& reader, Destination& to, size_t bytes, Clock::time_point deadline,
                         Samples& samples) {
  uint64_t number = 0;
  for (auto end = Clock::now(); number == 0 || end < deadline; ++number) {
    to.forget_ends(number);
    const auto asked = Clock::now();
    while (!reader.try_read(to.place(number), bytes)) continue;
    const auto accepted = Clock::now();
    reader.wait(number + 1);
    end = Clock::now();
    to.check_ends(number);
    samples.overhead_ns.push_back(ns_between(asked, accepted));
    samples.latency_ns.push_back(ns_between(asked, end));
  }
  return number;
}

uint64_t read_without_waiting(Reader& reader, Destination& to, size_t bytes,
                              Clock::time_point deadline) {
  uint64_t accepted = 0;
  while (accepted % kRequestsPerLook != 0 || accepted == 0 || Clock::now() < deadline) {
    if (reader.try_read(to.place(accepted), bytes)) {
      ++accepted;
      continue;
    }
    // Completions make room. The thread waits for half of them, so that the wake-up is worth it.
    const uint64_t pending = accepted - reader.completed();
    if (pending == 0)
      std::this_thread::yield();
    else
      reader.wait(accepted - pending / 2);
  }
  reader.wait(accepted);
  return accepted;
}

}  // namespace

Times measure_latency(Path& path, const Point& point, std::chrono::milliseconds length) {
  std::vector<Samples> samples(point.threads);
  by_threads_ns(path, point, length, [&](Reader& reader, Destination& to, auto deadline, auto n) {
    return read_one_by_one(reader, to, point.bytes, deadline, samples[n]);
  });
  Samples all;
  for (const Samples& one : samples) {
    all.overhead_ns.insert(all.overhead_ns.end(), one.overhead_ns.begin(), one.overhead_ns.end());
    all.latency_ns.insert(all.latency_ns.end(), one.latency_ns.begin(), one.latency_ns.end());
  }
  return {median_of(all.overhead_ns), median_of(all.latency_ns)};
}

double measure_rate_ns(Path& path, const Point& point, std::chrono::milliseconds length) {
  std::vector<uint64_t> requests(point.threads);
  const double taken_ns =
      by_threads_ns(path, point, length, [&](Reader& reader, Destination& to, auto end, auto n) {
        return requests[n] = read_without_waiting(reader, to, point.bytes, end);
      });
  uint64_t sum = 0;
  for (const uint64_t one : requests) sum += one;
  return taken_ns / static_cast<double>(sum);
}

double measure_fetch_add_ns(Pair& pair, Path& path, uint64_t count) {
  constexpr uint32_t kTogether = 64;
  pair.reset_word();
  path.begin(1);
  path.fetch_adds(kTogether, kTogether);  // untimed: opens connections, fills caches
  pair.reset_word();
  const auto start = Clock::now();
  const uint64_t sum = path.fetch_adds(count, kTogether);
  const double taken_ns = ns_between(start, Clock::now());
  path.end();
  if (sum != count * (count - 1) / 2) throw std::runtime_error("a fetch-add got a wrong value");
  return taken_ns / static_cast<double>(count);
}

double measure_clock_ns() {
  std::vector<double> samples;
  for (int n = 0; n < 10000; ++n) {
    const auto asked = Clock::now();
    samples.push_back(ns_between(asked, Clock::now()));
  }
  return median_of(samples);
}

}  // namespace nagaya::bench

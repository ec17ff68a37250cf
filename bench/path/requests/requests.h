// SPDX-License-Identifier: BSD-3-Clause
// requests.h - reading another process's memory, in several ways that look the same: a Path is a
// way, a Reader one thread's requests on it, the Pair the two processes.
#pragma once

#include <array>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "base/fd.h"
#include "baseline/raw_fabric.h"
#include "nagaya/comm.h"

namespace nagaya::bench {

inline constexpr size_t kMemoryBytes = size_t{1} << 20;  // of the other process

// The bytes that lie there, and one that never does.
inline std::byte pattern_at(size_t offset) {
  return static_cast<std::byte>(1 + offset * 31 % 253);
}
inline constexpr std::byte kUnread{0};

class Reader {
 public:
  virtual ~Reader() = default;
  // The first `bytes` of the other's memory. False: no room just now, try again.
  virtual bool try_read(void* to, size_t bytes) = 0;
  // Until `least` of all its requests are complete.
  virtual void wait(uint64_t least) = 0;
  virtual uint64_t completed() const = 0;
};

class Path {
 public:
  virtual ~Path() = default;
  virtual std::string name() const = 0;  // for people
  virtual std::string key() const = 0;   // in the names of figures
  // Before and after `threads` threads are at work; readers live in between.
  virtual void begin(uint32_t threads) = 0;
  virtual void end() = 0;
  // All its data goes to [local, local + bytes).
  virtual std::unique_ptr<Reader> reader(void* local, size_t bytes) = 0;
  // `count` times 1 is added to a word that was 0; the sum of the values before. Ways that can have
  // several under way have `together`.
  virtual uint64_t fetch_adds(uint64_t count, uint32_t together) = 0;
};

// An order of the process that measures to the other one.
struct Order {
  enum class Kind : uint32_t { kEnd, kBind, kServe };
  Kind kind;
  bool is_alone;    // kBind: a single requester
  Sharing sharing;  // kServe
  Pause pause;
};

// Both processes of the job, as each sees it. Throws base::Error.
class Pair {
 public:
  // Collective. `corrupt`: the memory does not hold the pattern.
  explicit Pair(bool corrupt);
  ~Pair();
  Pair(const Pair&) = delete;

  bool measures() const { return ::nagaya_comm_rank() == 0; }
  bool is_on_one_node() const { return ::nagaya_comm_nodes() == 1; }
  const nagaya_remote& memory() const { return memory_; }
  const nagaya_remote& word() const { return word_; }
  RawFabric& raw(Sharing sharing) { return *raw_.at(static_cast<size_t>(sharing)); }

  // To the other: both have then begun.
  void order(const Order& order);
  // The other: follows orders until the last.
  void follow();
  void reset_word();  // the other's, by a request

 private:
  void open_raw(Sharing sharing);

  base::Mapping bytes_;
  alignas(64) std::atomic<uint64_t> own_word_{0};
  nagaya_remote memory_{}, word_{};  // of the other
  std::array<std::unique_ptr<RawFabric>, 3> raw_;
};

// ---- the ways ----------------------------------------------------------------------------------

// How the delegatees of this job were told to work (nagaya(7)): key in figures, and words.
struct Mode {
  std::string key, title;
  bool sleeps = false, polls = false;
};
Mode mode_of_environment();

std::unique_ptr<Path> our_path(Pair& pair, const Mode& mode);
std::unique_ptr<Path> raw_path(Pair& pair, const Mode& mode, Sharing sharing);

// ---- processors --------------------------------------------------------------------------------

// This process's threads to come, its host's and its delegatee's. Alone, a requester has the first
// processor and all that serves it the last; else each host has half of them, a lone one all.
void bind_process(bool measures, bool alone);

// ---- measuring ---------------------------------------------------------------------------------

struct Point {
  uint32_t threads;
  size_t bytes;
};
struct Times {
  double overhead_ns, latency_ns;  // median of all requests of all threads
};

// Requests one after the other, for `length`. Throws std::runtime_error: a read brought wrong
// data.
Times measure_latency(Path& path, const Point& point, std::chrono::milliseconds length);
// Requests without waiting: nanoseconds of all threads together by request.
double measure_rate_ns(Path& path, const Point& point, std::chrono::milliseconds length);
// Nanoseconds of a fetch-add.
double measure_fetch_add_ns(Pair& pair, Path& path, uint64_t count);
// The latency that measure_latency finds of two readings of the clock.
double measure_clock_ns();

}  // namespace nagaya::bench

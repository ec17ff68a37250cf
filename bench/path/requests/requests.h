// SPDX-License-Identifier: BSD-3-Clause
// requests.h - reads another process's memory in several ways behind one interface: a Path is one
// way, a Reader one thread's requests by it, the Pair the two processes.
#pragma once

#include <array>
#include <chrono>
#include <memory>
#include <string>

#include "base/fd.h"
#include "baseline/raw_fabric.h"
#include "nagaya/comm.h"

namespace nagaya::bench {

inline constexpr size_t kMemoryBytes = size_t{1} << 20;  // size of the memory that is read

// The pattern in the other process's memory, and a byte that it never contains.
inline std::byte pattern_at(size_t offset) {
  return static_cast<std::byte>(1 + offset * 31 % 253);
}
inline constexpr std::byte kUnread{0};

class Reader {
 public:
  virtual ~Reader() = default;
  // Starts to read the first `bytes` of the other's memory. False: no room just now, try again.
  virtual bool try_read(void* to, size_t bytes) = 0;
  // Waits until `least` of all requests of this reader are complete.
  virtual void wait(uint64_t least) = 0;
  virtual uint64_t completed() const = 0;
};

class Path {
 public:
  virtual ~Path() = default;
  virtual std::string name() const = 0;  // for people
  virtual std::string key() const = 0;   // in the names of figures
  // Called before and after `threads` threads are at work; readers live in between.
  virtual void begin(uint32_t threads) = 0;
  virtual void end() = 0;
  // Makes a reader that stores all data in [local, local + bytes).
  virtual std::unique_ptr<Reader> reader(void* local, size_t bytes) = 0;
  // Adds 1 `count` times to the other's word, which was 0; returns the sum of the old values. Paths
  // that can have several requests pending have `together` of them.
  virtual uint64_t fetch_adds(uint64_t count, uint32_t together) = 0;
};

// An order that the measuring process sends to the other one.
struct Order {
  enum class Kind : uint32_t { kEnd, kBind, kServe };
  Kind kind;
  bool is_alone;    // kBind: a single requester
  Sharing sharing;  // kServe
  Pause pause;
};

// The two processes of the job; each has one Pair. Throws base::Error.
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

  // Sends an order to the other process; on return both have begun with it.
  void order(const Order& order);
  // Called by the other process: follows orders until the last.
  void follow();
  void reset_word();  // sets the other's word to 0 by a request

 private:
  void open_raw(Sharing sharing);

  base::Mapping bytes_;
  alignas(64) std::atomic<uint64_t> own_word_{0};
  nagaya_remote memory_{}, word_{};  // places in the other process
  std::array<std::unique_ptr<RawFabric>, 3> raw_;
};

// ---- the ways ----------------------------------------------------------------------------------

// The mode of work of this job's delegatees, as the environment sets it (nagaya(7)): its key in the
// names of figures, and words for people.
struct Mode {
  std::string key, title;
  bool sleeps = false, polls = false;
};
Mode mode_of_environment();

// `spins_alone`: a single thread spins while it waits, because it has a processor of its own; else
// it waits by the library.
std::unique_ptr<Path> our_path(Pair& pair, const Mode& mode, bool spins_alone);
std::unique_ptr<Path> raw_path(Pair& pair, const Mode& mode, Sharing sharing);

// ---- processors --------------------------------------------------------------------------------

// Binds the future threads of this process, and those of its host and its delegatee. `alone`: a
// single requester gets the first processor, and all that serves it the last. Else each host gets
// half of the processors, a single host all of them.
void bind_process(bool measures, bool alone);

// ---- measuring ---------------------------------------------------------------------------------

struct Point {
  uint32_t threads;
  size_t bytes;
};
struct Times {
  double overhead_ns, latency_ns;  // median of all requests of all threads
};

// Makes requests one after the other, for `length`. Throws std::runtime_error if a read brought
// wrong data.
Times measure_latency(Path& path, const Point& point, std::chrono::milliseconds length);
// Makes requests without waiting for each. Returns the time per request of all threads together
// [ns].
double measure_rate_ns(Path& path, const Point& point, std::chrono::milliseconds length);
// Returns the time of one fetch-add [ns].
double measure_fetch_add_ns(Pair& pair, Path& path, uint64_t count);
// Returns the part of measure_latency()'s results that two readings of the clock cost [ns].
double measure_clock_ns();

}  // namespace nagaya::bench

// SPDX-License-Identifier: BSD-3-Clause
// copies.cc - large gets and puts beside memcpy between the same buffers by the same
// thread: while the partner computes, while it waits, and while it sleeps; the source in the
// reader's cache, or freshly written by the partner.
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

#include "arch/arch.h"
#include "in_node.h"

namespace nagaya::bench {
namespace {

constexpr size_t kKiB = 1024, kMiB = 1024 * kKiB, kMostBytes = 16 * kMiB;

enum class Partner { kComputes, kWaits, kSleeps };
enum class Direction { kGet, kPut };

struct Case {
  const char* name;
  Direction direction;
  Partner partner;
  bool fresh;  // written by the partner before each copy
  std::vector<size_t> sizes;
};
const Case kCases[] = {
    {"get", Direction::kGet, Partner::kComputes, false, {64 * kKiB, kMiB, 4 * kMiB, 16 * kMiB}},
    {"put", Direction::kPut, Partner::kComputes, false, {64 * kKiB, kMiB, 4 * kMiB, 16 * kMiB}},
    {"get_fresh", Direction::kGet, Partner::kComputes, true, {kMiB, 4 * kMiB, 16 * kMiB}},
    {"get_waiting", Direction::kGet, Partner::kWaits, false, {kMiB, 4 * kMiB, 16 * kMiB}},
    {"put_waiting", Direction::kPut, Partner::kWaits, false, {kMiB, 4 * kMiB, 16 * kMiB}},
    {"get_waiting_fresh", Direction::kGet, Partner::kWaits, true, {kMiB, 4 * kMiB, 16 * kMiB}},
    {"get_sleeping", Direction::kGet, Partner::kSleeps, false, {kMiB, 16 * kMiB}},
};

struct Side {
  char* buffer = nullptr;
  nagaya_remote place{};
  uint32_t copied = 0;  // set after a copy; the partner waits for it
};

// Volatile: the compiler leaves no copy out.
void* (*volatile plain_copy)(void*, const void*, size_t) = std::memcpy;

class Copies {
 public:
  explicit Copies(const Stage& stage) : stage_(stage), own_(*new Side) {
    own_.buffer = static_cast<char*>(std::aligned_alloc(4096, kMostBytes));
    write(0, kMostBytes);
    check(nagaya_llcl_register(own_.buffer, kMostBytes, &own_.place), "register");
    check(nagaya_task_publish("side", &own_), "publish");
    other_ = &of_rank<Side>(stage.partner(), "side");
  }

  // Returns the median rate of the leader's copies [GB/s]; `by_request` or by memcpy.
  double rate(const Case& what, size_t bytes, bool by_request) {
    const bool once = stage_.quick || what.fresh || what.partner == Partner::kSleeps;
    const uint64_t copies = once ? 1 : 32 * kMiB / bytes;
    const uint64_t turns = stage_.quick ? 1 : once ? 8 : 2;
    std::vector<double> ns;
    for (uint64_t turn = 0; turn < turns; ++turn) {
      own_.copied = 0;
      // The source has another stamp each time, and the target holds none of it.
      const bool is_source = stage_.leads() == (what.direction == Direction::kPut);
      write(++stamp_ * 2 + (is_source ? 0 : 1), bytes);
      stage_.meet();
      if (stage_.leads() && !what.fresh) bring_near(what.direction, bytes);
      stage_.meet();
      if (stage_.leads())
        lead(what, bytes, by_request, copies, ns);
      else
        follow(what.partner);
      stage_.meet();
      expect(!stage_.corrupt && std::memcmp(own_.buffer, other_->buffer, bytes) == 0);
      stage_.meet();
    }
    std::nth_element(ns.begin(), ns.begin() + static_cast<ptrdiff_t>(ns.size() / 2), ns.end());
    return ns.empty() ? 0 : static_cast<double>(bytes) / ns[ns.size() / 2];
  }

 private:
  static constexpr auto kUntilAsleep = std::chrono::milliseconds(5);

  void write(uint64_t stamp, size_t bytes) {
    auto* const words = reinterpret_cast<uint64_t*>(own_.buffer);
    for (size_t at = 0; at < bytes / sizeof *words; ++at) words[at] = stamp * 1'000'003 + at;
  }

  // Brings both sides into the leader's cache.
  void bring_near(Direction direction, size_t bytes) {
    copy(direction, bytes, false);
    std::memset(direction == Direction::kGet ? own_.buffer : other_->buffer, 0, bytes);
  }

  void lead(const Case& what, size_t bytes, bool by_request, uint64_t copies,
            std::vector<double>& ns) {
    if (what.partner == Partner::kSleeps) std::this_thread::sleep_for(kUntilAsleep);
    for (uint64_t n = 0; n < copies; ++n)
      ns.push_back(ns_of([&] { copy(what.direction, bytes, by_request); }));
    std::atomic_ref(other_->copied).store(1, std::memory_order_release);  // pairs with follow
  }

  void copy(Direction direction, size_t bytes, bool by_request) {
    const bool get = direction == Direction::kGet;
    if (by_request) {
      const nagaya_llcl_transfer what{other_->place, own_.buffer, bytes, {}};
      check(get ? nagaya_llcl_try_read(&what) : nagaya_llcl_try_write(&what), "copy");
    } else {
      plain_copy(get ? own_.buffer : other_->buffer, get ? other_->buffer : own_.buffer, bytes);
    }
  }

  void follow(Partner partner) {
    if (partner != Partner::kComputes)
      return check(nagaya_llcl_wait_flag(&own_.copied, -1), "wait");
    while (std::atomic_ref(own_.copied).load(std::memory_order_acquire) == 0) arch::relax();
  }

  const Stage& stage_;
  Side& own_;
  Side* other_;
  uint64_t stamp_ = 0;
};

std::string size_name(size_t bytes) {
  return bytes < kMiB ? std::to_string(bytes / kKiB) + "KiB" : std::to_string(bytes / kMiB) + "MiB";
}

}  // namespace

void measure_copies(const Stage& stage) {
  Copies copies(stage);
  for (int round = 0; round < stage.rounds; ++round)
    for (const Case& what : kCases)
      for (const size_t bytes : what.sizes) {
        const double request = copies.rate(what, bytes, true);
        const double plain = copies.rate(what, bytes, false);
        if (!stage.leads()) continue;
        const std::string figure = std::string(what.name) + "_" + size_name(bytes);
        stage.report(figure, kSubject, request);
        stage.report(figure, kIncumbent, plain);
      }
}

}  // namespace nagaya::bench

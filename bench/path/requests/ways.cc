// SPDX-License-Identifier: BSD-3-Clause
// ways.cc - the Paths to the other process's memory: Nagaya's requests, and libfabric itself.
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <string_view>

#include "requests.h"

namespace nagaya::bench {
namespace {

// ---- ours --------------------------------------------------------------------------------------

// Returns true if the request was accepted, false if there was no room; throws on other errors.
bool is_accepted(int error) {
  if (error != 0 && error != -EAGAIN)
    throw base::Error(error, std::string("a request was refused: ") + std::strerror(-error));
  return error == 0;
}

uint64_t value_of(const uint64_t& counter) {  // acquire: pairs with the completer
  return __atomic_load_n(&counter, __ATOMIC_ACQUIRE);
}

void wait_for(const uint64_t& counter, uint64_t least, bool spins) {
  while (spins && value_of(counter) < least) arch::relax();
  const int error = ::nagaya_llcl_wait_counter(&counter, least, -1);
  if (error != 0) throw base::Error(error, "a request has failed");
}

class OurReader : public Reader {
 public:
  OurReader(const nagaya_remote& memory, bool spins)
      : spins_(spins), transfer_{memory, nullptr, 0, nagaya_counter(&completed_)} {}

  bool try_read(void* to, size_t bytes) override {
    transfer_.local = to;
    transfer_.bytes = bytes;
    return is_accepted(::nagaya_llcl_try_read(&transfer_));
  }
  void wait(uint64_t least) override { wait_for(completed_, least, spins_); }
  uint64_t completed() const override { return value_of(completed_); }

 private:
  const bool spins_;
  alignas(64) uint64_t completed_ = 0;
  alignas(64) nagaya_llcl_transfer transfer_;
};

class OurPath : public Path {
 public:
  OurPath(Pair& pair, const Mode& mode, bool spins_alone)
      : pair_(pair), mode_(mode), spins_alone_(spins_alone) {}

  std::string name() const override { return "Nagaya, " + mode_.title; }
  std::string key() const override { return mode_.key; }
  void begin(uint32_t threads) override {
    spins_ = spins_alone_ && threads == 1;  // as RawPath
  }
  void end() override {}
  std::unique_ptr<Reader> reader(void*, size_t) override {
    return std::make_unique<OurReader>(pair_.memory(), spins_);
  }
  uint64_t fetch_adds(uint64_t count, uint32_t together) override {
    std::vector<uint64_t> before(together);
    uint64_t sum = 0, accepted = 0, completed = 0;
    while (accepted < count) {
      for (uint32_t n = 0; n < together && accepted < count; ++n, ++accepted) {
        const nagaya_llcl_atomic add{
            pair_.word(), NAGAYA_ADD, NAGAYA_UINT64, 1, 0, &before[n], nagaya_counter(&completed)};
        while (!is_accepted(::nagaya_llcl_try_atomic(&add))) continue;
      }
      wait_for(completed, accepted, spins_);
      for (uint64_t n = 0; n < (accepted - 1) % together + 1; ++n) sum += before[n];
    }
    return sum;
  }

 private:
  Pair& pair_;
  const Mode mode_;
  const bool spins_alone_;
  bool spins_ = false;
};

// ---- libfabric itself --------------------------------------------------------------------------

class RawReader : public Reader {
 public:
  RawReader(RawFabric& fabric, void* local, size_t bytes) : thread_(fabric, local, bytes) {}
  bool try_read(void* to, size_t bytes) override { return thread_.try_read(to, bytes, 0); }
  void wait(uint64_t least) override { thread_.wait(least); }
  uint64_t completed() const override { return thread_.completed(); }

 private:
  RawFabric::Thread thread_;
};

class RawPath : public Path {
 public:
  RawPath(Pair& pair, const Mode& mode, Sharing sharing)
      : pair_(pair), mode_(mode), sharing_(sharing) {}

  std::string name() const override { return text().name; }
  std::string key() const override { return text().key; }
  void begin(uint32_t threads) override {
    const auto processors = static_cast<uint32_t>(::sysconf(_SC_NPROCESSORS_ONLN));
    // As the delegatee: polls while threads wait and there are enough processors, else sleeps.
    const bool sleeps = mode_.sleeps || (!mode_.polls && threads > processors);
    fabric().prepare(sleeps         ? Pause::kSleep
                     : threads == 1 ? Pause::kSpin
                                    : Pause::kYield,
                     threads, processors);
    pair_.order({Order::Kind::kServe, false, sharing_, sleeps ? Pause::kSleep : Pause::kYield});
  }
  void end() override { fabric().dismiss(); }
  std::unique_ptr<Reader> reader(void* local, size_t bytes) override {
    return std::make_unique<RawReader>(fabric(), local, bytes);
  }
  uint64_t fetch_adds(uint64_t count, uint32_t) override {
    uint64_t sum = 0;
    for (uint64_t n = 0; n < count; ++n) sum += fabric().fetch_add(1);
    return sum;
  }

 private:
  struct Text {
    const char *key, *name;
  };
  const Text& text() const {
    static constexpr Text kBySharing[] = {{"raw", "libfabric, one thread"},
                                          {"mutex", "libfabric under a mutex"},
                                          {"thread_safe", "libfabric, FI_THREAD_SAFE"}};
    return kBySharing[static_cast<size_t>(sharing_)];
  }
  RawFabric& fabric() { return pair_.raw(sharing_); }

  Pair& pair_;
  const Mode mode_;
  const Sharing sharing_;
};

struct Setting {
  const char *variable, *value;
  Mode mode;
};
const Setting kSettings[] = {
    {"NAGAYA_QUEUE", "ring", {"ring", "the published ring"}},
    {"NAGAYA_AGGREGATION", "off", {"unaggregated", "aggregation off"}},
    {"NAGAYA_NOTIFICATION", "kernel", {"sleeping", "delegatees sleep", true, false}},
    {"NAGAYA_NOTIFICATION", "polling", {"spinning", "delegatees spin", false, true}},
};

}  // namespace

Mode mode_of_environment() {
  for (const Setting& setting : kSettings) {
    const char* const value = ::getenv(setting.variable);
    if (value != nullptr && std::string_view(value) == setting.value) return setting.mode;
  }
  return {"lanes", "lanes"};
}

std::unique_ptr<Path> our_path(Pair& pair, const Mode& mode, bool spins_alone) {
  return std::make_unique<OurPath>(pair, mode, spins_alone);
}

std::unique_ptr<Path> raw_path(Pair& pair, const Mode& mode, Sharing sharing) {
  return std::make_unique<RawPath>(pair, mode, sharing);
}

}  // namespace nagaya::bench

// SPDX-License-Identifier: BSD-3-Clause
// work_pages.cc - operations that take the mmap_lock, which all tasks of a space share.
#include <sys/mman.h>

#include <cstring>
#include <stdexcept>

#include "nagaya/task.h"
#include "work.h"

namespace nagaya::bench {
namespace {

constexpr uint64_t kPageBytes = 4096;

char* map(uint64_t bytes) {
  void* mapped = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  expect(mapped != MAP_FAILED, "mmap failed");
  return static_cast<char*>(mapped);
}

// Throws if `address` is not in the calling task's own partition.
void expect_own(const void* address) {
  const int self = nagaya_task_self();
  expect(self < 0 || nagaya_task_owner(address) == self, "mapping outside the own partition");
}

// Touches `operations` fresh pages of 4 KiB for the first time.
class PageFault : public Work {
 public:
  using Work::Work;
  ~PageFault() override {
    if (region_ != nullptr) ::munmap(region_, bytes());
  }
  void prepare() override {
    region_ = map(bytes());
    expect_own(region_);
    ::madvise(region_, bytes(), MADV_NOHUGEPAGE);  // else one fault would bring 2 MiB
  }
  void run() override {
    for (int64_t page = 0; page < order_.operations; ++page) word(page) = stamp(page);
  }
  void check() override {
    if (order_.corrupt) word(order_.operations / 2) = 0;
    for (int64_t page = 0; page < order_.operations; ++page) {
      expect(word(page) == stamp(page), "a touched page lost its stamp");
      expect(*(&word(page) + 1) == 0, "a fresh page was not zero");
    }
    ::munmap(region_, bytes());
    region_ = nullptr;
  }

 private:
  uint64_t bytes() const { return static_cast<uint64_t>(order_.operations) * kPageBytes; }
  volatile uint64_t& word(int64_t page) {
    return *reinterpret_cast<volatile uint64_t*>(region_ + page * static_cast<int64_t>(kPageBytes));
  }
  uint64_t stamp(int64_t page) const {
    return static_cast<uint64_t>(page) * 64 + static_cast<uint64_t>(order_.rank) + 1;
  }
  char* region_ = nullptr;
};

// Maps and unmaps `bytes` without touching them.
class MapUnmap : public Work {
 public:
  using Work::Work;
  void run() override {
    for (int64_t n = 0; n < order_.operations; ++n) ::munmap(map(order_.bytes), order_.bytes);
  }
  void check() override {
    char* last = map(order_.bytes);
    expect_own(last);
    if (order_.corrupt) last[order_.bytes / 2] = 1;
    for (uint64_t at = 0; at < order_.bytes; ++at) expect(last[at] == 0, "fresh memory not zero");
    ::munmap(last, order_.bytes);
  }
};

// Makes `bytes` read-only and writable again by mprotect; one operation is one call.
class Protect : public Work {
 public:
  explicit Protect(const Order& order) : Work(order), region_(map(order.bytes)) {
    std::memset(region_, 1 + order.rank, order.bytes);
  }
  ~Protect() override { ::munmap(region_, order_.bytes); }
  void run() override {
    for (int64_t n = 0; n < order_.operations; n += 2)
      failed_ |= ::mprotect(region_, order_.bytes, PROT_READ) |
                 ::mprotect(region_, order_.bytes, PROT_READ | PROT_WRITE);
  }
  void check() override {
    expect(failed_ == 0, "mprotect failed");
    if (order_.corrupt) region_[order_.bytes / 2] = 0;
    for (uint64_t at = 0; at < order_.bytes; ++at)
      expect(region_[at] == 1 + order_.rank, "mprotect lost data");
  }

 private:
  char* region_;
  int failed_ = 0;
};

}  // namespace

void expect(bool right, const char* what) {
  if (!right) throw std::runtime_error(what);
}

std::unique_ptr<Work> make_page_fault(const Order& order) {
  return std::make_unique<PageFault>(order);
}
std::unique_ptr<Work> make_map_unmap(const Order& order) {
  return std::make_unique<MapUnmap>(order);
}
std::unique_ptr<Work> make_protect(const Order& order) {
  return std::make_unique<Protect>(order);
}

}  // namespace nagaya::bench

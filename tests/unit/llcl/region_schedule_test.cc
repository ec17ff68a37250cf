// SPDX-License-Identifier: BSD-3-Clause
// Every interleaving, within a budget, of a task that looks for a region and of others that remove
// it and put theirs in its entry.
#include <gtest/gtest.h>

#include <iostream>
#include <memory>

#include "llcl/board/region.h"
#include "mailbox/schedule.h"

namespace nagaya::llcl {
namespace {

using mailbox::Owner;
using Schedule = mailbox::schedule::Run;
using OneEntry = BasicRegionTable<mailbox::schedule::Machine, 1>;

constexpr Owner kOwner = Owner::task(3, 1), kNextOfItsNumber = Owner::task(3, 2);

// Region n of `owner`: n bytes at address n * 1000.
uint32_t add(OneEntry& table, Owner owner, uint64_t n) {
  return table.add(owner, reinterpret_cast<void*>(n * 1000), n);
}

// The region that a lookup finds under the number of region 1.
std::string judged(const RegionMemory& found) {
  if (found.address == nullptr) return "";
  const auto address = reinterpret_cast<uint64_t>(found.address);
  if (address == 1000 && found.bytes == 1) return "";
  return "found " + std::to_string(found.bytes) + " bytes at " + std::to_string(address);
}

// `replace` removes region 1 and adds others, while somebody looks for region 1 twice.
void expect_never_another(const std::function<void(OneEntry& table, uint32_t first)>& replace) {
  std::string failure;
  const auto test = [&](Schedule& run) {
    const auto table = std::make_unique<OneEntry>();
    uint32_t first = 0;
    std::string found;
    run.add([&] {
      first = add(*table, kOwner, 1);
      replace(*table, first);
    });
    run.add([&] {
      for (int n = 0; n < 2; ++n) found += judged(table->find_region(1 << 16, kOwner.number()));
    });
    const std::string schedule_failure = run.go();
    EXPECT_EQ(first, 1u << 16);
    return schedule_failure.empty() ? found : schedule_failure;
  };
  const uint64_t runs = mailbox::schedule::explore(3, test, failure);
  EXPECT_EQ(failure, "") << "in schedule " << runs;
  std::cout << runs << " schedules\n";
}

TEST(RegionSchedules, NeverFindAnotherRegionUnderTheNumberOfOneThatIsRemoved) {
  expect_never_another([](OneEntry& table, uint32_t first) {
    table.remove(kOwner, first);
    const uint32_t second = add(table, kOwner, 2);
    table.remove(kOwner, second);
    add(table, kOwner, 3);
  });
}

TEST(RegionSchedules, NeverFindARegionOfTheNextTaskUnderTheNumberOfADeadOnes) {
  expect_never_another([](OneEntry& table, uint32_t) {
    table.remove_all(kOwner);
    add(table, kNextOfItsNumber, 2);
  });
}

}  // namespace
}  // namespace nagaya::llcl

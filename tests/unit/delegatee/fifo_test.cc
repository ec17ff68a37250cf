// SPDX-License-Identifier: BSD-3-Clause
#include "delegatee/fifo.h"

#include <gtest/gtest.h>

#include <memory>

namespace nagaya::delegatee {
namespace {

TEST(Fifo, KeepsNothingOfWhatIsPopped) {
  const auto first = std::make_shared<int>(1);
  Fifo<std::shared_ptr<int>> fifo;
  fifo.push(first);
  fifo.push(std::make_shared<int>(2));
  fifo.pop();
  EXPECT_EQ(first.use_count(), 1);
  EXPECT_EQ(*fifo.front(), 2);
}

}  // namespace
}  // namespace nagaya::delegatee

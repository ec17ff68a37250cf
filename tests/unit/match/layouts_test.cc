// SPDX-License-Identifier: BSD-3-Clause
// Messages between buffers of any two layouts, to a task of the node and of another one.
#include <random>

#include "match/pair.h"

namespace nagaya::match {
namespace {

constexpr Envelope kEnvelope = {7, 0, 3};

// Memory, and runs that lie anywhere in it, upwards or downwards, but not on each other.
class RandomBuffer {
 public:
  // Makes about `groups` groups of runs, until they hold `bytes`.
  RandomBuffer(std::mt19937& chance, size_t groups, size_t bytes) {
    const auto upto = [&](size_t most) { return chance() % most + 1; };
    size_t memory_bytes = 0;
    for (size_t held = 0; held < bytes;) {
      nagaya_runs runs{};
      runs.bytes = upto(2 * bytes / groups / 3 + 1);
      runs.count = upto(5);
      const size_t stride = runs.bytes + chance() % 20;
      const size_t first = memory_bytes + chance() % 30;
      memory_bytes = first + stride * runs.count;
      const bool is_downwards = chance() % 4 == 0;
      offsets_.push_back(first + (is_downwards ? stride * (runs.count - 1) : 0));
      runs.stride = is_downwards ? -static_cast<ptrdiff_t>(stride) : static_cast<ptrdiff_t>(stride);
      runs_.push_back(runs);
      held += runs.bytes * runs.count;
    }
    std::vector<size_t> order(runs_.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::shuffle(order.begin(), order.end(), chance);
    memory.resize(memory_bytes);
    std::vector<nagaya_runs> shuffled;
    for (const size_t n : order) {
      shuffled.push_back(runs_[n]);
      shuffled.back().first = memory.data() + offsets_[n];
    }
    runs_ = shuffled;
  }
  const nagaya_runs* runs() const { return runs_.data(); }
  size_t groups() const { return runs_.size(); }
  // Calls each(byte) for the first `bytes` of the message.
  template <class Each>
  void for_each(size_t bytes, Each each) {
    for (const nagaya_runs& runs : runs_)
      for (size_t n = 0; n < runs.count; ++n)
        for (size_t byte = 0; byte < runs.bytes; ++byte) {
          if (bytes-- == 0) return;
          each(static_cast<std::byte*>(
              runs.first)[static_cast<ptrdiff_t>(n) * runs.stride + static_cast<ptrdiff_t>(byte)]);
        }
  }

  std::vector<std::byte> memory;

 private:
  std::vector<nagaya_runs> runs_;
  std::vector<size_t> offsets_;
};

// By the number of nodes and the seed.
class Layouts : public Pair, public testing::WithParamInterface<std::tuple<uint32_t, unsigned>> {
 protected:
  Layouts() : Pair(std::get<0>(GetParam())), chance_(std::get<1>(GetParam())) {}

  // A message of `bytes` between buffers of so many groups of runs.
  void move(size_t bytes, size_t from_groups, size_t to_groups) {
    RandomBuffer from(chance_, from_groups, bytes), to(chance_, to_groups, bytes);
    uint8_t next = 1;
    from.for_each(bytes, [&](std::byte& byte) { byte = std::byte{next += 7}; });
    std::vector<std::byte> expected;
    from.for_each(bytes, [&](std::byte byte) { expected.push_back(byte); });
    nagaya_send send{};
    send.to = process(1);
    send.envelope = kEnvelope;
    send.bytes = bytes;
    send.runs = from.runs();
    nagaya_receive receive{};
    receive.wanted = kEnvelope;
    receive.from = process(0);
    receive.capacity = bytes;
    receive.runs = to.runs();
    ASSERT_EQ(task(0).send(send), 0);
    ASSERT_EQ(task(1).receive(receive), 0);
    progress();
    ASSERT_TRUE(send.is_complete && receive.is_complete);
    ASSERT_EQ(receive.error, 0);
    std::vector<std::byte> come;
    to.for_each(bytes, [&](std::byte& byte) { come.push_back(std::exchange(byte, {})); });
    EXPECT_EQ(come, expected) << from.groups() << " to " << to.groups();
    EXPECT_EQ(to.memory, std::vector<std::byte>(to.memory.size())) << "beside the runs";
    EXPECT_EQ(wire_of(0).shared, 0);
  }

  std::mt19937 chance_;
};

TEST_P(Layouts, AMessageGoesFromAnyToAny) {
  for (const size_t bytes : {size_t{1}, size_t{500}, size_t{5000}, size_t{200'000}})
    for (const size_t from : {1, 3, 30, 300})
      for (const size_t to : {1, 3, 30, 300}) move(bytes, from, to);
}

INSTANTIATE_TEST_SUITE_P(Seeds, Layouts,
                         testing::Combine(testing::Values(1, 2), testing::Range(1u, 6u)));

}  // namespace
}  // namespace nagaya::match

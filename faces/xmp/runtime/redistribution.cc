// SPDX-License-Identifier: BSD-3-Clause
#include "faces/xmp/runtime/redistribution.h"

#include <cstdint>

#include "faces/xmp/runtime/executing.h"
#include "faces/xmp/runtime/failure.h"
#include "nagaya/coll.h"

namespace nagaya::xmp {
namespace {

// One block for each member, back to back in `memory`.
class Blocks {
 public:
  explicit Blocks(std::vector<size_t> bytes) : bytes_(std::move(bytes)) {
    size_t end = 0;
    for (const size_t one : bytes_) {
      offsets_.push_back(static_cast<ptrdiff_t>(end));
      check_agreement(!__builtin_add_overflow(end, one, &end) && end < PTRDIFF_MAX);
    }
    memory_.resize(end + 1);  // a base even if all blocks are empty
  }
  std::byte* block(size_t n) { return memory_.data() + offsets_[n]; }
  nagaya_blocks description() {
    nagaya_blocks blocks{};
    blocks.base = memory_.data();
    blocks.bytes_of = bytes_.data();
    blocks.offset_of = offsets_.data();
    return blocks;
  }

 private:
  std::vector<size_t> bytes_;
  std::vector<ptrdiff_t> offsets_;
  Bytes memory_;
};

void all_to_all(const nagaya_blocks& send, const nagaya_blocks& receive, bool varies) {
  nagaya_collective what{};
  what.kind = NAGAYA_ALLTOALL;
  what.varies = varies;
  what.send = send;
  what.receive = receive;
  int error = nagaya_coll_run(&Executing::now().team_of_next(nullptr), &what);
  if (error == 0) error = what.error;
  if (error != 0) fail(nullptr, "a transformation of arrays has failed: " + reason_of(error));
}

// Sends sent[n] to executing node n, and returns the number that each node n has sent to the
// caller.
std::vector<uint64_t> exchange_numbers(std::vector<uint64_t> sent) {
  std::vector<uint64_t> received(sent.size());
  nagaya_blocks send{}, receive{};
  send.base = sent.data();
  receive.base = received.data();
  send.bytes = receive.bytes = sizeof(uint64_t);
  send.stride = receive.stride = sizeof(uint64_t);
  all_to_all(send, receive, false);
  return received;
}

}  // namespace

void check_agreement(bool is_so) {
  if (!is_so)
    fail(nullptr,
         "a transformation of arrays has failed: one of them has other extents at another node: "
         "give xmp_malloc the same ones at all nodes");
}

void append(Bytes& to, const void* data, size_t bytes) {
  const auto* const from = static_cast<const std::byte*>(data);
  to.insert(to.end(), from, from + bytes);
}

std::vector<Bytes> exchange(const std::vector<Bytes>& sent) {
  if (sent.size() == 1) return sent;
  std::vector<size_t> bytes;
  for (const Bytes& one : sent) bytes.push_back(one.size());
  const std::vector<uint64_t> expected = exchange_numbers({bytes.begin(), bytes.end()});
  Blocks send(bytes), receive({expected.begin(), expected.end()});
  for (size_t n = 0; n < sent.size(); ++n)
    if (!sent[n].empty()) std::memcpy(send.block(n), sent[n].data(), sent[n].size());
  all_to_all(send.description(), receive.description(), true);
  std::vector<Bytes> received;
  for (size_t n = 0; n < sent.size(); ++n)
    received.emplace_back(receive.block(n), receive.block(n) + expected[n]);
  return received;
}

int64_t sum_before(int64_t count) {
  const size_t nodes = Executing::now().size();
  if (nodes == 1) return 0;
  const std::vector<uint64_t> all =
      exchange_numbers(std::vector<uint64_t>(nodes, static_cast<uint64_t>(count)));
  int64_t sum = 0;
  for (int64_t n = 0; n < Executing::now().own_index(); ++n)
    check_agreement(!__builtin_add_overflow(sum, all[static_cast<size_t>(n)], &sum));
  check_agreement(sum <= INT64_MAX - count);
  return sum;
}

void Elements::add(int64_t number, const std::byte* value) {
  numbers_.push_back(number);
  append(values_, value, element_bytes_);
}

void deliver(const Ownership& to, const Elements& elements) {
  std::vector<Bytes> sent(Executing::now().size());
  const size_t bytes = elements.element_bytes();
  for (size_t n = 0; n < elements.size(); ++n) {
    const int64_t number = elements.number(n);
    check_agreement(to.has_number(number));
    to.for_each_owner(number, [&](uint32_t node) {
      append(sent[node], &number, sizeof number);
      append(sent[node], elements.value(n), bytes);
    });
  }
  for (const Bytes& received : exchange(sent))
    for_each_number(received, bytes, [&](int64_t number, const std::byte* value) {
      check_agreement(to.is_own(number));
      std::memcpy(to.address_of(number), value, bytes);
    });
}

Bytes fetch(const Ownership& from, const std::vector<int64_t>& numbers) {
  const size_t bytes = from.array().element_bytes;
  std::vector<Bytes> asked(Executing::now().size()), answers(asked.size());
  for (const int64_t number : numbers) append(asked[from.owner(number)], &number, sizeof number);
  const std::vector<Bytes> questions = exchange(asked);
  for (size_t n = 0; n < questions.size(); ++n)
    for_each_number(questions[n], 0, [&](int64_t number, const std::byte*) {
      check_agreement(from.is_own(number));
      append(answers[n], from.address_of(number), bytes);
    });
  const std::vector<Bytes> received = exchange(answers);
  for (size_t n = 0; n < received.size(); ++n)
    check_agreement(received[n].size() == asked[n].size() / sizeof(int64_t) * bytes);
  std::vector<size_t> taken(received.size(), 0);
  Bytes values;
  values.reserve(numbers.size() * bytes);
  for (const int64_t number : numbers) {
    const uint32_t node = from.owner(number);
    append(values, received[node].data() + taken[node], bytes);
    taken[node] += bytes;
  }
  return values;
}

}  // namespace nagaya::xmp

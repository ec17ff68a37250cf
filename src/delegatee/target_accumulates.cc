// SPDX-License-Identifier: BSD-3-Clause
// Other nodes' accumulates and compare-and-swaps. They are carried out as they come, also when
// there is no room for the answer, so that those of one thread keep their order.
#include <algorithm>
#include <cerrno>

#include "delegatee/batch_strided.h"
#include "delegatee/target.h"
#include "reduction/reductions.h"

namespace nagaya::delegatee {

// `result`: gets the values from before, unless it is nullptr.
int Target::accumulate_into(const Header& request, Payload payload, std::byte* result) {
  const Memory to = regions_.find(request.task, request.region);
  if (to.error != 0) return to.error;
  const StridedList entries(payload, request.argument);
  if (!entries.lie_in(to.bytes)) return -EINVAL;
  runs_.clear();
  uint64_t bytes = 0;
  for (size_t n = 0; n < entries.count(); ++n) {
    const Strided entry = entries[n];
    runs_.push_back({to.base + entry.offset, entry.block_bytes, entry.count, entry.stride});
    bytes += entry.bytes();
  }
  const auto type = static_cast<nagaya_element_type>(request.type);
  return regions_.accumulate({type, static_cast<nagaya_reduction>(request.operation),
                              bytes / reduction::elements_of(type).extent, nullptr, runs_.data(),
                              entries.behind().data(), result});
}

int Target::accumulate(const Header& request, Payload payload, uint64_t&) {
  return accumulate_into(request, payload, nullptr);
}

bool Target::get_accumulate(Node node, const Header& request, Payload payload) {
  const uint64_t bytes = StridedList(payload, request.argument)
                             .bytes(outbox_.payload_max_bytes())
                             .value_or(UINT64_MAX);
  Answer done{request, -EMSGSIZE, 0};
  if (bytes <= outbox_.payload_max_bytes()) {
    // The gaps of pairs are sent, too: they hold nothing of an earlier answer.
    if (reduction::elements_of(static_cast<nagaya_element_type>(request.type)).copy != nullptr)
      std::fill_n(before_.begin(), bytes, std::byte{});
    done.status = accumulate_into(request, payload, before_.data());
  }
  if (done.status == 0) wake_later(request.task);
  return answer(node, done, Payload(before_).first(done.status == 0 ? bytes : 0));
}

bool Target::write_elements(Node node, Header& header, const Answer&, Payload kept) {
  header.bytes = static_cast<uint32_t>(kept.size());
  leave_open(header, kept.size());
  std::byte* const payload = outbox_.append(node, header);
  if (payload != nullptr) std::copy(kept.begin(), kept.end(), payload);
  return payload != nullptr;
}

int Target::compare_swap(const Header& request, Payload payload, uint64_t& before) {
  const Memory word = find(request, request.argument);
  if (word.error != 0) return word.error;
  Operands operands;
  std::memcpy(&operands, payload.data(), sizeof operands);
  return regions_.compare_swap(
      {word.base, request.argument, &operands.expected, &operands.operand, &before});
}

}  // namespace nagaya::delegatee

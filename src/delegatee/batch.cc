// SPDX-License-Identifier: BSD-3-Clause
#include "delegatee/batch.h"

#include <bit>

#include "delegatee/batch_strided.h"
#include "llcl/board/apply_atomic.h"
#include "reduction/reductions.h"

namespace nagaya::delegatee {
namespace {

struct Form {
  size_t payload_min_bytes;
  size_t payload_max_bytes;
  uint32_t argument_max;
  // Whether the payload may end with user data that no proof covers; payload_min_bytes and the
  // record's entries always stand before them.
  bool has_data = false;
};

constexpr uint32_t kEntriesMax = kPayloadMaxBytes / sizeof(Strided);

// Indexed by Kind.
constexpr Form kForms[kKinds] = {
    {0, kPayloadMaxBytes, 0, true},                               // kPut
    {0, 0, kPayloadMaxBytes},                                     // kGet
    {sizeof(Operands), sizeof(Operands), 0},                      // kAtomic
    {0, kPayloadMaxBytes, UINT32_MAX, true},                      // kMessage
    {0, 0, 0},                                                    // kCancel
    {0, 0, 0},                                                    // kRegion
    {0, 0, 0},                                                    // kEnded
    {0, 0, 0},                                                    // kProbe
    {0, 0, 0},                                                    // kAlive
    {0, kPayloadMaxBytes, UINT32_MAX, true},                      // kAnswer
    {sizeof(Counter), kPayloadMaxBytes, 0, true},                 // kPutNotify
    {0, kPayloadMaxBytes, kEntriesMax, true},                     // kPutPieces
    {0, kPayloadMaxBytes, kEntriesMax},                           // kGetPieces
    {0, 0, 0},                                                    // kUnused
    {0, kPayloadMaxBytes, kEntriesMax, true},                     // kAccumulate
    {0, kPayloadMaxBytes, kEntriesMax, true},                     // kGetAccumulate
    {sizeof(Operands), sizeof(Operands), 8},                      // kCompareSwap
    {sizeof(LentOperands), sizeof(LentOperands), kLentMaxBytes},  // kAccumulateLent
};

// Whether the proof covers every byte that says where data go.
bool leaves_only_data_open(const Header& header, const Form& form) {
  if (header.open_bytes == 0) return true;
  const uint64_t entries_bytes =
      has_entries(header.kind) ? uint64_t{header.argument} * sizeof(Strided) : 0;
  return form.has_data &&
         header.open_bytes + form.payload_min_bytes + entries_bytes <= header.bytes;
}

uint64_t extent_of(const Header& accumulate) {
  return reduction::elements_of(static_cast<nagaya_element_type>(accumulate.type)).extent;
}

bool is_well_formed(const Header& header) {
  if (static_cast<uint8_t>(header.kind) >= kKinds || header.zero != 0) return false;
  const Form& form = kForms[static_cast<uint8_t>(header.kind)];
  if (header.bytes < form.payload_min_bytes || header.bytes > form.payload_max_bytes) return false;
  if (header.argument > form.argument_max || !leaves_only_data_open(header, form)) return false;
  if (header.kind == Kind::kAnswer &&
      (static_cast<int32_t>(header.argument) > 0 || header.region > 1))
    return false;
  // A message has no empty part, unless it is empty itself: each record brings it on.
  if (header.kind == Kind::kMessage &&
      (header.offset > kMessageMaxBytes || (header.bytes == 0 && header.offset != 0)))
    return false;
  if (header.kind == Kind::kAtomic)
    return llcl::is_defined(static_cast<llcl::Atomic>(header.operation),
                            static_cast<llcl::Type>(header.type));
  if (is_accumulate(header.kind)) return reduction::is_defined(header.type, header.operation);
  if (header.kind == Kind::kAccumulateLent)
    return reduction::is_defined(header.type, header.operation) &&
           header.argument % extent_of(header) == 0;
  if (header.kind == Kind::kCompareSwap && !std::has_single_bit(header.argument)) return false;
  return header.operation == 0 && header.type == 0;
}

bool carries_blocks(const Header& header) {
  return header.kind == Kind::kPutPieces ||
         (is_accumulate(header.kind) && header.operation != NAGAYA_REDUCE_NO_OP);
}

// Checks the payload. `header` is well formed.
bool is_well_formed(const Header& header, std::span<const std::byte> payload) {
  if (header.kind == Kind::kPutNotify) {
    Counter counter;
    std::memcpy(&counter, payload.data(), sizeof counter);
    return counter.zero == 0;
  }
  if (!has_entries(header.kind)) return true;
  const StridedList entries(payload, header.argument);
  const auto bytes = entries.bytes(kPayloadMaxBytes);
  if (!bytes) return false;
  if (is_accumulate(header.kind) && !entries.have_whole(extent_of(header))) return false;
  const uint64_t blocks_bytes = carries_blocks(header) ? *bytes : 0;
  return payload.size() == entries.count() * sizeof(Strided) + blocks_bytes;
}

}  // namespace

std::optional<Batch> Batch::parse(std::span<const std::byte> message) {
  Prologue prologue;
  if (message.size() < sizeof prologue) return std::nullopt;
  std::memcpy(&prologue, message.data(), sizeof prologue);
  if (!is_plausible(prologue, message.size())) return std::nullopt;
  size_t at = sizeof prologue;
  for (unsigned n = 0; n < prologue.records; ++n) {
    Header header;
    if (message.size() - at < sizeof header) return std::nullopt;
    std::memcpy(&header, message.data() + at, sizeof header);
    if (!is_well_formed(header)) return std::nullopt;
    if (message.size() - at < record_bytes(header.bytes)) return std::nullopt;
    if (!is_well_formed(header, message.subspan(at + sizeof header, header.bytes)))
      return std::nullopt;
    at += record_bytes(header.bytes);
  }
  if (at != message.size()) return std::nullopt;
  return Batch(message);
}

}  // namespace nagaya::delegatee

// SPDX-License-Identifier: BSD-3-Clause
#include "delegatee/batch.h"

#include "delegatee/batch_strided.h"
#include "llcl/board/apply_atomic.h"

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
    {0, kPayloadMaxBytes, 0, true},                // kPut
    {0, 0, kPayloadMaxBytes},                      // kGet
    {sizeof(Operands), sizeof(Operands), 0},       // kAtomic
    {0, kPayloadMaxBytes, UINT32_MAX, true},       // kMessage
    {0, 0, 0},                                     // kCancel
    {0, 0, 0},                                     // kRegion
    {0, 0, 0},                                     // kEnded
    {0, 0, 0},                                     // kProbe
    {0, 0, 0},                                     // kAlive
    {0, kPayloadMaxBytes, UINT32_MAX, true},       // kAnswer
    {sizeof(Counter), kPayloadMaxBytes, 0, true},  // kPutNotify
    {0, kPayloadMaxBytes, kEntriesMax, true},      // kPutPieces
    {0, kPayloadMaxBytes, kEntriesMax},            // kGetPieces
    {0, 0, 0},                                     // kUnused
};

// Whether the proof covers every byte that says where data go.
bool leaves_only_data_open(const Header& header, const Form& form) {
  if (header.open_bytes == 0) return true;
  const uint64_t entries_bytes =
      has_entries(header.kind) ? uint64_t{header.argument} * sizeof(Strided) : 0;
  return form.has_data &&
         header.open_bytes + form.payload_min_bytes + entries_bytes <= header.bytes;
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
    return llcl::is_defined(static_cast<llcl::Atomic>(header.atomic),
                            static_cast<llcl::Type>(header.type));
  return header.atomic == 0 && header.type == 0;
}

bool is_well_formed(Kind kind, uint32_t entries, std::span<const std::byte> payload) {
  if (kind == Kind::kPutNotify) {
    Counter counter;
    std::memcpy(&counter, payload.data(), sizeof counter);
    return counter.zero == 0;
  }
  if (!has_entries(kind)) return true;
  const auto bytes = StridedList(payload, entries).bytes(kPayloadMaxBytes);
  const uint64_t carried_bytes = kind == Kind::kPutPieces && bytes ? *bytes : 0;
  return bytes && payload.size() == entries * sizeof(Strided) + carried_bytes;
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
    if (!is_well_formed(header.kind, header.argument,
                        message.subspan(at + sizeof header, header.bytes)))
      return std::nullopt;
    at += record_bytes(header.bytes);
  }
  if (at != message.size()) return std::nullopt;
  return Batch(message);
}

}  // namespace nagaya::delegatee

// SPDX-License-Identifier: BSD-3-Clause
// raw_batch.h - batches made by hand, right and wrong.
#pragma once

#include <string>
#include <vector>

#include "delegatee/batch.h"
#include "delegatee/batch_strided.h"
#include "delegatee/proof.h"

namespace nagaya::delegatee {

// Node 1's, the first to node 0, as long as nothing else is said; without a proof.
struct RawBatch {
  Prologue prologue{kBatchMagic, kBatchVersion, 0, sizeof(Prologue), 1, 0, 0};
  std::string records;

  RawBatch& add(const Header& header, const std::string& payload = {}) {
    std::string record(record_bytes(payload.size()), '\0');
    std::memcpy(record.data(), &header, sizeof header);
    std::memcpy(record.data() + sizeof header, payload.data(), payload.size());
    records += record;
    ++prologue.records;
    prologue.bytes += static_cast<uint32_t>(record.size());
    return *this;
  }
  std::string bytes() const {
    return std::string(reinterpret_cast<const char*>(&prologue), sizeof prologue) + records;
  }
};

inline Header header_of(Kind kind, uint32_t bytes = 0, uint32_t argument = 0) {
  Header header{};
  header.kind = kind;
  header.bytes = bytes;
  header.argument = argument;
  return header;
}

// Whether it can have a proof.
inline bool can_be_signed(const std::string& batch) {
  Prologue prologue;
  if (batch.size() < sizeof prologue) return false;
  std::memcpy(&prologue, batch.data(), sizeof prologue);
  return is_plausible(prologue, batch.size());
}

inline std::string signed_by(const Proofs& proofs, std::string batch) {
  proofs.sign(0, std::as_writable_bytes(std::span(batch.data(), batch.size())));
  return batch;
}

template <class Plain>
std::string plain_bytes(const Plain& plain) {
  return std::string(reinterpret_cast<const char*>(&plain), sizeof plain);
}

// An accumulate of int64_t elements in region 1 of task 0; `bytes`: of the payload.
inline Header accumulate_header(Kind kind, nagaya_reduction operation, uint32_t bytes,
                                uint32_t entries = 1) {
  Header header = header_of(kind, bytes, entries);
  header.operation = static_cast<uint8_t>(operation);
  header.type = NAGAYA_ELEMENT_INT64;
  header.region = 1;
  return header;
}

// A put of 8 bytes into region 1 of task 0.
inline Header put_header() {
  Header header = header_of(Kind::kPut, 8);
  header.region = 1;
  return header;
}

struct NamedBatch {
  std::string name;
  std::string bytes;
};

inline std::vector<NamedBatch> malformed_accumulates() {
  std::vector<NamedBatch> all;
  const auto wrong = [&](const std::string& name, const Header& header,
                         const std::string& payload) {
    all.push_back({name, RawBatch().add(header, payload).bytes()});
  };
  const std::string entry = plain_bytes(Strided{0, 8, 1, 0}), value = "12345678";
  for (const Kind kind : {Kind::kAccumulate, Kind::kGetAccumulate}) {
    const std::string prefix = kind == Kind::kAccumulate ? "accumulate-" : "get-accumulate-";
    const auto wrong_sum = [&](const char* name, auto damage) {
      Header sum = accumulate_header(kind, NAGAYA_REDUCE_SUM, 32);
      damage(sum);
      wrong(prefix + name, sum, entry + value);
    };
    wrong_sum("of-no-operation", [](Header& sum) { sum.operation = NAGAYA_REDUCE_NO_OP + 1; });
    wrong_sum("of-no-type", [](Header& sum) { sum.type = NAGAYA_ELEMENT_DOUBLE_DOUBLE + 1; });
    wrong_sum("undefined", [](Header& sum) { sum.operation = NAGAYA_REDUCE_MAXLOC; });
    wrong_sum("with-unused-operands", [](Header& sum) { sum.operation = NAGAYA_REDUCE_NO_OP; });
    wrong_sum("of-half-elements", [](Header& sum) { sum.type = NAGAYA_ELEMENT_DOUBLE_INT; });
    wrong_sum("with-open-entry", [](Header& sum) { sum.open_bytes = 9; });
    wrong(prefix + "without-operands", accumulate_header(kind, NAGAYA_REDUCE_SUM, 24), entry);
    wrong(prefix + "of-split-elements", accumulate_header(kind, NAGAYA_REDUCE_SUM, 24 + 24),
          plain_bytes(Strided{0, 12, 2, 12}) + value + value + value);
  }
  const std::string lent = plain_bytes(LentOperands{{0, 64, 1}, 0});
  const auto wrong_loan = [&](const char* name, auto damage) {
    Header loan =
        accumulate_header(Kind::kAccumulateLent, NAGAYA_REDUCE_SUM, sizeof(LentOperands), 8);
    damage(loan);
    wrong(std::string("accumulate-lent-") + name, loan, lent.substr(0, loan.bytes));
  };
  wrong_loan("undefined", [](Header& loan) { loan.operation = NAGAYA_REDUCE_MAXLOC; });
  wrong_loan("of-half-elements", [](Header& loan) { loan.argument = 12; });
  wrong_loan("of-too-much", [](Header& loan) { loan.argument = kLentMaxBytes + 8; });
  wrong_loan("without-place", [](Header& loan) { loan.bytes = 24; });
  wrong_loan("with-open-place", [](Header& loan) { loan.open_bytes = 8; });
  for (const uint32_t bytes : {0u, 3u, 16u})
    wrong("compare-swap-of-" + std::to_string(bytes), header_of(Kind::kCompareSwap, 16, bytes),
          value + value);
  Header open = header_of(Kind::kCompareSwap, 16, 8);
  open.open_bytes = 1;
  wrong("compare-swap-with-open-operands", open, value + value);
  return all;
}

// Everything that parse() must refuse.
inline std::vector<NamedBatch> malformed_batches() {
  std::vector<NamedBatch> all = malformed_accumulates();
  const auto add = [&](const char* name, const RawBatch& batch) {
    all.push_back({name, batch.bytes()});
  };
  const std::string whole = RawBatch().add(put_header(), "12345678").bytes();
  all.push_back({"empty", ""});
  all.push_back({"cut-prologue", whole.substr(0, 31)});
  all.push_back({"cut-record", whole.substr(0, whole.size() - 1)});
  all.push_back({"longer", whole + "x"});
  all.push_back({"foreign", "GET / HTTP/1.1\r\n\r\n"});
  const auto damaged = [&](const char* name, auto damage) {
    RawBatch batch = RawBatch().add(put_header(), "12345678");
    damage(batch);
    add(name, batch);
  };
  damaged("magic", [](RawBatch& b) { ++b.prologue.magic; });
  damaged("version", [](RawBatch& b) { ++b.prologue.version; });
  damaged("too-many-records", [](RawBatch& b) { ++b.prologue.records; });
  damaged("too-few-records", [](RawBatch& b) { --b.prologue.records; });
  damaged("records-without-end", [](RawBatch& b) { b.prologue.records = 65535; });
  damaged("too-long", [](RawBatch& b) { ++b.prologue.bytes; });
  const auto wrong = [&](const char* name, Header header, const std::string& payload = {}) {
    add(name, RawBatch().add(header, payload));
  };
  wrong("unknown-kind", header_of(static_cast<Kind>(kKinds)));
  wrong("payload-beyond-the-end", header_of(Kind::kPut, 8));
  wrong("payload-without-end", header_of(Kind::kPut, UINT32_MAX));
  wrong("get-with-payload", header_of(Kind::kGet, 8), "12345678");
  wrong("get-of-too-much", header_of(Kind::kGet, 0, kPayloadMaxBytes + 1));
  wrong("put-with-argument", header_of(Kind::kPut, 8, 1), "12345678");
  wrong("atomic-without-operands", header_of(Kind::kAtomic, 8), "12345678");
  wrong("answer-above-zero", header_of(Kind::kAnswer, 0, 1));
  Header header = header_of(Kind::kAtomic, 16);
  header.operation = 8;
  wrong("undefined-atomic", header, std::string(16, 'x'));
  header.operation = 3;
  header.type = 4;
  wrong("and-of-floats", header, std::string(16, 'x'));
  header = put_header();
  header.type = 1;
  wrong("put-with-type", header, "12345678");
  header = put_header();
  header.zero = 1;
  wrong("reserved-in-record", header, "12345678");
  const auto open = [&](const char* name, Header header, size_t bytes, const std::string& payload) {
    header.open_bytes = static_cast<uint16_t>(bytes);
    wrong(name, header, payload);
  };
  open("more-open-than-there-is", put_header(), 9, "12345678");
  open("open-operands", header_of(Kind::kAtomic, 16), 1, std::string(16, 'x'));
  open("open-counter", header_of(Kind::kPutNotify, 24), 9, std::string(24, '\0'));
  open("open-entry", header_of(Kind::kPutPieces, 32, 1), 9,
       plain_bytes(Strided{0, 8, 1, 0}) + "12345678");
  open("open-entries-of-a-get", header_of(Kind::kGetPieces, 24, 1), 1,
       plain_bytes(Strided{0, 8, 1, 0}));
  open("open-probe", header_of(Kind::kProbe), 1, {});
  wrong("notify-without-counter", header_of(Kind::kPutNotify, 8), "12345678");
  wrong("reserved-in-counter", header_of(Kind::kPutNotify, 16), plain_bytes(Counter{0, 1, 1}));
  const std::string entry = plain_bytes(Strided{0, 8, 1, 0});
  wrong("more-entries-than-bytes", header_of(Kind::kGetPieces, 24, 2), entry);
  wrong("fewer-entries-than-bytes", header_of(Kind::kGetPieces, 48, 1), entry + entry);
  wrong("entries-without-end", header_of(Kind::kPutPieces, 24, UINT32_MAX), entry);
  wrong("fewer-blocks-than-entries", header_of(Kind::kPutPieces, 31, 1), entry + "1234567");
  wrong("more-blocks-than-entries", header_of(Kind::kPutPieces, 33, 1), entry + "123456789");
  Header message = header_of(Kind::kMessage);
  message.offset = 100;
  wrong("empty-part-of-a-message", message);
  message = header_of(Kind::kMessage, 8);
  message.offset = kMessageMaxBytes + 1;
  wrong("message-of-too-much", message, "12345678");
  wrong("unused-with-payload", header_of(Kind::kUnused, 8), "12345678");
  wrong("empty-entry", header_of(Kind::kGetPieces, 24, 1), plain_bytes(Strided{0, 0, 8, 0}));
  wrong("entry-of-too-much", header_of(Kind::kGetPieces, 24, 1),
        plain_bytes(Strided{0, UINT32_MAX, UINT32_MAX, 0}));
  wrong("entries-of-too-much", header_of(Kind::kGetPieces, 48, 2),
        entry + plain_bytes(Strided{0, 1, kPayloadMaxBytes - 7, 1}));
  return all;
}

// Entries and counters, inside of the region of 64 bytes and not.
inline RawBatch scattered_batch() {
  RawBatch batch;
  for (const Strided& entry :
       {Strided{56, 8, 8, -8}, Strided{0, 4, 8, 8}, Strided{8, 8, 8, 8}, Strided{56, 8, 9, -8},
        Strided{UINT64_MAX, 8, 2, 1}, Strided{0, 1, 3, INT64_MIN}}) {
    Header put =
        header_of(Kind::kPutPieces, static_cast<uint32_t>(sizeof entry + entry.bytes()), 1);
    Header get = header_of(Kind::kGetPieces, sizeof entry, 1);
    put.region = get.region = 1;
    batch.add(put, plain_bytes(entry) + std::string(entry.bytes(), 'x'))
        .add(get, plain_bytes(entry));
  }
  for (const uint64_t offset : {0, 56, 57, 64}) {
    Header notify = header_of(Kind::kPutNotify, 24);
    notify.region = 1;
    batch.add(notify, plain_bytes(Counter{offset, 1, 0}) + "12345678");
  }
  return batch;
}

// Sums and words, inside of the region of 64 bytes and not. The elements of the region: the first
// one becomes larger by 5, the others remain.
inline RawBatch accumulating_batch() {
  RawBatch batch;
  const std::string two = plain_bytes(uint64_t{2}), zero = plain_bytes(uint64_t{0});
  const auto add = [&](nagaya_reduction operation, const Strided& entry,
                       const std::string& values) {
    for (const Kind kind : {Kind::kAccumulate, Kind::kGetAccumulate})
      batch.add(
          accumulate_header(kind, operation, static_cast<uint32_t>(sizeof entry + values.size())),
          plain_bytes(entry) + values);
  };
  add(NAGAYA_REDUCE_SUM, {0, 8, 1, 0}, two);
  add(NAGAYA_REDUCE_SUM, {56, 8, 3, -8}, zero + zero + zero);
  add(NAGAYA_REDUCE_NO_OP, {0, 16, 4, 16}, "");
  for (const Strided& outside :
       {Strided{57, 8, 1, 0}, Strided{8, 8, 3, -8}, Strided{UINT64_MAX, 8, 1, 0}})
    add(NAGAYA_REDUCE_SUM, outside, std::string(outside.bytes(), 'x'));
  for (const uint64_t offset : {57, 64}) {
    Header swap = header_of(Kind::kCompareSwap, sizeof(Operands), 8);
    swap.region = 1;
    swap.offset = offset;
    batch.add(swap, plain_bytes(Operands{1, 2}));
  }
  Header add_one = accumulate_header(Kind::kGetAccumulate, NAGAYA_REDUCE_SUM, 24 + 8);
  batch.add(add_one, plain_bytes(Strided{0, 8, 1, 0}) + plain_bytes(uint64_t{1}));
  return batch;
}

// Batches that parse() accepts; the last one is nonsense for all that.
inline std::vector<NamedBatch> sound_batches() {
  Header long_put = header_of(Kind::kPut, 1000), blocks = header_of(Kind::kPutPieces, 1024, 1);
  leave_open(long_put, 1000);
  leave_open(blocks, 1000);
  Header message = header_of(Kind::kMessage, 2000);  // a layout of many runs
  message.offset = 2000;
  const std::string blocks_entry = plain_bytes(Strided{0, 1000, 1, 0});
  Header get = header_of(Kind::kGet, 0, 64), atomic = header_of(Kind::kAtomic, 16);
  Header part = header_of(Kind::kMessage, 8), full = part;
  get.region = atomic.region = 1;
  part.offset = full.offset = 16;
  full.task = 1;
  RawBatch all;
  all.add(put_header(), "12345678").add(get).add(atomic, std::string(16, 'x'));
  all.add(part, "12345678").add(header_of(Kind::kCancel));
  all.add(part, "12345678").add(part, "12345678");
  all.add(header_of(Kind::kRegion)).add(header_of(Kind::kEnded)).add(header_of(Kind::kProbe));
  // The loopback network does not know the first operands, and the second ones lie nowhere.
  Header loan =
      accumulate_header(Kind::kAccumulateLent, NAGAYA_REDUCE_SUM, sizeof(LentOperands), 8);
  RawBatch lent;
  lent.add(loan, plain_bytes(LentOperands{{0, 64, 1}, 0}));
  lent.add(loan, plain_bytes(LentOperands{{0, 64, 1}, 60}));
  loan.offset = 60;
  lent.add(loan, plain_bytes(LentOperands{{0, 64, 1}, 0}));
  return {{"sound", all.bytes()},
          {"lent", lent.bytes()},
          {"open-data", RawBatch()
                            .add(long_put, std::string(1000, 'x'))
                            .add(blocks, blocks_entry + std::string(1000, 'y'))
                            .bytes()},
          {"long-control", RawBatch().add(message, std::string(2000, 'x')).bytes()},
          {"scattered", scattered_batch().bytes()},
          {"accumulating", accumulating_batch().bytes()},
          {"full-mailbox", RawBatch().add(full, "12345678").add(full, "12345678").bytes()},
          {"unasked-answer", RawBatch().add(header_of(Kind::kAnswer)).bytes()}};
}

}  // namespace nagaya::delegatee

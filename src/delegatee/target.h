// SPDX-License-Identifier: BSD-3-Clause
// target.h - the half of a delegatee that serves other nodes: carries out their requests on the
// memory of its node's tasks, and answers.
//
//   record ──serve──► done at once ──────────────────► answer in the outbox
//                     │        no room in the outbox ─► due, in order ──advance──┘
//                     ├─ message, mailbox full ───────► waiting, in order ──advance─► due
//                     └─ accumulate, operands lent ───► ordered ──read, then carried out─► due
//
// A node's credit (its unanswered requests) bounds the records that are kept here for it.
// Messages of one node are delivered in the order in which they came, and its accumulates and
// compare-and-swaps are carried out in theirs; all other requests pass those that wait.
#pragma once

#include <compare>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "delegatee/batch.h"
#include "delegatee/fifo.h"
#include "delegatee/node.h"
#include "delegatee/operand_reads.h"
#include "delegatee/outbox.h"

namespace nagaya::delegatee {

class Target {
 public:
  using Payload = std::span<const std::byte>;

  Target(fabric::Fabric& fabric, Outbox& outbox, Regions& regions, Delivery& delivery,
         size_t nodes);

  // Carries out a request of the node. False: the node has broken the protocol, for instance by
  // more requests than its credit allows.
  bool serve(Node node, const Header& header, Payload payload);
  // Wakes the tasks whose memory the requests served since the last call have changed, retries work
  // that had to wait, drops registrations of ended regions. Returns true if anything moved.
  bool advance();
  // Whether advance() will wake a task.
  bool is_to_wake() const { return to_wake_.has_value(); }
  // Handles the event of a read of operands.
  void read_operands(const fabric::Event& event) { reads_.ended(event); }
  // Whether something waits for which nobody rings: a message for room in a mailbox, a read for
  // room in the fabric.
  bool has_waiting() const;
  // The nodes for which something is kept here, and whether this node reads operands of one of
  // them, which may not answer any more.
  const std::vector<Node>& busy() const { return busy_; }
  bool reads_of(Node node) const { return origins_[node].reading != 0; }
  // The node has failed: throws away its requests.
  void forget(Node node);

 private:
  using Haste = Outbox::Haste;
  struct Answer {
    Header request;
    int status;
    uint64_t before;           // kAtomic, kCompareSwap: the word's old value
    bool has_backlog = false;  // kMessage: the receiving task has one
  };
  // The functions that serve requests of one kind. Batch::parse has checked their form.
  struct Service {
    // Carries out the request and answers. nullptr: `store` does the work, then `write` answers.
    bool (Target::*serve)(Node node, const Header& request, Payload payload);
    // Stores into the task's memory; returns the status. nullptr: the request
    // stores nothing, and `write` reads that memory.
    int (Target::*store)(const Header& request, Payload payload, uint64_t& before);
    // Writes the answer; `kept`: Due::kept. False: no room in the outbox.
    bool (Target::*write)(Node node, Header& header, const Answer& answer, Payload kept);
    // Haste of an answer that reports neither an error nor a backlog.
    Haste haste = Haste::kNow;
  };
  // An answer that waits for room in the outbox.
  struct Due {
    Answer answer;
    std::vector<std::byte> kept;  // kGetPieces: the entries; kGetAccumulate: the elements before
  };
  // A message, or the cancel of one, that waits for room in a mailbox, or behind one that does.
  struct Waiting {
    Header request;
    uint64_t offset;  // in its message
    std::vector<std::byte> payload;
  };
  // A record that keeps its order: one whose operands are to be read, or one behind it.
  struct Ordered {
    Header request;
    std::vector<std::byte> payload;
    uint32_t read = OperandReads::kNone;  // of kAccumulateLent, once it has begun
  };
  struct OriginNode {
    // True if the node's credit allows one more record to be kept here, with `bytes` of payload.
    bool has_room(size_t bytes) const {
      return waiting.size() + due.size() - notices + ordered.size() < kCreditMaxCommands &&
             kept_bytes + bytes <= kCreditMaxBytes;
    }

    Fifo<Due> due;
    size_t notices = 0;  // answers in `due` of kind kEnded, which nobody has asked for
    Fifo<Waiting> waiting;
    Fifo<Ordered> ordered;
    size_t begun = 0;           // the first records of `ordered`, whose reads have begun
    uint32_t reading = 0;       // reads of operands that were started and not released
    size_t kept_bytes = 0;      // of `due`, `waiting` and `ordered`
    bool has_begun = false;     // a message has begun, of which parts are still missing
    Header message{};           // of that message: the header of its latest part
    uint64_t message_come = 0;  // bytes of that message that have arrived
    bool is_busy = false;       // in busy_
  };
  struct RegionName {
    uint32_t task, region;

    auto operator<=>(const RegionName&) const = default;
  };
  struct Registration {
    Memory memory;
    fabric::Region region;
    std::vector<Node> known_to;
  };

  void wake_later(uint32_t task);
  void wake();
  Memory find(const Header& request, size_t bytes);
  int put(const Header& request, Payload payload, uint64_t& before);
  int put_notify(const Header& request, Payload payload, uint64_t& before);
  int put_pieces(const Header& request, Payload payload, uint64_t& before);
  int apply_atomic(const Header& request, Payload payload, uint64_t& before);
  int accumulate_into(const Header& request, Payload payload, std::byte* result);
  int accumulate(const Header& request, Payload payload, uint64_t& before);
  int compare_swap(const Header& request, Payload payload, uint64_t& before);
  bool carry_out(Node node, const Header& request, Payload payload);
  bool keep_in_order(Node node, const Header& request, Payload payload);
  bool advance_ordered(Node node);
  void begin_reads(Node node);
  void accumulate_lent(Node node, const Ordered& record);
  bool get_accumulate(Node node, const Header& request, Payload payload);
  bool continues(OriginNode& origin, const Header& part, uint64_t& offset);
  Delivered deliver(Node node, const Header& request, uint64_t offset, Payload payload);
  static Answer receipt(const Header& request, Delivered delivered);
  bool serve_message(Node node, const Header& request, Payload payload);
  bool serve_cancel(Node node, const Header& request, Payload payload);
  bool serve_probe(Node node, const Header& request, Payload payload);
  bool end_unused(Node node, const Header& notice, Payload payload);
  bool refuse(Node node, const Header& header, Payload payload);
  bool answer(Node node, const Answer& answer, Payload kept = {});
  static Haste haste_of(const Answer& answer);
  bool write(Node node, const Answer& answer, Payload kept);
  bool write_status(Node node, Header& header, const Answer& answer, Payload kept);
  bool write_word(Node node, Header& header, const Answer& answer, Payload kept);
  bool write_data(Node node, Header& header, const Answer& answer, Payload kept);
  bool write_blocks(Node node, Header& header, const Answer& answer, Payload kept);
  bool write_elements(Node node, Header& header, const Answer& answer, Payload kept);
  bool write_region(Node node, Header& header, const Answer& answer, Payload kept);
  bool write_alive(Node node, Header& header, const Answer& answer, Payload kept);
  bool write_notice(Node node, Header& header, const Answer& answer, Payload kept);
  int register_region(Node node, const Header& request, fabric::Region& region);
  void deregister_and_tell_users(const RegionName& name, const Registration& registration);
  bool remove_user(Registration& registration, Node node);
  bool drop_ended_regions();  // whether there were any
  bool advance(Node node);
  void make_busy(Node node);

  static const Service kServices[kKinds];
  static const Service& service_of(const Header& record) {
    return kServices[static_cast<uint8_t>(record.kind)];
  }

  fabric::Fabric& fabric_;
  Outbox& outbox_;
  Regions& regions_;
  Delivery& delivery_;
  OperandReads reads_;
  std::vector<OriginNode> origins_;
  bool has_late_ = false;   // accepted messages wait for room in a mailbox
  std::vector<Node> busy_;  // nodes with an answer that is due or a message that waits
  std::map<RegionName, Registration> registrations_;
  uint64_t endings_seen_;
  std::vector<nagaya_runs> runs_;  // of an accumulate; a member so that its memory is reused
  std::vector<std::byte> before_;  // the values from before; a member likewise
  // A task to wake, once for many requests in a row: each wake-up costs a fence.
  std::optional<uint32_t> to_wake_;
};

}  // namespace nagaya::delegatee

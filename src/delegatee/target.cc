// SPDX-License-Identifier: BSD-3-Clause
#include "delegatee/target.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <new>
#include <utility>

#include "base/error.h"
#include "delegatee/batch_strided.h"
#include "llcl/board/apply_atomic.h"
#include "llcl/board/message.h"
#include "llcl/board/port_cell.h"

namespace nagaya::delegatee {
namespace {

constexpr uint32_t kReceiptMaxBytes = 4096;  // longest message whose receipt may be patient

// Whether it is an atomic that only asks for the word. `request`: its form was checked.
bool is_load(const Header& request, std::span<const std::byte> payload) {
  if (request.kind != Kind::kAtomic) return false;
  Operands operands;
  std::memcpy(&operands, payload.data(), sizeof operands);
  return static_cast<llcl::Atomic>(request.operation) == llcl::Atomic::kAdd &&
         operands.operand == 0;
}

}  // namespace

Target::Target(fabric::Fabric& fabric, Outbox& outbox, Regions& regions, Delivery& delivery,
               size_t nodes)
    : fabric_(fabric),
      outbox_(outbox),
      regions_(regions),
      delivery_(delivery),
      reads_(fabric),
      origins_(nodes),
      endings_seen_(regions.endings()),
      before_(kPayloadMaxBytes) {
  runs_.reserve(kPayloadMaxBytes / sizeof(Strided));
}

// Indexed by Kind.
const Target::Service Target::kServices[kKinds] = {
    {nullptr, &Target::put, &Target::write_status},                             // kPut
    {nullptr, nullptr, &Target::write_data},                                    // kGet
    {nullptr, &Target::apply_atomic, &Target::write_word},                      // kAtomic
    {&Target::serve_message, nullptr, &Target::write_status, Haste::kPatient},  // kMessage
    {&Target::serve_cancel, nullptr, nullptr},                                  // kCancel
    {nullptr, nullptr, &Target::write_region},                                  // kRegion
    {&Target::refuse, nullptr, &Target::write_notice},                          // kEnded
    {&Target::serve_probe, nullptr, &Target::write_alive},                      // kProbe
    {&Target::refuse, nullptr, nullptr},                                        // kAlive
    {&Target::refuse, nullptr, nullptr},                                        // kAnswer
    {nullptr, &Target::put_notify, &Target::write_status, Haste::kNextRound},   // kPutNotify
    {nullptr, &Target::put_pieces, &Target::write_status},                      // kPutPieces
    {nullptr, nullptr, &Target::write_blocks},                                  // kGetPieces
    {&Target::end_unused, nullptr, nullptr},                                    // kUnused
    {nullptr, &Target::accumulate, &Target::write_status},                      // kAccumulate
    {&Target::get_accumulate, nullptr, &Target::write_elements},                // kGetAccumulate
    {nullptr, &Target::compare_swap, &Target::write_word},                      // kCompareSwap
    {&Target::keep_in_order, nullptr, &Target::write_status},                   // kAccumulateLent
};

bool Target::serve(Node node, const Header& header, Payload payload) {
  const bool waits = keeps_order(header.kind) && !origins_[node].ordered.empty();
  return waits ? keep_in_order(node, header, payload) : carry_out(node, header, payload);
}

bool Target::carry_out(Node node, const Header& header, Payload payload) {
  const Service& service = service_of(header);
  if (service.serve != nullptr) return (this->*service.serve)(node, header, payload);
  Answer done{header, 0, 0};
  if (service.store == nullptr) return answer(node, done, payload);
  done.status = (this->*service.store)(header, payload, done.before);
  if (done.status == 0 && !is_load(header, payload)) wake_later(header.task);
  return answer(node, done);
}

// Refuses records of kinds that Delegatee::serve handles itself or passes to the requester.
bool Target::refuse(Node, const Header&, Payload) {
  return false;
}

// If the outbox has no room, batches are in flight to the node: they, too, show that this one
// lives.
bool Target::serve_probe(Node node, const Header& request, Payload) {
  write(node, {request, 0, 0}, {});
  return true;
}

void Target::wake_later(uint32_t task) {
  if (to_wake_ && *to_wake_ != task) wake();
  to_wake_ = task;
}

void Target::wake() {
  if (to_wake_) delivery_.wake(*std::exchange(to_wake_, std::nullopt));
}

Memory Target::find(const Header& request, size_t bytes) {
  Memory memory = regions_.find(request.task, request.region);
  if (memory.error != 0) return memory;
  if (request.offset > memory.bytes || bytes > memory.bytes - request.offset)
    return {-EINVAL, nullptr, 0};
  return {0, memory.base + request.offset, bytes};
}

int Target::put(const Header& request, Payload payload, uint64_t&) {
  const Memory to = find(request, payload.size());
  if (to.error == 0 && !payload.empty()) std::memcpy(to.base, payload.data(), payload.size());
  return to.error;
}

// Writes nothing unless it can write the data and add to the counter.
int Target::put_notify(const Header& request, Payload payload, uint64_t& before) {
  Counter counter;
  std::memcpy(&counter, payload.data(), sizeof counter);
  payload = payload.subspan(sizeof counter);
  Header of_counter = request;
  of_counter.region = counter.region;
  of_counter.offset = counter.offset;
  const Memory word = find(of_counter, sizeof(uint64_t));
  if (word.error != 0) return word.error;
  if (reinterpret_cast<uintptr_t>(word.base) % sizeof(uint64_t) != 0) return -EINVAL;
  const int error = put(request, payload, before);
  if (error != 0) return error;
  // Release: the data before the count; pairs with the acquire in nagaya_llcl_wait_counter.
  std::atomic_ref(*reinterpret_cast<uint64_t*>(word.base)).fetch_add(1, std::memory_order_release);
  return 0;
}

int Target::put_pieces(const Header& request, Payload payload, uint64_t&) {
  const Memory to = regions_.find(request.task, request.region);
  if (to.error != 0) return to.error;
  const StridedList entries(payload, request.argument);
  if (!entries.lie_in(to.bytes)) return -EINVAL;
  const std::byte* packed = entries.behind().data();
  for (size_t n = 0; n < entries.count(); ++n)
    packed = scatter_blocks(packed, to.base + entries[n].offset, entries[n], entries[n].stride);
  return 0;
}

int Target::apply_atomic(const Header& request, Payload payload, uint64_t& before) {
  const auto type = static_cast<llcl::Type>(request.type);
  const Memory word = find(request, llcl::size_of(type));
  if (word.error != 0) return word.error;
  if (reinterpret_cast<uintptr_t>(word.base) % llcl::size_of(type) != 0) return -EINVAL;
  Operands operands;
  std::memcpy(&operands, payload.data(), sizeof operands);
  before = llcl::apply_atomic(word.base, static_cast<llcl::Atomic>(request.operation), type,
                              operands.operand, operands.expected);
  return 0;
}

// ---- messages ----------------------------------------------------------------------------------

// True if the part begins a message, or is the next part of the unfinished one. Sets `offset` to
// its place in the message [bytes].
bool Target::continues(OriginNode& origin, const Header& part, uint64_t& offset) {
  const Header& whole = origin.has_begun ? origin.message : part;
  const bool is_same = part.task == whole.task && part.region == whole.region &&
                       part.argument == whole.argument && part.offset == whole.offset;
  offset = origin.has_begun ? origin.message_come : 0;
  if (!is_same || part.bytes > part.offset - offset) return false;
  origin.message = part;
  origin.message_come = offset + part.bytes;
  origin.has_begun = origin.message_come != part.offset;
  return true;
}

Delivered Target::deliver(Node node, const Header& request, uint64_t offset, Payload payload) {
  return delivery_.deliver(
      {request.task, request.region, node, request.argument, request.offset, offset, payload});
}

Target::Answer Target::receipt(const Header& request, Delivered delivered) {
  const int error = delivered == Delivered::kRefused   ? -ESRCH
                    : delivered == Delivered::kUnheard ? -ENOENT
                                                       : 0;
  return {request, error, 0, delivered == Delivered::kBacklogged};
}

bool Target::serve_message(Node node, const Header& request, Payload payload) {
  OriginNode& origin = origins_[node];
  uint64_t offset;
  if (!continues(origin, request, offset)) return false;
  if (origin.waiting.empty()) {
    const Delivered delivered = deliver(node, request, offset, payload);
    if (delivered != Delivered::kFull) return answer(node, receipt(request, delivered));
  }
  if (!origin.has_room(payload.size())) return false;
  origin.waiting.push({request, offset, {payload.begin(), payload.end()}});
  origin.kept_bytes += payload.size();
  make_busy(node);
  return true;
}

bool Target::serve_cancel(Node node, const Header& request, Payload) {
  OriginNode& origin = origins_[node];
  if (!std::exchange(origin.has_begun, false)) return false;
  if (origin.waiting.empty())
    delivery_.abandon(node);
  else
    origin.waiting.push({request, 0, {}});
  return true;
}

bool Target::has_waiting() const {
  return has_late_ || reads_.was_refused() ||
         std::any_of(busy_.begin(), busy_.end(),
                     [&](Node node) { return !origins_[node].waiting.empty(); });
}

// ---- answers -----------------------------------------------------------------------------------

bool Target::answer(Node node, const Answer& answer, Payload kept) {
  OriginNode& origin = origins_[node];
  if (origin.due.empty() && write(node, answer, kept)) return true;
  const bool is_asked = answer.request.kind != Kind::kEnded;  // a notice takes no credit
  if (is_asked && !origin.has_room(kept.size())) return false;
  origin.due.push({answer, {kept.begin(), kept.end()}});
  if (!is_asked) ++origin.notices;
  origin.kept_bytes += kept.size();
  make_busy(node);
  return true;
}

// A task that received a message may soon send one itself: then answer and message leave in one
// batch. The receipt of a small two-sided message is patient, for it only frees the sender's
// memory; a large message holds much of its sender's credit.
Outbox::Haste Target::haste_of(const Answer& answer) {
  if (answer.status != 0 || answer.has_backlog) return Haste::kNow;
  const Header& request = answer.request;
  const Haste haste = service_of(request).haste;
  const bool is_receipt =
      request.region >= llcl::kPortHandlers && request.bytes <= kReceiptMaxBytes;
  return haste == Haste::kPatient && !is_receipt ? Haste::kNextRound : haste;
}

// Writes an answer into the outbox. False: no room there.
bool Target::write(Node node, const Answer& answer, Payload kept) {
  Header header{};
  header.kind = Kind::kAnswer;
  header.tag = answer.request.tag;
  header.argument = static_cast<uint32_t>(answer.status);
  header.region = answer.has_backlog ? 1 : 0;
  return (this->*service_of(answer.request).write)(node, header, answer, kept);
}

bool Target::write_status(Node node, Header& header, const Answer& answer, Payload) {
  return outbox_.append(node, header, haste_of(answer)) != nullptr;
}

bool Target::write_alive(Node node, Header& header, const Answer&, Payload) {
  header.kind = Kind::kAlive;
  return outbox_.append(node, header) != nullptr;
}

bool Target::write_notice(Node node, Header&, const Answer& answer, Payload) {
  return outbox_.append(node, answer.request) != nullptr;
}

bool Target::write_word(Node node, Header& header, const Answer& answer, Payload) {
  header.bytes = answer.status == 0 ? sizeof answer.before : 0;
  std::byte* payload = outbox_.append(node, header);
  if (payload != nullptr && header.bytes != 0)
    std::memcpy(payload, &answer.before, sizeof answer.before);
  return payload != nullptr;
}

bool Target::write_data(Node node, Header& header, const Answer& answer, Payload) {
  const size_t bytes = answer.request.argument;
  Memory from = find(answer.request, bytes);
  if (bytes > outbox_.payload_max_bytes()) from.error = -EMSGSIZE;
  header.argument = static_cast<uint32_t>(from.error);
  header.bytes = from.error == 0 ? static_cast<uint32_t>(bytes) : 0;
  leave_open(header, header.bytes);
  std::byte* payload = outbox_.append(node, header);
  if (payload != nullptr && header.bytes != 0) std::memcpy(payload, from.base, bytes);
  return payload != nullptr;
}

bool Target::write_blocks(Node node, Header& header, const Answer& answer, Payload payload) {
  const StridedList entries(payload, answer.request.argument);
  const uint64_t bytes = entries.bytes(kPayloadMaxBytes).value_or(0);
  Memory from = regions_.find(answer.request.task, answer.request.region);
  if (from.error == 0 && !entries.lie_in(from.bytes)) from.error = -EINVAL;
  if (bytes > outbox_.payload_max_bytes()) from.error = -EMSGSIZE;
  header.argument = static_cast<uint32_t>(from.error);
  header.bytes = from.error == 0 ? static_cast<uint32_t>(bytes) : 0;
  leave_open(header, header.bytes);
  std::byte* packed = outbox_.append(node, header);
  if (packed == nullptr) return false;
  for (size_t n = 0; n < entries.count() && from.error == 0; ++n)
    packed = gather_blocks(packed, from.base + entries[n].offset, entries[n], entries[n].stride);
  return true;
}

bool Target::write_region(Node node, Header& header, const Answer& answer, Payload) {
  fabric::Region region{};
  const int error = register_region(node, answer.request, region);
  header.argument = static_cast<uint32_t>(error);
  header.bytes = error == 0 ? sizeof region : 0;
  std::byte* payload = outbox_.append(node, header);
  if (payload != nullptr && error == 0) std::memcpy(payload, &region, sizeof region);
  return payload != nullptr;
}

// ---- registration ------------------------------------------------------------------------------

int Target::register_region(Node node, const Header& request, fabric::Region& region) {
  const Memory memory = regions_.find(request.task, request.region);
  if (memory.error != 0) return memory.error;
  const RegionName name{request.task, request.region};
  try {
    auto found = registrations_.find(name);
    if (found == registrations_.end()) {
      std::map<RegionName, Registration> fresh;
      fresh.emplace(name, Registration{memory, {}, {node}});
      fresh.begin()->second.region = fabric_.register_memory(memory.base, memory.bytes);
      registrations_.merge(fresh);  // allocates nothing, so the table misses no registered region
      found = registrations_.find(name);
    }
    std::vector<Node>& known_to = found->second.known_to;
    if (std::find(known_to.begin(), known_to.end(), node) == known_to.end())
      known_to.push_back(node);
    region = found->second.region;
    return 0;
  } catch (const base::Error& error) {
    return error.code();
  } catch (const std::bad_alloc&) {
    return -ENOMEM;
  }
}

// The node no longer uses the registration. True if no other node does: then this deregisters the
// region, and the caller erases the registration.
bool Target::remove_user(Registration& registration, Node node) {
  std::erase(registration.known_to, node);
  if (!registration.known_to.empty()) return false;
  fabric_.deregister(registration.region);
  return true;
}

bool Target::end_unused(Node node, const Header& notice, Payload) {
  const auto found = registrations_.find({notice.task, notice.region});
  if (found != registrations_.end() && remove_user(found->second, node))
    registrations_.erase(found);
  return true;
}

bool Target::drop_ended_regions() {
  const uint64_t endings = regions_.endings();
  if (std::exchange(endings_seen_, endings) == endings) return false;
  return 0 != std::erase_if(registrations_, [&](const auto& entry) {
           const auto& [name, registration] = entry;
           const Memory now = regions_.find(name.task, name.region);
           const bool is_same = now.error == 0 && now.base == registration.memory.base &&
                                now.bytes == registration.memory.bytes;
           if (!is_same) deregister_and_tell_users(name, registration);
           return !is_same;
         });
}

// Deregisters a region, and tells all nodes that know it: a later request of theirs is then refused
// by this delegatee, and not by the fabric, which would end the link.
void Target::deregister_and_tell_users(const RegionName& name, const Registration& registration) {
  Answer notice{};
  notice.request.kind = Kind::kEnded;
  notice.request.task = static_cast<uint16_t>(name.task);
  notice.request.region = name.region;
  for (const Node node : registration.known_to) answer(node, notice);
  fabric_.deregister(registration.region);
}

// ---- work that had to wait ---------------------------------------------------------------------

void Target::make_busy(Node node) {
  if (!std::exchange(origins_[node].is_busy, true)) busy_.push_back(node);
}

bool Target::advance() {
  wake();
  bool moved = drop_ended_regions();
  has_late_ = delivery_.post_late();
  reads_.forget_refusals();
  std::erase_if(busy_, [&](Node node) {
    moved |= advance(node);
    OriginNode& origin = origins_[node];
    origin.is_busy = !origin.due.empty() || !origin.waiting.empty() || !origin.ordered.empty();
    return !origin.is_busy;
  });
  return moved;
}

bool Target::advance(Node node) {
  OriginNode& origin = origins_[node];
  bool moved = false;
  for (; !origin.due.empty(); moved = true) {
    const Due& first = origin.due.front();
    if (!write(node, first.answer, first.kept)) break;
    if (first.answer.request.kind == Kind::kEnded) --origin.notices;
    origin.kept_bytes -= first.kept.size();
    origin.due.pop();
  }
  while (!origin.waiting.empty()) {
    const Waiting& first = origin.waiting.front();
    if (first.request.kind == Kind::kCancel) {
      delivery_.abandon(node);
      origin.waiting.pop();
      continue;
    }
    const Delivered delivered = deliver(node, first.request, first.offset, first.payload);
    if (delivered == Delivered::kFull) break;
    const Answer done = receipt(first.request, delivered);
    origin.kept_bytes -= first.payload.size();
    origin.waiting.pop();
    answer(node, done);  // takes the room of the message that was popped
    moved = true;
  }
  return advance_ordered(node) || moved;
}

void Target::forget(Node node) {
  origins_[node].due.clear();
  origins_[node].waiting.clear();
  Fifo<Ordered>& ordered = origins_[node].ordered;
  for (size_t n = 0; n < origins_[node].begun; ++n)
    if (ordered[n].read != OperandReads::kNone) reads_.release(ordered[n].read);
  ordered.clear();
  origins_[node].begun = 0;
  origins_[node].reading = 0;
  origins_[node].kept_bytes = 0;
  origins_[node].notices = 0;
  delivery_.abandon(node);
  origins_[node].has_begun = false;
  for (auto at = registrations_.begin(); at != registrations_.end();)
    at = remove_user(at->second, node) ? registrations_.erase(at) : std::next(at);
}

}  // namespace nagaya::delegatee

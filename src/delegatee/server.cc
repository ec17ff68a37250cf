// SPDX-License-Identifier: BSD-3-Clause
#include "delegatee/server.h"

#include <algorithm>
#include <array>
#include <bit>
#include <exception>
#include <utility>

namespace nagaya::delegatee {
namespace {

void set_environment(const std::string& variable) {
  const size_t equals = variable.find('=');
  ::setenv(variable.substr(0, equals).c_str(), variable.c_str() + equals + 1, 1);
}

// The name of each llcl::Op, in the words of nagaya/llcl.h.
constexpr std::array<const char*, llcl::kOps> kRequestKinds{
    "read",        "write",        "atomic",     "message",      "fence",        "write_notify",
    "read_pieces", "write_pieces", "accumulate", "compare_swap", "atomic_behind"};

// Returns the greatest power of two that is neither above `count` nor above the number of a node's
// contacts.
uint32_t least(uint32_t count, const std::vector<Contact>& contacts) {
  return std::bit_floor(std::min(count, static_cast<uint32_t>(contacts.size())));
}

}  // namespace

Server::Server(task::SpaceHeader& space)
    : space_(space),
      memory_(llcl::create_board(space)),
      board_(*static_cast<llcl::Board*>(space.upper_floors)) {}

Server::~Server() {
  end_threads();
}

// All are told before the first one is awaited: each still sends the answers of its last round.
void Server::end_threads() {
  for (const auto& served : served_)
    if (served->thread.joinable()) served->delegatee->stop();
  for (const auto& served : served_)
    if (served->thread.joinable()) served->thread.join();
}

std::string Server::answer(const std::string& question, std::vector<base::Fd> descriptors) try {
  const Question asked = decode_question(question);
  if (asked.kind == Question::Kind::kContact) return contact(asked);
  if (asked.kind == Question::Kind::kFile) return open(asked, std::move(descriptors));
  connect(asked);
  return {};
} catch (const base::Error&) {
  throw;
} catch (const std::exception& error) {  // no memory, no thread
  throw base::Error(-EAGAIN, std::string("cannot start a thread of the host: ") + error.what());
}

// Takes over a file that a living task has opened. The first one starts the thread for files.
std::string Server::open(const Question& question, std::vector<base::Fd> descriptors) {
  if (descriptors.size() != 1 || question.self >= space_.capacity)
    throw base::Error(-EPROTO, "a file is opened with its descriptor, by a task");
  const task::TaskRecord& record = *space_.record(question.self);
  if (record.state.load(std::memory_order_relaxed) != task::TaskState::kRunning)
    throw base::Error(-ESRCH, "the task that opened the file has ended");
  if (files_ == nullptr) files_ = std::make_unique<files::FileThread>(board_);
  return task::encode_plain(files_->open(
      std::move(descriptors[0]),
      mailbox::Owner::task(record.number, record.generation.load(std::memory_order_relaxed))));
}

std::string Server::contact(const Question& question) {
  if (is_connected()) throw base::Error(-EALREADY, "the nodes of this job are connected already");
  Options options;
  for (const std::string& variable : question.variables) {
    if (!passes(variable)) throw base::Error(-EPROTO, variable + ": not a variable of the network");
    if (is_option(variable)) choose(options, variable);
  }
  if (options.delegatees == 0) options.delegatees = suitable_delegatees(options);
  if (options.queue == Queue::kRing && options.delegatees != 1)
    throw base::Error(-EINVAL, "NAGAYA_QUEUE=ring is for one delegatee: unset NAGAYA_DELEGATEES");
  if (served_.size() != options.delegatees || options.devices != options_.devices) served_.clear();
  options_ = options;
  for (const std::string& variable : question.variables)
    if (!is_option(variable)) set_environment(variable);
  std::vector<Contact> contacts;
  for (uint32_t n = 0; n < options.delegatees; ++n) {
    if (n == served_.size())
      served_.push_back(std::make_unique<Served>(board_, device_of(options, n)));
    contacts.push_back({served_[n]->secret, served_[n]->fabric->address()});
  }
  return encode(contacts);
}

// Returns how many delegatees suit this machine and the tasks that its job has here.
uint32_t Server::suitable_delegatees(const Options& options) const {
  if (options.queue == Queue::kRing) return 1;
  const uint32_t suited = placement_ ? placement_->delegation(space_.expected_tasks).delegatees : 1;
  return std::max(suited, delegatees_for(options));
}

// A failure closes the fabrics, too: a fabric can be connected only once.
void Server::connect(const Question& question) try {
  if (served_.empty() || is_connected())
    throw base::Error(-EPROTO, "nodes are connected once, after their contacts were asked for");
  std::vector<std::vector<Contact>> nodes;
  for (const std::string& bytes : question.contacts) nodes.push_back(decode_contacts(bytes));
  // The nodes may be of different kinds. Each of them finds the same least number.
  for (const auto& contacts : nodes) options_.delegatees = least(options_.delegatees, contacts);
  served_.resize(options_.delegatees);
  if (options_.queue == Queue::kRing) make_ring();
  board_.delegatees.store(options_.delegatees, std::memory_order_relaxed);
  for (uint32_t n = 0; n < served_.size(); ++n) start_thread(n, nodes, question.self);
} catch (...) {
  // Threads that run already serve nobody: no task learns of the other nodes.
  end_threads();
  served_.clear();
  board_.delegatees.store(1, std::memory_order_relaxed);
  throw;
}

// Connects delegatee n to delegatee n of each other node, and starts it.
void Server::start_thread(uint32_t n, const std::vector<std::vector<Contact>>& nodes,
                          uint32_t self) {
  Served& served = *served_[n];
  std::vector<Secret> secrets;
  std::vector<std::string> addresses;
  for (const auto& contacts : nodes) {
    secrets.push_back(contacts[n].secret);
    addresses.push_back(contacts[n].address);
  }
  served.fabric->connect(addresses, self);
  served.node.use(mailbox::LaneShare{n, options_.delegatees});
  served.delegatee = std::make_unique<Delegatee>(
      Surroundings{*served.fabric, self, secrets, served.node, served.node, served.node,
                   board_.bells[n], board_.load},
      options_);
  served.thread = std::thread([this, n, &running = *served.delegatee] {
    settle_thread(n);
    running.run();
  });
}

// The memory is zeroed, which is the ring's empty state.
void Server::make_ring() {
  ring_memory_ = base::reserve_memory(sizeof(llcl::Ring), "cannot reserve the ring");
  auto* const ring = reinterpret_cast<llcl::Ring*>(ring_memory_.data());
  served_[0]->node.use(*ring);
  board_.ring.store(ring, std::memory_order_relaxed);  // tasks push from the store to `nodes` on
}

// Binds the thread of delegatee n to a memory node. Places lanes and ring there; the lanes of
// several delegatees lie where their tasks have touched them first.
void Server::settle_thread(uint32_t n) {
  if (!placement_) return;
  const int node = placement_->settle_thread(n, options_.delegatees, device_of(options_, n));
  const llcl::Lanes& lanes = *board_.lanes;
  if (options_.delegatees == 1)
    placement_->put(&lanes, llcl::Lanes::bytes_for(lanes.capacity()), node);
  if (options_.queue == Queue::kRing)
    placement_->put(ring_memory_.data(), sizeof(llcl::Ring), node);
}

void Server::task_starts(const task::TaskRecord& record, std::span<const uint64_t> processors) {
  // A number that no task had before has empty mailboxes: their pages are untouched, and placed
  // below.
  if (record.generation.load(std::memory_order_relaxed) > 1)
    llcl::empty_mailboxes(board_, *record.space->record(record.number));
  if (!placement_) return;
  const mailbox::Mailbox& box = board_.mailboxes[record.number];
  placement_->put(&box, sizeof box, placement_->node_of(processors));
}

void Server::task_ended(const task::TaskRecord& record) {
  const mailbox::Owner dead = llcl::reclaim(board_, record.number);
  if (dead == mailbox::Owner{}) return;
  llcl::note_end(board_, record.number);
  if (files_ != nullptr) files_->abandon(dead);
  if (!is_connected()) return board_.lanes->reclaim(dead);
  for (const auto& served : served_) {
    served->node.note_dead(record.number, dead);
    served->delegatee->abandon(record.number);
  }
}

bool Server::holds(const task::TaskRecord& record) const {
  const auto dead =
      mailbox::Owner::task(record.number, record.generation.load(std::memory_order_relaxed));
  const bool is_held =
      std::ranges::any_of(served_, [&](const auto& one) { return one->node.holds(record.number); });
  return is_held || (files_ != nullptr && files_->holds(record.number)) ||
         !llcl::release_copies(board_, dead) || !llcl::forget_groups(board_, record);
}

std::vector<task::RequestCount> Server::requests() const {
  std::vector<task::RequestCount> counts;
  if (!is_connected()) return counts;
  for (size_t op = 0; op < llcl::kOps; ++op) {
    uint64_t count = 0;
    for (const auto& served : served_) count += served->delegatee->requests(llcl::Op(op));
    counts.push_back({kRequestKinds[op], count});
  }
  return counts;
}

uint64_t Server::refused_messages() const {
  uint64_t count = 0;
  if (is_connected())
    for (const auto& served : served_) count += served->delegatee->refused();
  return count;
}

}  // namespace nagaya::delegatee

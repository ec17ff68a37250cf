// SPDX-License-Identifier: BSD-3-Clause
#include "delegatee/server.h"

#include <array>
#include <exception>
#include <utility>

#include "fabric/module.h"

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

}  // namespace

Server::Server(task::SpaceHeader& space)
    : space_(space),
      memory_(llcl::create_board(space)),
      board_(*static_cast<llcl::Board*>(space.upper_floors)),
      node_(board_) {}

Server::~Server() {
  if (!thread_.joinable()) return;
  delegatee_->stop();
  thread_.join();
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
  if (thread_.joinable())
    throw base::Error(-EALREADY, "the nodes of this job are connected already");
  Options options;
  for (const std::string& variable : question.variables) {
    if (!passes(variable)) throw base::Error(-EPROTO, variable + ": not a variable of the network");
    if (is_option(variable)) choose(options, variable);
  }
  options_ = options;
  for (const std::string& variable : question.variables)
    if (!is_option(variable)) set_environment(variable);
  if (fabric_ == nullptr) fabric_ = fabric::open_libfabric();
  return encode(Contact{secret_, fabric_->address()});
}

// A failure closes the fabric, too: a fabric can be connected only once.
void Server::connect(const Question& question) {
  if (fabric_ == nullptr || thread_.joinable())
    throw base::Error(-EPROTO, "nodes are connected once, after their contacts were asked for");
  auto fabric = std::move(fabric_);
  std::vector<Secret> secrets;
  std::vector<std::string> addresses;
  for (const std::string& bytes : question.contacts) {
    Contact contact = decode_contact(bytes);
    secrets.push_back(contact.secret);
    addresses.push_back(std::move(contact.address));
  }
  fabric->connect(addresses, question.self);
  if (options_.queue == Queue::kRing) make_ring();
  auto delegatee =
      std::make_unique<Delegatee>(Surroundings{*fabric, question.self, secrets, node_, node_, node_,
                                               board_.delegatee_bell, board_.load},
                                  options_);
  thread_ = std::thread([this, &running = *delegatee] {
    settle_thread();
    running.run();
  });
  fabric_ = std::move(fabric);
  delegatee_ = std::move(delegatee);
}

// The memory is zeroed, which is the ring's empty state.
void Server::make_ring() {
  ring_memory_ = base::reserve_memory(sizeof(llcl::Ring), "cannot reserve the ring");
  auto* const ring = reinterpret_cast<llcl::Ring*>(ring_memory_.data());
  node_.use(*ring);
  board_.ring.store(ring, std::memory_order_relaxed);  // tasks push from the store to `nodes` on
}

// Binds the delegatee's thread to a memory node, and places lanes and ring there.
void Server::settle_thread() {
  if (!placement_) return;
  const int node = placement_->settle_thread();
  const llcl::Lanes& lanes = *board_.lanes;
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
  if (files_ != nullptr) files_->abandon(dead);
  if (delegatee_ == nullptr) return board_.lanes->reclaim(dead);
  node_.note_dead(record.number, dead);
  delegatee_->abandon(record.number);
}

bool Server::holds(const task::TaskRecord& record) const {
  const auto dead =
      mailbox::Owner::task(record.number, record.generation.load(std::memory_order_relaxed));
  return node_.holds(record.number) || (files_ != nullptr && files_->holds(record.number)) ||
         !llcl::release_copies(board_, dead) || !llcl::forget_groups(board_, record);
}

std::vector<task::RequestCount> Server::requests() const {
  std::vector<task::RequestCount> counts;
  if (delegatee_ == nullptr) return counts;
  for (size_t op = 0; op < llcl::kOps; ++op)
    counts.push_back({kRequestKinds[op], delegatee_->requests(llcl::Op(op))});
  return counts;
}

}  // namespace nagaya::delegatee

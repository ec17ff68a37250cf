// SPDX-License-Identifier: BSD-3-Clause
#include "bootstrap/introduction.h"

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "bootstrap/card.h"
#include "delegatee/question.h"
#include "llcl/requests/processes.h"
#include "llcl/requests/tuning.h"
#include "task/host/client.h"
#include "task/load/program.h"

namespace nagaya::bootstrap {
namespace {

// The owner of the window, which outlives its speaker.
constexpr mailbox::Owner kSpace = mailbox::Owner::host();

using base::Error;

constexpr int kLookMs = 100;
// A launched process that has not started a further program so long after one has ended will not
// start any.
constexpr int kNextProgramLimitMs = 3'000;
constexpr char kCard[] = "nagaya.card";
constexpr char kConnected[] = "nagaya.connected";  // published by speakers

// The host has no environment of its own: the question carries this task's variables.
delegatee::Question question_for_contact() {
  delegatee::Question question;
  for (std::string& variable : task::own_environment())
    if (delegatee::passes(variable)) question.variables.push_back(std::move(variable));
  return question;
}

// Returns this task's tuning table. Throws if it differs from the table of the node's other tasks,
// or cannot be read.
const llcl::Tuning& own_tuning(llcl::Endpoint& endpoint) {
  return llcl::Tuning::own().agreed(endpoint.board().tuning);
}

// ---- one node ---------------------------------------------------------------------------------

// The number of the task of `rank`, plus 1; 0: the task has not come. The rank's slot holds it
// until the world is ready.
std::atomic_ref<uint32_t> present(const World& world, uint32_t rank) {
  return std::atomic_ref(*reinterpret_cast<uint32_t*>(world.window + World::slot_at(rank)));
}

void describe_one_node(World& world, const llcl::Endpoint& endpoint) {
  std::vector<processes::Process> by_rank(world.size);
  for (uint32_t rank = 0; rank < world.size; ++rank)
    by_rank[rank] = {0, present(world, rank).load(std::memory_order_relaxed) - 1};
  try {
    world.describe(by_rank, tables_of(endpoint));
    world.be_ready();
  } catch (const Error& error) {
    world.fail(error.code(), error.what());
  }
}

// Whether the task belongs to another world of the space. Compares generations, too: an earlier
// task may have had its number.
bool belongs_to_another_world(const World& world, const llcl::Board& board,
                              const task::TaskRecord& task) {
  const auto owner =
      mailbox::Owner::task(task.number, task.generation.load(std::memory_order_relaxed));
  for (const World* other = World::latest(board); other != nullptr; other = other->next) {
    if (other == &world || !other->is_ready()) continue;
    const int64_t rank = other->tables.rank_of({other->node, task.number});
    if (rank >= 0 && other->places[rank].load(std::memory_order_relaxed) == owner.bits) return true;
  }
  return false;
}

// Returns a task that has ended before it called nagaya_comm_init, if the tasks that have called it
// or may still call it are fewer than the processes of the job. (A further program of the launched
// process of an ended task may call it in place of that task.) Tasks of another job count as
// possible callers until that job has a world; then only throw_late() reports the failure.
std::optional<uint32_t> missing_task(const World& world, const llcl::Board& board,
                                     const task::SpaceHeader& space) {
  std::vector<bool> has_come(space.capacity);
  for (uint32_t rank = 0; rank < world.size; ++rank)
    if (const uint32_t task = present(world, rank).load(std::memory_order_relaxed); task != 0)
      has_come[task - 1] = true;
  std::optional<uint32_t> ended;
  uint32_t expected = 0;
  for (uint32_t number = 0; number < space.capacity; ++number) {
    const task::TaskRecord& record = *space.record(number);
    // Acquire: pairs with the host's store, which comes after all stores of the task.
    const auto state = record.state.load(std::memory_order_acquire);
    if (state == task::TaskState::kFree) continue;
    if (!has_come[number] && belongs_to_another_world(world, board, record)) continue;
    if (has_come[number] || state != task::TaskState::kEnded)
      ++expected;
    else if (!ended)
      ended = number;
  }
  return expected < world.size ? ended : std::nullopt;
}

// Counts this task in; the last one describes the world. A task that fails does not count itself
// in, so that nobody describes a failed world.
void count_in(World& world, llcl::Endpoint& endpoint, uint32_t rank) {
  try {
    own_tuning(endpoint);
  } catch (const Error& error) {
    return world.fail(error.code(), error.what());
  }
  const uint32_t own = endpoint.record().number + 1;
  // This task may have come in an earlier call, and waited in vain.
  if (present(world, rank).exchange(own, std::memory_order_relaxed) == own) return;
  // Release: this task's slot is written. Acquire: pairs with the releases of all tasks that came
  // before.
  if (world.came.fetch_add(1, std::memory_order_acq_rel) + 1 == world.size)
    describe_one_node(world, endpoint);
}

[[noreturn]] void throw_late(const World& world) {
  uint32_t late = 0, first = 0;
  for (uint32_t rank = world.size; rank-- > 0;)
    if (present(world, rank).load(std::memory_order_relaxed) == 0) ++late, first = rank;
  throw Error(-ETIMEDOUT, std::to_string(late) + " of " + std::to_string(world.size) +
                              " processes have not called nagaya_comm_init within " +
                              std::to_string(kStartTimeoutMs / 1000) +
                              " s, the first of them rank " + std::to_string(first) +
                              ": each process of the job must call it");
}

void meet_on_one_node(World& world, llcl::Endpoint& endpoint, uint32_t rank) {
  count_in(world, endpoint, rank);
  int missing_ms = 0;
  for (int waited_ms = 0;
       endpoint.wait(
           llcl::Purpose::kJob, [&] { return world.is_ready_or_failed(); }, kLookMs) != 0;
       waited_ms += kLookMs) {
    const auto missing = missing_task(world, endpoint.board(), *endpoint.record().space);
    missing_ms = missing ? missing_ms + kLookMs : 0;
    if (missing_ms >= kNextProgramLimitMs)
      throw Error(-EOWNERDEAD,
                  "task " + std::to_string(*missing) + " has ended before nagaya_comm_init");
    if (waited_ms >= kStartTimeoutMs) throw_late(world);
  }
}

// ---- several nodes ----------------------------------------------------------------------------

// Throws the failure that a card tells of; `rank` has published the card.
void throw_if_failed(const Card& card, uint32_t rank) {
  if (card.error != 0) throw Error(card.error, "rank " + std::to_string(rank) + ": " + card.text);
}

Card card_of(const Error& error) {
  Card card;
  card.error = error.code();
  card.text = error.what();
  return card;
}

// The task that speaks for its node.
class Speaker {
 public:
  Speaker(World& world, llcl::Endpoint& endpoint, Meeting& meeting)
      : world_(world), endpoint_(endpoint), meeting_(meeting) {}

  // Puts into the card how the node can be reached.
  void add_contact(Card& card) {
    host_.emplace(task::Client::join(task::job_of_own_space(endpoint_.record())));
    card.text = host_->ask(delegatee::encode(question_for_contact()));
    card.window = endpoint_.board().regions->add(kSpace, world_.window, world_.window_bytes());
  }

  // Called after the first fence: connects the nodes. Returns the card to publish before the second
  // one.
  Card connect() {
    try {
      host_->ask(delegatee::encode(read_cards()));
      return {};
    } catch (const Error& error) {
      failure_.emplace(error);
      return card_of(error);
    }
  }

  // Called after the second fence: makes the world ready, or failed.
  void conclude() {
    try {
      if (failure_) throw *failure_;
      for (const uint32_t rank : speakers_)
        throw_if_failed(decode_card(meeting_.read(rank, kConnected)), rank);
      // Release: pairs with Endpoint::submit.
      endpoint_.board().nodes.store(world_.nodes, std::memory_order_release);
      world_.be_ready();
    } catch (const Error& error) {
      world_.fail(error.code(), error.what());
    }
  }

 private:
  // Describes the world, and returns the question that connects the nodes. Nodes have the order of
  // their lowest ranks: all nodes number them alike.
  delegatee::Question read_cards() {
    delegatee::Question connect{delegatee::Question::Kind::kConnect, {}, 0, {}};
    const uint64_t own = endpoint_.record().space->identity;
    std::unordered_map<uint64_t, uint32_t> nodes;  // by space
    std::vector<processes::Process> by_rank;
    for (uint32_t rank = 0; rank < world_.size; ++rank) {
      Card card = decode_card(meeting_.read(rank, kCard));
      throw_if_failed(card, rank);
      if (card.tuning != llcl::Tuning::own().digest()) llcl::throw_different_tunings();
      const auto count = static_cast<uint32_t>(nodes.size());
      const uint32_t node = nodes.try_emplace(card.space, count).first->second;
      by_rank.push_back({node, card.task});
      connect.contacts.resize(nodes.size());
      speakers_.resize(nodes.size());
      if (card.text.empty()) continue;
      speakers_[node] = rank;
      world_.windows[node] = {{node, kSpace.number()}, card.window, 0, 0};
      connect.contacts[node] = std::move(card.text);
    }
    world_.nodes = static_cast<uint32_t>(nodes.size());
    if (!nodes.contains(own)) throw Error(-EPROTO, "the launcher shows no card of this node");
    world_.node = connect.self = nodes.at(own);
    endpoint_.board().node.store(world_.node, std::memory_order_relaxed);
    world_.describe(by_rank, tables_of(endpoint_));
    return connect;
  }

  World& world_;
  llcl::Endpoint& endpoint_;
  Meeting& meeting_;
  std::optional<task::Client> host_;
  std::optional<Error> failure_;
  std::vector<uint32_t> speakers_;  // by node: the rank that speaks for it
};

void meet_other_nodes(World& world, llcl::Endpoint& endpoint, Meeting& meeting, Speaker* speaker) {
  Card card{endpoint.record().space->identity, endpoint.record().number, 0, 0, 0, {}};
  try {
    card.tuning = own_tuning(endpoint).digest();
    if (speaker != nullptr) speaker->add_contact(card);
  } catch (const Error& error) {
    card = card_of(error);
  }
  meeting.publish(kCard, encode(card));
  meeting.fence();
  if (speaker != nullptr) meeting.publish(kConnected, encode(speaker->connect()));
  meeting.fence();
  if (speaker != nullptr) speaker->conclude();
  if (endpoint.wait(
          llcl::Purpose::kJob, [&] { return world.is_ready_or_failed(); }, kStartTimeoutMs) != 0)
    throw Error(-ETIMEDOUT,
                "the task that speaks for this node has not reached the other nodes within " +
                    std::to_string(kStartTimeoutMs / 1000) + " s");
}

// Called by a process that has no world to wait in: publishes its failure, and takes part in both
// fences.
void publish_failure(Meeting& meeting, const Error& error) {
  meeting.publish(kCard, encode(card_of(error)));
  meeting.fence();
  meeting.fence();
}

}  // namespace

World& make_world_of_job(llcl::Endpoint& endpoint, const Launched& launched) {
  bool is_first = false;
  World* world = nullptr;
  try {
    if (launched.rank >= launched.size)
      throw Error(-EINVAL, "rank " + std::to_string(launched.rank) + " in a job of " +
                               std::to_string(launched.size) + " processes");
    world = &World::find_or_make(endpoint.record(), endpoint.board(), launched.job, launched.size,
                                 launched.rank, is_first);
    world->throw_if_failed();
    if (launched.meeting != nullptr && world->program > 1) throw Error(-EEXIST, kEarlierProgram);
  } catch (const Error& error) {
    const bool has_world_to_wait_in = world != nullptr && world->program == 1;
    if (launched.meeting != nullptr && !has_world_to_wait_in)
      publish_failure(*launched.meeting, error);
    throw;
  }
  if (launched.meeting == nullptr) {
    meet_on_one_node(*world, endpoint, launched.rank);
  } else {
    Speaker speaker(*world, endpoint, *launched.meeting);
    meet_other_nodes(*world, endpoint, *launched.meeting, is_first ? &speaker : nullptr);
  }
  world->throw_if_failed();
  return *world;
}

}  // namespace nagaya::bootstrap

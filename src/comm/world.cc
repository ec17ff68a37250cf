// SPDX-License-Identifier: BSD-3-Clause
#include "comm/world.h"

#include <sched.h>

#include <algorithm>
#include <cstring>
#include <new>

#include "delegatee/question.h"
#include "task/client.h"
#include "task/program.h"
#include "task/space_heap.h"

namespace nagaya::comm {
namespace {

using base::Error;

constexpr int kComingLimitMs = 60'000;
constexpr int kProbeMs = 1000;

uint64_t round_up(uint64_t bytes) {
  return (bytes + 63) / 64 * 64;
}

// Of `size` processes, none of whom is known yet.
World* make_world(task::TaskRecord& owner, uint32_t size, uint32_t tasks_here) {
  const uint64_t processes_at = round_up(sizeof(World));
  const uint64_t windows_at = round_up(processes_at + size * sizeof(nagaya_process));
  const uint64_t window_at = round_up(windows_at + size * sizeof(nagaya_remote));
  const uint64_t bytes = window_at + World::slot_at(size);
  auto* const base = static_cast<std::byte*>(task::heap_allocate(owner, bytes));
  if (base == nullptr) throw Error(-ENOMEM, "the space heap is exhausted");
  std::memset(base, 0, bytes);
  auto* const world = new (base) World{};
  world->stamp = {task::kMagic, task::kAbiMajor, task::kAbiMinor, sizeof(World), 0};
  world->size = size;
  world->nodes = 1;
  world->tasks_here = tasks_here;
  world->processes = reinterpret_cast<nagaya_process*>(base + processes_at);
  world->windows = reinterpret_cast<nagaya_remote*>(base + windows_at);
  world->window = base + window_at;
  return world;
}

// The same for the tasks of one space only, and no secret.
uint64_t identity_of(const task::SpaceHeader& space) {
  const auto* const key = reinterpret_cast<const char*>(space.key);
  return std::hash<std::string_view>{}({key, sizeof space.key});
}

// A request that a lane has no room for just now.
template <class Request>
int retry(Request request) {
  int error = request();
  for (; error == -EAGAIN; error = request()) ::sched_yield();
  return error;
}

// The host was started without any environment.
delegatee::Question question_for_address() {
  delegatee::Question question;
  for (std::string& variable : task::own_environment())
    if (variable.starts_with("FI_")) question.variables.push_back(std::move(variable));
  return question;
}

uint32_t tasks_of_job_here(const task::TaskRecord& record) {
  const uint32_t expected = record.space->expected_tasks;
  return expected != 0 ? expected : 1;
}

}  // namespace

Membership::Membership(llcl::Endpoint& endpoint)
    : endpoint_(endpoint),
      meeting_(find_meeting(endpoint.record().number, tasks_of_job_here(endpoint.record()))) {
  task::TaskRecord& record = endpoint.record();
  auto& shared = endpoint.board().world;
  World* const own = make_world(record, meeting_->size(), tasks_of_job_here(record));
  void* found = nullptr;
  // Release: pairs with the acquire of those who come later.
  const bool is_speaker = shared.compare_exchange_strong(found, own, std::memory_order_acq_rel,
                                                         std::memory_order_acquire);
  if (!is_speaker) task::heap_free(record, own);
  world_ = is_speaker ? own : static_cast<World*>(found);
  if (!world_->stamp.matches(sizeof(World)) || world_->size != meeting_->size())
    throw Error(-EPROTO, "the tasks of this job use different versions of nagaya");
  if (rank() >= world_->size)
    throw Error(-EINVAL, "rank " + std::to_string(rank()) + " in a job of " +
                             std::to_string(world_->size) + " processes");
  meeting_->is_local() ? join_one_node() : join_nodes(is_speaker);
}

void Membership::join_one_node() {
  world_->processes[rank()] = {0, endpoint_.record().number};
  // Release: pairs with the last one's acquire, and its release with await_world.
  if (world_->came.fetch_add(1, std::memory_order_acq_rel) + 1 == world_->size)
    world_->state.store(WorldState::kReady, std::memory_order_release);
  await_world();
}

void Membership::join_nodes(bool is_speaker) {
  Card card{};
  card.space = identity_of(*endpoint_.record().space);
  card.task = endpoint_.record().number;
  task::Client host = task::Client::join(task::job_of_own_space(endpoint_.record()));
  if (is_speaker) {
    const std::string address = host.ask(delegatee::encode(question_for_address()));
    if (address.size() > sizeof card.address)
      throw Error(-EPROTO, "the fabric's address is too long");
    card.address_bytes = static_cast<uint32_t>(address.size());
    std::copy(address.begin(), address.end(), card.address);
    card.window = endpoint_.board().regions->add(endpoint_.owner(), world_->window,
                                                 World::slot_at(world_->size));
  }
  const std::vector<Card> cards = meeting_->exchange(card);
  if (is_speaker) introduce_nodes(cards, host);
  await_world();
  meeting_->fence();  // every node can be reached now
}

// Nodes have the order of their lowest ranks: all nodes see the same.
void Membership::introduce_nodes(const std::vector<Card>& cards, task::Client& host) {
  std::vector<uint64_t> spaces;
  delegatee::Question connect{delegatee::Question::Kind::kConnect, {}, 0, {}};
  const uint64_t own = identity_of(*endpoint_.record().space);
  for (uint32_t rank = 0; rank < cards.size(); ++rank) {
    const Card& card = cards[rank];
    auto found = std::find(spaces.begin(), spaces.end(), card.space);
    if (found == spaces.end()) {
      found = spaces.insert(found, card.space);
      connect.addresses.emplace_back();
    }
    const auto node = static_cast<uint32_t>(found - spaces.begin());
    world_->processes[rank] = {node, card.task};
    if (card.space == own) world_->node = connect.self = node;
    if (card.address_bytes == 0) continue;
    world_->windows[node] = {{node, card.task}, card.window, 0, 0};
    connect.addresses[node].assign(card.address, card.address_bytes);
  }
  world_->nodes = static_cast<uint32_t>(spaces.size());
  llcl::Board& board = endpoint_.board();
  board.node.store(world_->node, std::memory_order_relaxed);
  try {
    host.ask(delegatee::encode(connect));
  } catch (const Error&) {
    world_->state.store(WorldState::kFailed, std::memory_order_release);  // pairs with await_world
    throw;
  }
  board.nodes.store(world_->nodes, std::memory_order_release);  // pairs with Endpoint::submit
  world_->state.store(WorldState::kReady, std::memory_order_release);  // pairs with await_world
}

void Membership::await_world() {
  const auto is_made = [&] {  // acquire: pairs with whoever has made it
    return world_->state.load(std::memory_order_acquire) != WorldState::kMaking;
  };
  if (!endpoint_.wait(is_made, kComingLimitMs))
    throw Error(-ETIMEDOUT, "not all processes of the job have come to nagaya_comm_init");
  if (world_->state.load(std::memory_order_acquire) == WorldState::kFailed)
    throw Error(-EPIPE, "the job's nodes could not be introduced to each other");
}

int Membership::barrier() {
  const uint32_t left = world_->barriers.load(std::memory_order_acquire);
  // Acquire and release: every task's stores before it are seen by the last one, and by its store
  // to `barriers` by all.
  if (world_->arrived.fetch_add(1, std::memory_order_acq_rel) + 1 == world_->tasks_here) {
    const int error = meet_other_nodes();
    if (error != 0) world_->error = error;
    world_->arrived.store(0, std::memory_order_relaxed);
    world_->barriers.store(left + 1, std::memory_order_release);
  } else {
    endpoint_.wait([&] { return world_->barriers.load(std::memory_order_acquire) != left; }, -1);
  }
  return world_->error;
}

int Membership::meet_other_nodes() {
  const uint64_t barrier = world_->barriers.load(std::memory_order_relaxed) + 1;
  for (uint32_t round = 0, apart = 1; apart < world_->nodes; ++round, apart *= 2) {
    const uint32_t to = (world_->node + apart) % world_->nodes;
    if (const int error = add_to_round(to, round, 1); error != 0) return error;
    if (const int error = await_round(round, apart, barrier); error != 0) return error;
  }
  return 0;
}

// Nobody reports a node that has died before it could add: ask it now and then.
int Membership::await_round(uint32_t round, uint32_t apart, uint64_t barrier) {
  const uint32_t from = (world_->node + world_->nodes - apart % world_->nodes) % world_->nodes;
  const auto has_come = [&] {  // acquire: pairs with the atomic of the other node's delegatee
    return world_->round(round).load(std::memory_order_acquire) >= barrier;
  };
  while (!endpoint_.wait(has_come, kProbeMs))
    if (const int error = add_to_round(from, round, 0); error != 0) return error;
  return 0;
}

int Membership::add_to_round(uint32_t node, uint32_t round, uint64_t count) {
  uint32_t added = 0;
  nagaya_llcl_atomic add{};
  add.remote = world_->windows[node];
  add.remote.offset = World::round_at(round);
  add.operation = NAGAYA_ADD;
  add.type = NAGAYA_UINT64;
  add.operand = count;
  add.on_complete = nagaya_flag(&added);
  const int error = retry([&] { return nagaya_llcl_try_atomic(&add); });
  return error != 0 ? error : nagaya_llcl_wait_flag(&added, -1);
}

int Membership::allgather(const void* own, size_t bytes, void* all) {
  const auto* const from = static_cast<const std::byte*>(own);
  auto* const to = static_cast<std::byte*>(all);
  for (size_t done = 0; done < bytes; done += kSlotBytes) {
    const size_t piece = std::min(kSlotBytes, bytes - done);
    if (const int error = write_slots(from + done, piece); error != 0) return error;
    if (const int error = barrier(); error != 0) return error;
    for (uint32_t rank = 0; rank < world_->size; ++rank)
      std::memcpy(to + rank * bytes + done, world_->window + World::slot_at(rank), piece);
    if (const int error = barrier(); error != 0) return error;  // before the slots are used again
  }
  return 0;
}

// This rank's slot in the window of every node.
int Membership::write_slots(const std::byte* from, size_t bytes) {
  std::memcpy(world_->window + World::slot_at(rank()), from, bytes);
  uint64_t written = 0;
  uint32_t asked = 0;
  for (uint32_t node = 0; node < world_->nodes; ++node) {
    if (node == world_->node) continue;
    nagaya_llcl_transfer put{world_->windows[node], const_cast<std::byte*>(from), bytes,
                             nagaya_counter(&written)};
    put.remote.offset = World::slot_at(rank());
    if (const int error = retry([&] { return nagaya_llcl_try_write(&put); }); error != 0)
      return error;
    ++asked;
  }
  return nagaya_llcl_wait_counter(&written, asked, -1);
}

}  // namespace nagaya::comm

// SPDX-License-Identifier: BSD-3-Clause
#include "bootstrap/world.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <string>
#include <vector>

#include "base/error.h"

namespace nagaya::bootstrap {
namespace {

using base::Error;

constexpr char kSameRank[] = "two processes of the job have the same rank";

constexpr uint64_t round_up(uint64_t bytes) {
  return (bytes + 63) / 64 * 64;
}

// Makes a world of `size` processes, none of which is known yet. The block is a large one, and
// so pages of zeros, of which the kernel backs only those that are used.
World& make_world(task::TaskRecord& owner, std::string_view job, uint32_t size) {
  const uint64_t windows_at = round_up(sizeof(World));
  const uint64_t places_at = round_up(windows_at + size * sizeof(nagaya_remote));
  const uint64_t window_at = round_up(places_at + size * sizeof(std::atomic<uint32_t>));
  const uint64_t bytes = window_at + World::slot_at(size);
  const processes::Memory lasting =
      processes::lasting_memory_of(owner);  // tasks use it after its maker is reaped
  auto* const base = static_cast<std::byte*>(lasting.allocate(lasting.context, bytes));
  if (base == nullptr) throw Error(-ENOMEM, "the space heap is exhausted");
  auto* const world = new (base) World{};
  world->stamp = {task::kMagic, task::kAbiMajor, task::kAbiMinor, sizeof(World), 0};
  world->size = size;
  job.copy(world->job, kJobBytes - 1);
  world->nodes = 1;
  world->windows = reinterpret_cast<nagaya_remote*>(base + windows_at);
  world->places = reinterpret_cast<std::atomic<uint32_t>*>(base + places_at);
  world->window = base + window_at;
  return *world;
}

// A task that looks for its world.
struct Seeker {
  const task::SpaceHeader& space;
  mailbox::Owner task;
  std::string_view job;
  uint32_t size, rank;

  bool is_of_job(const World& world) const { return world.job == job.substr(0, kJobBytes - 1); }
  bool has_place(const World& world) const { return holder(world) == task; }
  // Whether the place is free. Throws if another task that is alive has it while the world waits
  // for its tasks.
  bool may_have_place(const World& world) const {
    if (!world.is_ready_or_failed() && is_alive(holder(world))) throw Error(-EINVAL, kSameRank);
    return holder(world) == mailbox::Owner{};
  }
  // Relaxed: the place names its holder, and publishes no other data.
  void take_place(World& world) const {
    uint32_t nobody = 0;
    if (!world.places[rank].compare_exchange_strong(nobody, task.bits, std::memory_order_relaxed))
      throw Error(-EINVAL, kSameRank);
  }

 private:
  mailbox::Owner holder(const World& world) const {
    return {world.places[rank].load(std::memory_order_relaxed)};
  }
  bool is_alive(mailbox::Owner other) const {
    if (other == mailbox::Owner{}) return false;
    const task::TaskRecord& record = *space.record(other.number());
    const auto state = record.state.load(std::memory_order_relaxed);
    const auto generation = record.generation.load(std::memory_order_relaxed);
    return (state == task::TaskState::kStarting || state == task::TaskState::kRunning) &&
           mailbox::Owner::task(other.number(), generation) == other;
  }
};

// Searches the list from `world` on for a world with a place for the seeker, and takes that place;
// nullptr: there is none.
World* find(World* world, const Seeker& seeker) {
  World* latest_free = nullptr;
  for (; world != nullptr; world = world->next) {
    if (!world->stamp.matches(sizeof(World)))
      throw Error(-EPROTO, "the tasks of this job use different versions of nagaya");
    if (!seeker.is_of_job(*world)) continue;
    if (world->size != seeker.size) {
      if (world->is_ready()) continue;  // all have come: the seeker is of another world
      throw Error(-EPROTO, "the tasks of this job see " + std::to_string(world->size) + " and " +
                               std::to_string(seeker.size) + " processes");
    }
    if (seeker.has_place(*world)) return world;
    if (seeker.may_have_place(*world) && latest_free == nullptr) latest_free = world;
  }
  if (latest_free != nullptr) seeker.take_place(*latest_free);
  return latest_free;
}

// Counts the worlds of the seeker's job in the list from `world` on.
uint32_t worlds_of_job(const World* world, const Seeker& seeker) {
  uint32_t count = 0;
  for (; world != nullptr; world = world->next) count += seeker.is_of_job(*world);
  return count;
}

}  // namespace

World& World::find_or_make(task::TaskRecord& self, llcl::Board& board, std::string_view job,
                           uint32_t size, uint32_t rank, bool& is_first) {
  const auto generation = self.generation.load(std::memory_order_relaxed);
  const Seeker seeker{*self.space, mailbox::Owner::task(self.number, generation), job, size, rank};
  World* own = nullptr;
  is_first = false;
  for (void* head = latest(board);;) {
    auto* const newest = static_cast<World*>(head);
    if (World* const found = find(newest, seeker); found != nullptr) {
      if (own != nullptr) task::heap_free(self, own);
      return *found;
    }
    if (own == nullptr) own = &make_world(self, job, size);
    if (!seeker.has_place(*own)) seeker.take_place(*own);
    own->program = 1 + worlds_of_job(newest, seeker);
    own->next = newest;
    // Release: tasks that come later find this world complete. Acquire: this task finds the world
    // of another task complete.
    is_first = board.world.compare_exchange_strong(head, own, std::memory_order_acq_rel,
                                                   std::memory_order_acquire);
    if (is_first) return *own;
  }
}

void World::describe(std::span<const processes::Process> by_rank, processes::TableStore store) {
  std::vector<uint32_t> tasks(nodes);
  tasks_here = 0;
  for (const processes::Process& process : by_rank) {
    tasks[process.node] = std::max(tasks[process.node], process.task + 1);
    tasks_here += process.node == node;
  }
  int error = store.index->intern(processes::NodePlan(tasks, processes::dealt_block(by_rank)),
                                  store.memory, tables.nodes);
  if (error == 0)
    error = store.index->intern(processes::RankPlan({*tables.nodes, by_rank}), store.memory,
                                tables.ranks);
  if (error == -ENOMEM) throw Error(error, "the space heap is exhausted");
  if (error != 0) throw Error(error, kSameRank);
}

void World::fail(int error, const char* text) {
  WorldState before = WorldState::kMaking;
  // Relaxed: `reason` is this task's from here on, and others read it after kFailed only.
  if (!state.compare_exchange_strong(before, WorldState::kFailing, std::memory_order_relaxed))
    return;
  failure = error;
  std::strncpy(reason, text, kReasonBytes - 1);
  state.store(WorldState::kFailed, std::memory_order_release);  // pairs with is_ready_or_failed
}

void World::throw_if_failed() const {
  // Acquire: pairs with fail, `reason` is written.
  if (state.load(std::memory_order_acquire) == WorldState::kFailed) throw Error(failure, reason);
}

}  // namespace nagaya::bootstrap

// SPDX-License-Identifier: BSD-3-Clause
#include "bootstrap/membership.h"

#include <sched.h>

#include <algorithm>
#include <cstring>
#include <string>

#include "llcl/requests/word.h"
#include "nagaya/task.h"
#include "task/space/own_record.h"

namespace nagaya::bootstrap {
namespace {

// The content of the word World::broken(): which process or node the job has lost.
struct Loss {
  uint32_t number;  // errno
  uint32_t place;   // 1 + the rank that has ended; 0: none

  static Loss of(uint64_t bits) {
    return {static_cast<uint32_t>(bits), static_cast<uint32_t>(bits >> 32)};
  }
  uint64_t bits() const { return uint64_t{place} << 32 | number; }
};

constexpr int kProbeMs = 1000, kLatestProbeMs = 4000;
constexpr uint32_t kPollsApart = 64;  // polls of a wait from one check of the nodes to the next

// Makes a request again as long as its lane has no room (-EAGAIN). Returns its result.
template <class Request>
int retry(Request request) {
  int error = request();
  for (; error == -EAGAIN; error = request()) ::sched_yield();
  return error;
}

}  // namespace

Membership::Membership(llcl::Endpoint& endpoint)
    : endpoint_(endpoint),
      launched_(find_launcher(endpoint.record().number,
                              std::max(endpoint.record().space->expected_tasks, 1u))),
      world_(&make_world_of_job(endpoint, launched_)) {}

void Membership::leave_launcher() {
  if (task::own_record() == nullptr)
    static_cast<void>(launched_.meeting.release());
  else
    launched_.meeting.reset();
}

int Membership::error() const {
  // Acquire: pairs with give_up, here or at another node.
  return -static_cast<int>(Loss::of(world_->broken().load(std::memory_order_acquire)).number);
}

std::string Membership::describe_loss() const {
  const Loss loss = Loss::of(world_->broken().load(std::memory_order_relaxed));
  if (loss.place != 0)
    return "rank " + std::to_string(loss.place - 1) +
           " has ended while others wait for it: all processes call each collective of comm.h, "
           "nagaya_comm_finalize() last";
  return std::string("a node of the job cannot be reached: ") +
         nagaya_strerror(-static_cast<int>(loss.number));
}

int Membership::barrier() {
  if (const int known = error(); known != 0) return known;
  const uint64_t left = world_->barriers.load(std::memory_order_acquire);
  // Acquire and release: the last task sees all tasks' earlier stores, and shows them to all by its
  // store to `barriers`.
  if (world_->arrived.fetch_add(1, std::memory_order_acq_rel) + 1 == world_->tasks_here) {
    if (const int failed = meet_other_nodes(); failed != 0) give_up(failed);
    world_->arrived.store(0, std::memory_order_relaxed);
    world_->barriers.store(left + 1, std::memory_order_release);
    llcl::wake_tasks(endpoint_.board());
  } else {
    await([&] { return world_->barriers.load(std::memory_order_acquire) != left; });
  }
  return error();
}

// Waits until ready(), or until the job has lost a process.
template <class Ready>
void Membership::await(Ready ready) {
  bool has_lost = false;
  const auto is_over = [&] { return has_lost || ready() || error() != 0; };
  const auto probe = [&] {
    has_lost = ended_member() >= 0 && !is_over();  // a member may have come, then ended
  };
  endpoint_.wait(llcl::Purpose::kJob, is_over, probe);
  if (has_lost) give_up(-EOWNERDEAD);
}

int64_t Membership::ended_member() const {
  const task::SpaceHeader& space = *endpoint_.record().space;
  for (uint32_t number = 0; number < space.capacity; ++number) {
    // Acquire: pairs with the host's store, which comes after all stores of the task.
    const auto state = space.record(number)->state.load(std::memory_order_acquire);
    const bool is_alive = state == task::TaskState::kStarting || state == task::TaskState::kRunning;
    if (is_alive) continue;
    if (const int64_t rank = world_->tables.rank_of({world_->node, number}); rank >= 0) return rank;
  }
  return -1;
}

int Membership::meet_other_nodes() {
  const uint64_t barrier = world_->barriers.load(std::memory_order_relaxed) + 1;
  for (uint32_t round = 0, apart = 1; apart < world_->nodes; ++round, apart *= 2) {
    const uint32_t to = (world_->node + apart) % world_->nodes;
    const uint32_t from = (world_->node + world_->nodes - apart) % world_->nodes;
    if (const int error = change_word(to, round, nagaya_llcl_try_add_word, 1); error != 0)
      return error;
    if (const int error = await_round(round, from, barrier); error != 0) return error;
  }
  return 0;
}

// Waits until node `from` has added to the counter of `round`. Nobody reports a node that has died
// before it could add, so this task asks it now and then: less often the longer the wait lasts,
// because each answer keeps both delegatees awake for a while.
int Membership::await_round(uint32_t round, uint32_t from, uint64_t barrier) {
  const auto has_come = [&] {  // acquire: pairs with the atomic of the other node's delegatee
    return llcl::has_reached(world_->word(round).load(std::memory_order_acquire), barrier);
  };
  const auto is_over = [&] { return has_come() || error() != 0; };
  for (int ms = kProbeMs; endpoint_.wait(llcl::Purpose::kJob, is_over, ms) != 0;
       ms = std::min(2 * ms, kLatestProbeMs)) {
    const int silent = change_word(from, round, nagaya_llcl_try_add_word, 0);
    if (silent != 0 && !has_come()) return silent;
    if (ended_member() >= 0) return -EOWNERDEAD;
  }
  return has_come() ? 0 : error();
}

// Changes a word in the window of a node, and waits until it is done. Returns 0 or -errno.
int Membership::change_word(uint32_t node, size_t word, Change change, uint64_t value) {
  nagaya_remote place = world_->windows[node];
  place.offset = World::word_at(word);
  uint32_t changed = 0;
  const int error = retry([&] { return change(&place, value, nagaya_flag(&changed)); });
  if (error != 0) return error;
  // Acquire: pairs with the delegatee's store.
  endpoint_.wait(llcl::Purpose::kJob,
                 [&] { return std::atomic_ref(changed).load(std::memory_order_acquire) != 0; });
  return llcl::error_of(changed);
}

// Marks the world as broken. The first task of this node that does so tells all other nodes at
// once, because a silent node takes seconds to fail. A process that cannot be told finds out alone.
void Membership::give_up(int error) {
  uint64_t nothing = 0;
  const int64_t ended = error == -EOWNERDEAD ? ended_member() : -1;
  const uint64_t number =
      Loss{static_cast<uint32_t>(-error), static_cast<uint32_t>(ended + 1)}.bits();
  // Release: pairs with error().
  if (!world_->broken().compare_exchange_strong(nothing, number, std::memory_order_release,
                                                std::memory_order_relaxed))
    return;
  uint64_t told = 0, asked = 0;
  for (uint32_t node = 0; node < world_->nodes; ++node) {
    if (node == world_->node) continue;
    nagaya_remote place = world_->windows[node];
    place.offset = World::word_at(kRoundsMax);
    asked +=
        retry([&] { return nagaya_llcl_try_set_word(&place, number, nagaya_counter(&told)); }) == 0;
  }
  await_completions(told, asked);
}

int Membership::allgather(const void* own, size_t bytes, void* all) {
  const auto* const from = static_cast<const std::byte*>(own);
  auto* const to = static_cast<std::byte*>(all);
  for (size_t done = 0; done < bytes; done += kSlotBytes) {
    const size_t piece = std::min(kSlotBytes, bytes - done);
    if (const int failed = write_slots(from + done, piece); failed != 0)
      give_up(failed);  // the others would wait for this rank
    if (const int error = barrier(); error != 0) return error;
    for (uint32_t rank = 0; rank < world_->size; ++rank)
      std::memcpy(to + rank * bytes + done, world_->window + World::slot_at(rank), piece);
    if (const int error = barrier(); error != 0) return error;  // before the slots are used again
  }
  return 0;
}

// Waits until `counter` shows `count` completed requests, good and failed ones.
void Membership::await_completions(uint64_t& counter, uint64_t count) {
  endpoint_.wait(llcl::Purpose::kJob, [&] {  // acquire: pairs with the delegatee's store
    const uint64_t done = std::atomic_ref(counter).load(std::memory_order_acquire);
    return (done & ~NAGAYA_COUNTER_FAILED) >= count;
  });
}

// Writes `bytes` to this rank's slot in the window of every node. Returns 0 or -errno.
int Membership::write_slots(const std::byte* from, size_t bytes) {
  std::memcpy(world_->window + World::slot_at(rank()), from, bytes);
  uint64_t written = 0;
  uint32_t asked = 0;
  int error = 0;
  for (uint32_t node = 0; node < world_->nodes; ++node) {
    if (node == world_->node) continue;
    nagaya_llcl_transfer put{world_->windows[node], const_cast<std::byte*>(from), bytes,
                             nagaya_counter(&written)};
    put.remote.offset = World::slot_at(rank());
    if (error = retry([&] { return nagaya_llcl_try_write(&put); }); error != 0) break;
    ++asked;
  }
  await_completions(written, asked);
  return error != 0 ? error : nagaya_llcl_wait_counter(&written, asked, 0);
}

// ---- lost nodes --------------------------------------------------------------------------------

int Membership::watch_nodes(Lost lost) {
  const auto takes_it = [&](std::atomic<Lost>& watcher) {
    Lost nobody = nullptr;
    return watcher.compare_exchange_strong(nobody, lost, std::memory_order_relaxed);
  };
  if (std::ranges::none_of(watchers_, takes_it)) return -ENOSPC;
  if (looks_at_nodes_ || world_->nodes == 1) return 0;
  const int error = endpoint_.waits().add(
      {.advance =
           [](void* self) {
             static_cast<Membership*>(self)->look_at_nodes();
             return 0;
           },
       .every = kPollsApart,
       .before_sleep = [](void*) { return mailbox::kNever; },  // the host rings
       .after_sleep = nullptr,
       .context = this});
  looks_at_nodes_ = error == 0;
  if (error != 0) unwatch_nodes(lost);
  return error;
}

void Membership::unwatch_nodes(Lost lost) {
  for (std::atomic<Lost>& watcher : watchers_) {
    Lost known = lost;
    watcher.compare_exchange_strong(known, nullptr, std::memory_order_relaxed);
  }
}

void Membership::unwatch_nodes() {
  for (std::atomic<Lost>& watcher : watchers_) watcher.store(nullptr, std::memory_order_relaxed);
}

void Membership::look_at_nodes() {
  const llcl::LostNode found = endpoint_.board().lost.load(std::memory_order_relaxed);
  if (found.error == 0) return;
  for (const std::atomic<Lost>& watcher : watchers_) {
    const Lost lost = watcher.load(std::memory_order_relaxed);
    if (lost == nullptr) continue;
    // Only one task of the node calls the function: the job ends with it.
    if (!world_->loss_is_told.exchange(true, std::memory_order_relaxed))
      lost(lowest_rank_of(found.node), found.error);
    return;
  }
}

int64_t Membership::lowest_rank_of(uint32_t node) const {
  for (int64_t rank = 0; rank < world_->size; ++rank)
    if (processes::Process process{};
        world_->tables.process_of(rank, process) == 0 && process.node == node)
      return rank;
  return -1;
}

}  // namespace nagaya::bootstrap

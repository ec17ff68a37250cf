// SPDX-License-Identifier: BSD-3-Clause
// queues.cc - compiled with the hooks, as src/mailbox is.
#include "scale/queues.h"

#include <memory>
#include <stdexcept>

#include "mailbox/lane_set.h"
#include "mailbox/mailbox.h"
#include "scale/simulation.h"

namespace nagaya::bench::scale {
namespace {

using mailbox::Mailbox;
using mailbox::Owner;

constexpr uint32_t kMessages = 400;  // of each poster, and of each task
constexpr uint32_t kWarmUp = 100;    // of them

struct alignas(mailbox::kLineBytes) Command {
  uint64_t task;
  uint64_t number;
  std::byte rest[48];
};
struct alignas(mailbox::kLineBytes) Answer {
  std::atomic<uint64_t> number;
};
using Lanes = mailbox::LaneSet<Command>;

template <class Thing>
std::unique_ptr<Thing, decltype(&std::free)> zeroed(size_t bytes) {
  constexpr size_t kPage = 4096;
  const size_t whole = (bytes + kPage - 1) / kPage * kPage;
  void* const memory = std::aligned_alloc(kPage, whole);
  if (memory == nullptr) throw std::bad_alloc();
  std::memset(memory, 0, whole);
  return {static_cast<Thing*>(memory), &std::free};
}

// The cores of delegatees, evenly over the machine, then those of the tasks.
std::vector<uint32_t> cores_for(const Description& machine, const Delegation& delegation) {
  const uint32_t all = machine.cores_of_all();
  if (delegation.tasks + delegation.delegatees > all)
    throw std::runtime_error("the machine has too few cores for the tasks and the delegatees");
  std::vector<uint32_t> cores;
  std::vector<bool> is_taken(all);
  for (uint32_t n = 0; n < delegation.delegatees; ++n) {
    cores.push_back(all * n / delegation.delegatees);
    is_taken[cores.back()] = true;
  }
  // Tasks that are fewer than the other cores are spread over them, too.
  std::vector<uint32_t> others;
  for (uint32_t core = 0; core < all; ++core)
    if (!is_taken[core]) others.push_back(core);
  for (uint32_t n = 0; n < delegation.tasks; ++n)
    cores.push_back(others[others.size() * n / delegation.tasks]);
  return cores;
}

// The state that tasks and delegatees share. Each delegatee serves the tasks between its core and
// the next delegatee's.
struct Service {
  explicit Service(const Delegation& delegation) : delegation(delegation) {
    for (uint32_t n = 0; n < delegation.delegatees; ++n) {
      lanes.push_back(zeroed<Lanes>(Lanes::bytes_for(delegation.tasks)));
      lanes.back()->init(delegation.tasks);
    }
    for (uint32_t task = 0; task < delegation.tasks; ++task)
      lane_of.push_back(lanes_of(task).claim(Owner::task(task, 1)));
  }
  Lanes& lanes_of(uint32_t task) { return *lanes[delegatee_of(task)]; }
  uint32_t delegatee_of(uint32_t task) const {
    return task * delegation.delegatees / delegation.tasks;
  }

  void serve(Simulation& simulation, uint32_t delegatee) {
    uint64_t left = 0;
    for (uint32_t task = 0; task < delegation.tasks; ++task)
      if (delegatee_of(task) == delegatee) left += kMessages;
    while (left != 0)
      simulation.wait([&] {
        const size_t count = lanes[delegatee]->drain([&](uint32_t, const Command* commands,
                                                         size_t number) {
          for (size_t n = 0; n < number; ++n) {
            simulation.compute(delegation.command_ns);
            // Release: pairs with ask().
            answers[commands[n].task].number.store(commands[n].number, std::memory_order_release);
          }
        });
        left -= count;
        return count != 0;
      });
  }

  void ask(Simulation& simulation, uint32_t task) {
    for (uint64_t number = 1; number <= kMessages; ++number) {
      if (number == kWarmUp + 1) simulation.begin_lap();
      lanes_of(task).push(lane_of[task], [&](Command& command) {
        command.task = task;
        command.number = number;
      });
      // Acquire: pairs with serve().
      simulation.wait(
          [&] { return answers[task].number.load(std::memory_order_acquire) == number; });
    }
    simulation.end_lap();
  }

  const Delegation delegation;
  std::vector<std::unique_ptr<Lanes, decltype(&std::free)>> lanes;
  std::vector<uint32_t> lane_of;
  std::unique_ptr<Answer, decltype(&std::free)> memory =
      zeroed<Answer>(delegation.tasks * sizeof(Answer));
  Answer* const answers = memory.get();
};

}  // namespace

double message_ns(const Description& machine, uint32_t posters) {
  const auto box = zeroed<Mailbox>(sizeof(Mailbox));
  Simulation simulation(machine, posters + 1);
  simulation.run([&](uint32_t member) {
    if (member == 0) {
      const uint32_t all = posters * kMessages;
      uint32_t taken = 0;
      while (taken < all) {
        simulation.wait([&] { return static_cast<bool>(box->take()); });
        if (++taken == posters * kWarmUp) simulation.begin_lap();
      }
      return simulation.end_lap();
    }
    const uint64_t payload = member;
    for (uint32_t n = 0; n < kMessages; ++n) {
      simulation.wait(
          [&] { return box->post(Owner::task(member, 1), 1, &payload, sizeof payload) == 0; });
      box->bell().ring_after_fence();
    }
  });
  return simulation.lap_ns(0) / (posters * (kMessages - kWarmUp));
}

Rate rate_of(const Description& machine, const Delegation& delegation) {
  Service service(delegation);
  Simulation simulation(machine, cores_for(machine, delegation));
  simulation.run([&](uint32_t member) {
    if (member < delegation.delegatees)
      service.serve(simulation, member);
    else
      service.ask(simulation, member - delegation.delegatees);
  });
  double sum_ns = 0;
  for (uint32_t task = 0; task < delegation.tasks; ++task)
    sum_ns += simulation.lap_ns(delegation.delegatees + task);
  const double answer_ns = sum_ns / delegation.tasks / (kMessages - kWarmUp);
  return {answer_ns, delegation.tasks * 1000 / answer_ns};
}

}  // namespace nagaya::bench::scale

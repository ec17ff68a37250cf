// SPDX-License-Identifier: BSD-3-Clause
#include "scale/simulation.h"

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <utility>

namespace nagaya::bench::scale {
namespace {

constexpr size_t kStackBytes = 256 << 10;
// A load of another member's word that the last load had loaded, too, is a poll: the processor's
// hint (pause) stands between.
constexpr double kPollNs = 10;

std::vector<uint32_t> in_turn(uint32_t members, uint32_t cores) {
  std::vector<uint32_t> core_of(members);
  for (uint32_t n = 0; n < members; ++n) core_of[n] = n % cores;
  return core_of;
}

}  // namespace

Simulation* Simulation::current_ = nullptr;

Simulation::Simulation(const Description& machine, uint32_t members)
    : Simulation(machine, in_turn(members, machine.cores_of_all())) {}

Simulation::Simulation(const Description& machine, const std::vector<uint32_t>& core_of)
    : node_(machine), cores_(machine.cores_of_all()) {
  for (const uint32_t core : core_of) {
    auto member = std::make_unique<Member>();
    member->number = static_cast<uint32_t>(members_.size());
    member->core = core;
    member->stack = std::make_unique_for_overwrite<std::byte[]>(kStackBytes);
    members_.push_back(std::move(member));
  }
}

Simulation::~Simulation() = default;

// ---- the turns of cores and members -------------------------------------------------------------

void Simulation::run(const std::function<void(uint32_t member)>& body) {
  body_ = &body;
  done_ = 0;
  for (const auto& member : members_) {
    member->is_done = member->is_waiting = false;
    member->laps_ns.clear();
    ::getcontext(&member->context);
    member->context.uc_stack.ss_sp = member->stack.get();
    member->context.uc_stack.ss_size = kStackBytes;
    member->context.uc_link = nullptr;
    const auto self = reinterpret_cast<uintptr_t>(this);
    ::makecontext(&member->context, reinterpret_cast<void (*)()>(&Simulation::enter), 2,
                  static_cast<uint32_t>(self), static_cast<uint32_t>(self >> 32));
    cores_[member->core].members.push_back(member.get());
  }
  for (uint32_t core = 0; core < cores(); ++core) put_back(core);
  while (!order_.empty()) run_next();
  if (done_ != members_.size()) throw std::runtime_error("the members wait for each other");
}

void Simulation::enter(uint32_t self_low, uint32_t self_high) {
  auto& self = *reinterpret_cast<Simulation*>(uint64_t{self_high} << 32 | self_low);
  current_ = &self;
  (*self.body_)(self.running_->number);
  current_ = nullptr;
  self.leave(Why::kDone);
}

void Simulation::warm_up(uint32_t member, const std::function<void()>& act) {
  running_ = members_[member].get();
  is_warming_up_ = true;
  current_ = this;
  act();
  current_ = nullptr;
  is_warming_up_ = false;
}

void Simulation::put_back(uint32_t core) {
  if (!cores_[core].members.empty()) order_.insert({cores_[core].now_ns, core});
}

// Runs the first member of the earliest core until it has to wait for others.
void Simulation::run_next() {
  const uint32_t number = order_.begin()->second;
  order_.erase(order_.begin());
  Core& core = cores_[number];
  running_ = core.members.front();
  ::swapcontext(&scheduler_, &running_->context);
  switch (why_) {
    case Why::kOthersFirst:
      break;
    case Why::kYield:
      core.now_ns += machine().yield_ns;
      core.members.push_back(core.members.front());
      core.members.pop_front();
      break;
    case Why::kDone:
      ++done_;
      running_->is_done = true;
      [[fallthrough]];
    case Why::kWait:
      core.members.pop_front();
      break;
  }
  put_back(number);
}

void Simulation::leave(Why why) {
  why_ = why;
  ::swapcontext(&running_->context, &scheduler_);
}

void Simulation::let_others_catch_up() {
  if (!is_warming_up_ && !order_.empty() && order_.begin()->first < core().now_ns)
    leave(Why::kOthersFirst);
}

void Simulation::align() {
  const Inside inside(*this);
  drain();
  aligned_.push_back(running_);
  if (aligned_.size() < members_.size()) return leave(Why::kWait);
  double latest_ns = 0;
  for (const Core& one : cores_) latest_ns = std::max(latest_ns, one.now_ns);
  order_.clear();
  for (Core& one : cores_) one.now_ns = latest_ns;
  for (Member* const member : aligned_)
    if (member != running_) cores_[member->core].members.push_back(member);
  for (uint32_t number = 0; number < cores(); ++number)
    if (number != running_->core) put_back(number);
  aligned_.clear();
  leave(Why::kOthersFirst);
}

// ---- accesses -----------------------------------------------------------------------------------

void Simulation::make_room(std::deque<double>& under_way, double most) {
  double& now_ns = core().now_ns;
  for (; !under_way.empty() && static_cast<double>(under_way.size()) > most - 1;
       under_way.pop_front())
    now_ns = std::max(now_ns, under_way.front());
}

void Simulation::drain() {
  Core& one = core();
  one.now_ns = std::max(one.now_ns, one.loaded_ns);
  one.under_way.clear();
}

void Simulation::touch(const void* address, bool stores) {
  let_others_catch_up();
  Core& one = core();
  Line& line = node_.line(address);
  one.now_ns += machine().access_ns;
  if (stores) {
    const Node::Access access = node_.store(running_->core, line, one.now_ns, one.loaded_ns);
    if (!access.is_own) wake_watchers(line);
    return list_step("store", address, access);
  }
  if (running_->looks) watch(line);
  const auto word = reinterpret_cast<uint64_t>(address);
  const bool is_poll = std::exchange(running_->last_word, word) == word &&
                       line.owner != static_cast<int32_t>(running_->core);
  if (is_poll) one.now_ns += kPollNs;
  make_room(one.under_way, machine().outstanding);
  const Node::Access access = node_.load(running_->core, line, one.now_ns);
  list_step("load", address, access);
  if (access.is_own) return;
  one.under_way.push_back(access.done_ns);
  one.last_load_ns = access.done_ns;
  one.loaded_ns = std::max(one.loaded_ns, access.done_ns);
}

uintptr_t Simulation::line_begin(const void* address) const {
  return reinterpret_cast<uintptr_t>(address) / machine().line_bytes * machine().line_bytes;
}

void Simulation::list_step(const char* what, const void* address, const Node::Access& access) {
  if (steps_ == nullptr || access.is_own || running_->number != listed_ || is_warming_up_) return;
  std::fprintf(steps_, "%10.1f %-6s %p until %.1f\n", core().now_ns, what, address, access.done_ns);
}

void Simulation::load(const void* address, size_t bytes) {
  const Inside inside(*this);
  for (uintptr_t at = line_begin(address); at < reinterpret_cast<uintptr_t>(address) + bytes;
       at += machine().line_bytes)
    touch(reinterpret_cast<const void*>(std::max(at, reinterpret_cast<uintptr_t>(address))), false);
}

void Simulation::store(void* address, size_t bytes) {
  const Inside inside(*this);
  for (uintptr_t at = line_begin(address); at < reinterpret_cast<uintptr_t>(address) + bytes;
       at += machine().line_bytes)
    touch(reinterpret_cast<const void*>(at), true);
}

// An atomic change has the line, and all earlier stores are visible, before the code goes on.
void Simulation::update(void* address) {
  const Inside inside(*this);
  let_others_catch_up();
  drain();
  Core& one = core();
  Line& line = node_.line(address);
  one.now_ns += machine().access_ns;
  const Node::Access access = node_.store(running_->core, line, one.now_ns, one.now_ns);
  one.now_ns = std::max(one.now_ns, access.done_ns);
  list_step("update", address, access);
  if (!access.is_own) wake_watchers(line);
}

void Simulation::fence() {
  const Inside inside(*this);
  drain();
  core().now_ns = std::max(core().now_ns, node_.stores_visible_ns(running_->core));
}

// The address of memory that the core has not loaded stands in the line that it has loaded last:
// the first load has to wait for that one, while the core goes on. (Data in that line itself are
// there with it.)
void Simulation::await_address(const void* address) {
  Core& one = core();
  one.address_ns = node_.line(address).cores[running_->core] ? 0 : one.last_load_ns;
}

// One line of a copy.
void Simulation::read(const void* address, double outstanding) {
  Core& one = core();
  make_room(one.under_way, outstanding);
  const Node::Access access =
      node_.load(running_->core, node_.line(address), one.now_ns, one.address_ns);
  list_step("read", address, access);
  if (access.is_own) return;
  one.under_way.push_back(access.done_ns);
  one.last_load_ns = access.done_ns;
  one.loaded_ns = std::max(one.loaded_ns, access.done_ns);
}

void Simulation::write(const void* address, double outstanding) {
  Core& one = core();
  Line& line = node_.line(address);
  make_room(one.stores_under_way, outstanding);
  // A copy asks for the lines of its target in advance, because their addresses are known.
  const Node::Access access = node_.store(running_->core, line, one.now_ns, one.now_ns);
  list_step("write", address, access);
  if (access.is_own) return;
  one.stores_under_way.push_back(access.done_ns);
  wake_watchers(line);
}

// Calls each(offset) for the lines of `bytes` bytes.
template <class Each>
void Simulation::for_each_line(size_t bytes, Each each) {
  const size_t line_bytes = machine().line_bytes;
  for (size_t at = 0; at < bytes; at += line_bytes) {
    if (at % (16 * line_bytes) == 0) let_others_catch_up();
    each(at);
  }
}

void Simulation::copy(void* to, const void* from, size_t bytes) {
  const Inside inside(*this);
  if (bytes == 0) return;
  await_address(from);
  const Outstanding outstanding = outstanding_of(bytes);
  for_each_line(bytes, [&](size_t at) {
    read(static_cast<const std::byte*>(from) + at, outstanding.loads);
    write(static_cast<std::byte*>(to) + at, outstanding.stores);
    core().now_ns += machine().own_stream_ns;
  });
}

void Simulation::reduce(void* to, const void* from, size_t bytes) {
  const Inside inside(*this);
  if (bytes == 0) return;
  await_address(from);
  const Outstanding outstanding = outstanding_of(bytes);
  for_each_line(bytes, [&](size_t at) {
    read(static_cast<const std::byte*>(from) + at, outstanding.loads);
    write(static_cast<std::byte*>(to) + at, outstanding.stores);
    core().now_ns += machine().reduce_ns;
  });
}

// Lines of a copy are neighbours, which the processor fetches in advance: more of them, the longer
// the copy is.
Simulation::Outstanding Simulation::outstanding_of(size_t bytes) const {
  constexpr size_t kShortBytes = 4096;
  if (bytes <= kShortBytes) return {machine().short_outstanding, machine().short_store_outstanding};
  return {machine().stream_outstanding, machine().store_outstanding};
}

double Simulation::now_ns() const {
  return core().now_ns;
}

void Simulation::begin_lap() {
  const Inside inside(*this);
  drain();
  if (steps_ != nullptr && running_->number == listed_) std::fprintf(steps_, "begin\n");
  running_->lap_begin_ns = now_ns();
}

void Simulation::end_lap() {
  const Inside inside(*this);
  drain();
  running_->laps_ns.push_back(now_ns() - running_->lap_begin_ns);
}

double Simulation::lap_ns(uint32_t member) const {
  return members_[member]->laps_ns.back();
}

double Simulation::mean_of_slowest_ns(size_t skipped) const {
  const size_t laps = members_[0]->laps_ns.size();
  double sum_ns = 0;
  for (size_t lap = skipped; lap < laps; ++lap) {
    double slowest_ns = 0;
    for (const auto& member : members_) slowest_ns = std::max(slowest_ns, member->laps_ns[lap]);
    sum_ns += slowest_ns;
  }
  return sum_ns / static_cast<double>(laps - skipped);
}

double Simulation::slowest_of_means_ns(size_t skipped) const {
  double slowest_ns = 0;
  for (const auto& member : members_) {
    const std::vector<double>& laps = member->laps_ns;
    const double sum_ns =
        std::accumulate(laps.begin() + static_cast<ptrdiff_t>(skipped), laps.end(), 0.0);
    slowest_ns = std::max(slowest_ns, sum_ns / static_cast<double>(laps.size() - skipped));
  }
  return slowest_ns;
}

void Simulation::compute(double ns) {
  const Inside inside(*this);
  core().now_ns += ns;
}

// ---- waits --------------------------------------------------------------------------------------

void Simulation::begin_look() {
  const Inside inside(*this);
  running_->looks = true;
  running_->look = ++looks_;
  running_->last_word = 0;
  running_->changed_ns = 0;
}

void Simulation::end_look() {
  const Inside inside(*this);
  running_->looks = false;
}

// Called after a look in vain: yields to the core's next member, or waits until a line changes that
// the look has loaded.
void Simulation::pause() {
  const Inside inside(*this);
  running_->looks = false;
  drain();
  if (is_crowded()) return leave(Why::kYield);
  if (running_->changed_ns != 0) {  // while it looked: its loads under way get the change
    core().now_ns = std::max(core().now_ns, running_->changed_ns);
    return;
  }
  running_->is_waiting = true;
  leave(Why::kWait);
}

void Simulation::watch(Line& line) {
  const std::pair<uint32_t, uint64_t> watcher{running_->number, running_->look};
  auto& watchers = line.watchers;
  if (watchers.size() > 4 * members_.size())  // most of a line that nobody changes are of old looks
    std::erase_if(watchers,
                  [&](const auto& old) { return members_[old.first]->look != old.second; });
  if (watchers.empty() || watchers.back() != watcher) watchers.push_back(watcher);
}

void Simulation::wake_watchers(Line& line) {
  for (const auto& [number, look] : std::exchange(line.watchers, {})) {
    Member& member = *members_[number];
    if (&member == running_ || member.look != look) continue;
    member.changed_ns = line.visible_ns;
    if (!member.is_waiting) continue;
    member.is_waiting = false;
    Core& one = cores_[member.core];
    one.now_ns = std::max(one.now_ns, line.visible_ns) + machine().look_ns;
    one.members.push_back(&member);
    put_back(member.core);
  }
}

}  // namespace nagaya::bench::scale

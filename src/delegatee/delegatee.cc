// SPDX-License-Identifier: BSD-3-Clause
#include "delegatee/delegatee.h"

#include <poll.h>
#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace nagaya::delegatee {
namespace {

constexpr uint64_t kMillisecond = 1'000'000;  // [ns]
// Rounds over the lanes between two polls of the network, which cost far more: the first round
// finds a lone command, the second finds no other, so that the command leaves at once.
constexpr int kLaneRounds = 8;
constexpr size_t kShortBytes = 4096;  // longest short message
// How long the delegatee polls for an answer before it yields to the one thread that waits for it:
// some round trips. A yield and that thread's poll take 2.5 us, by which the answer would be late.
constexpr uint64_t kAnswerSpinNs = 50'000;
constexpr uint32_t kSpinsMissedMax = 10;
// A thread that shares this processor computes if yields to it take a quarter of the time, over
// kComputingWindowNs. It is taken to go on with that for kComputingNs, unless the delegatee is
// woken so many times in a row sooner than kLongAwayNs.
constexpr uint64_t kComputingWindowNs = 2'000'000, kComputingNs = 40'000'000;
constexpr uint32_t kShortSleepsMax = 8;
// If the last round was so many times probe_after_ms ago, this thread has not run meanwhile.
constexpr uint64_t kAwayProbes = 2;
using Table = mailbox::WaitTable;

Options checked(Options options) {
  options.credit_commands = std::clamp<uint32_t>(options.credit_commands, 1, kCreditMaxCommands);
  // The largest record always fits.
  options.credit_bytes = std::clamp<size_t>(
      options.credit_bytes, std::min(options.batch_bytes, kBatchMaxBytes), kCreditMaxBytes);
  options.fail_after_ms = std::max(options.fail_after_ms, options.probe_after_ms);
  return options;
}

double seconds_of(clockid_t clock) {
  timespec time{};
  ::clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

}  // namespace

Delegatee::Delegatee(const Surroundings& node, const Options& options)
    : fabric_(node.fabric),
      nodes_(static_cast<uint32_t>(node.secrets.size())),
      neighbour_((node.self + 1) % nodes_),
      lanes_(node.lanes),
      delivery_(node.delivery),
      bell_(node.bell),
      load_(node.load),
      options_(checked(options)),
      proofs_(node.secrets, node.self, options_.proof_covers_data),
      outbox_(node.fabric, proofs_, nodes_, options_),
      requester_(node.fabric, outbox_, node.lanes, node.delivery, nodes_, options_),
      target_(node.fabric, outbox_, node.regions, node.delivery, nodes_),
      liveness_(nodes_),
      events_(kEvents) {
  requester_.fail(node.self, -EINVAL);  // this node's memory is here: its tasks use it themselves
  now_ns_ = mailbox::Machine::now_ns();
  heard(neighbour_);
}

// ---- the loop ----------------------------------------------------------------------------------

void Delegatee::run() noexcept {
  bell_.own();
  clockid_t clock;
  if (::pthread_getcpuclockid(::pthread_self(), &clock) == 0)
    clock_.store(clock, std::memory_order_relaxed);
  load_.runnable.fetch_add(1, std::memory_order_relaxed);
  while (!is_to_stop()) wait_and_serve();
  // Sends the answers and receipts for which other nodes still wait.
  outbox_.send_patient_too();
  round();
  load_.runnable.fetch_sub(1, std::memory_order_relaxed);
  fail_all(-ESHUTDOWN);
  // The last commands in the lanes fail at once: no more than a lane holds.
  for (int n = 0; n < kLaneRounds && requester_.drain() != 0; ++n) requester_.advance();
  requester_.advance();
  final_seconds_.store(seconds_of(CLOCK_THREAD_CPUTIME_ID), std::memory_order_relaxed);
  clock_.store(kNoClock, std::memory_order_relaxed);
}

// Polls, yields or sleeps until something has moved.
void Delegatee::wait_and_serve() try {
  mailbox::wait([&] { return round() || is_to_stop(); }, Backoff{*this});
  if (std::exchange(has_news_, false)) moved_ns_ = now_ns_;
  if (has_lone_arrival_ && load_.crowded_by_one() && keeps_polling()) answer_after_yield();
  long_yields_ = 0;  // something moved: other threads communicate, and do not only compute
} catch (...) {
  bell_.disarm();  // it may have been about to sleep
  give_up_fabric();
}

bool Delegatee::round() try {
  const uint64_t last_ns = std::exchange(now_ns_, mailbox::Machine::now_ns());
  if (now_ns_ - last_ns > kAwayProbes * options_.probe_after_ms * kMillisecond) forgive_silence();
  // Commands first: a poll of the network costs more, and they would wait for it. Answers to
  // requests that the poll brings leave with the next round, which follows at once.
  bool moved = false;
  bool lanes_are_empty = false;
  for (int n = 0; n < kLaneRounds && !lanes_are_empty; ++n) {
    lanes_are_empty = requester_.drain() == 0;
    moved |= requester_.advance() || !lanes_are_empty;
    has_news_ |= !lanes_are_empty;
  }
  moved |= watch();
  if (now_ns_ - last_eviction_ns_ >= options_.region_idle_ms * kMillisecond) {
    last_eviction_ns_ = now_ns_;
    requester_.evict_unused_regions();
  }
  outbox_.flush(lanes_are_empty, now_ns_);
  batches_.store(outbox_.batches(), std::memory_order_relaxed);  // before answers to them come
  moved |= poll();
  // A task that is woken may take this processor: first the answers, for which others wait.
  if (target_.is_to_wake()) outbox_.send_hasty();
  abandon_ended();  // these tasks' regions have ended before: target_ drops them now
  moved |= target_.advance();
  release_ended();
  return moved;
} catch (...) {
  give_up_fabric();
  return true;
}

// Called after an exception: the fabric is beyond use, or memory has run out. Nothing can be
// trusted to arrive any more, but the tasks are still told.
void Delegatee::give_up_fabric() {
  fabric_is_broken_ = true;
  fail_all(-EIO);
  delivery_.lost(neighbour_, -EIO);
}

bool Delegatee::poll() {
  if (fabric_is_broken_) return false;
  const size_t count = fabric_.poll(events_);
  // Something came for which there is no event: another node reads or writes memory of this one,
  // and each access needs a poll here.
  if (std::exchange(was_woken_by_network_, false) && count == 0) moved_ns_ = now_ns_;
  using Kind = fabric::Event::Kind;
  size_t arrivals = 0, short_messages = 0;
  for (size_t n = 0; n < count; ++n) {
    arrivals += events_[n].kind != Kind::kSent;
    short_messages += events_[n].kind == Kind::kReceived && events_[n].bytes <= kShortBytes;
    handle(events_[n]);
  }
  has_told_ |= arrivals != 0;
  // The end of a transfer is worth a yield if it was the last: its task then has to go on.
  has_lone_arrival_ = arrivals == 1 && (short_messages == 1 || !requester_.has_accepted());
  requester_.flush_counter();
  return count != 0;
}

void Delegatee::handle(const fabric::Event& event) {
  switch (event.kind) {
    case fabric::Event::Kind::kReceived:
      return receive({event.data, event.bytes});
    case fabric::Event::Kind::kSent:
      outbox_.sent(event);
      // Other nodes rely on the records in the batch, and nobody knows whether it arrived.
      if (event.error != 0) fail(event.node, -ECONNRESET);
      return;
    default:
      if (event.error == 0) heard(event.node);
      has_news_ = true;
      if (event.cookie >= OperandReads::kFirstCookie) return target_.read_operands(event);
      requester_.transferred(event);
  }
}

// Handles a message, which any program that reaches this node's endpoint can have sent.
void Delegatee::receive(std::span<const std::byte> message) {
  Node from;
  const Verdict verdict = proofs_.check(message, from);
  if (verdict == Verdict::kRefused) {
    refused_.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  if (requester_.failed(from) != 0) return;
  if (verdict == Verdict::kGap) return fail(from, -ECONNRESET);
  heard(from);
  const auto batch = Batch::parse(message);
  const bool is_sound =
      batch && batch->for_each([&](const Header& header, std::span<const std::byte> payload) {
        return serve(from, header, payload);
      });
  if (!is_sound) fail(from, -EPROTO);
}

// Carries out a record. False: the node has broken the protocol.
bool Delegatee::serve(Node node, const Header& header, std::span<const std::byte> payload) {
  if (header.kind == Kind::kAlive) return true;
  has_news_ |= header.kind != Kind::kProbe;
  if (header.kind == Kind::kAnswer) return requester_.answered(node, header, payload);
  if (header.kind == Kind::kEnded) {
    requester_.forget_region(node, header);
    return true;
  }
  return target_.serve(node, header, payload);
}

// ---- other nodes' failures ---------------------------------------------------------------------

void Delegatee::fail(Node node, int error) {
  if (requester_.failed(node) != 0) return;
  fabric_.give_up(node);
  forget(node, error);
  delivery_.lost(node, error);
}

void Delegatee::forget(Node node, int error) {
  if (requester_.failed(node) != 0) return;
  requester_.fail(node, error);
  target_.forget(node);
  outbox_.forget(node);
}

void Delegatee::fail_all(int error) {
  for (Node node = 0; node < nodes_; ++node) forget(node, error);
}

bool Delegatee::watch() {
  bool moved = false;
  for (const std::vector<Node>* nodes : {&requester_.awaited(), &target_.busy()})
    for (const Node node : *nodes)
      if (awaits(node) && !std::exchange(liveness_[node].is_watched, true)) {
        heard(node);
        liveness_[node].told_ns = now_ns_;
        watched_.push_back(node);
      }
  for (const Node node : watched_) moved |= watch(node);
  if (!liveness_[neighbour_].is_watched) moved |= watch_neighbour();
  std::erase_if(watched_, [&](Node node) {
    liveness_[node].is_watched = awaits(node);
    return !liveness_[node].is_watched;
  });
  return moved;
}

uint64_t Delegatee::Liveness::due_ns(const Options& options) const {
  return probed_ns == 0
             ? heard_ns + options.probe_after_ms * kMillisecond
             : probed_ns + (options.fail_after_ms - options.probe_after_ms) * kMillisecond;
}

// Watches an awaited node. True: the node was given up, and lanes that were left alone because of
// it can go on.
bool Delegatee::watch(Node node) {
  if (!awaits(node)) return false;
  tell(node);
  return now_ns_ >= liveness_[node].due_ns(options_) && probe_or_give_up(node);
}

// Tells the node that this one lives, every probe_after_ms. Data that this node reads from it may
// keep its batches, and so its probe, from leaving: without this it would hear nothing.
void Delegatee::tell(Node node) {
  Liveness& peer = liveness_[node];
  if (now_ns_ - peer.told_ns < options_.probe_after_ms * kMillisecond) return;
  peer.told_ns = now_ns_;
  Header alive{};
  alive.kind = Kind::kAlive;
  outbox_.append(node, alive);  // no room: batches are in flight, and tell it, too
}

// Watches the neighbour while no command waits for it: a waiting task may wait for a message of any
// node.
bool Delegatee::watch_neighbour() {
  const Liveness& peer = liveness_[neighbour_];
  if (requester_.failed(neighbour_) != 0 || now_ns_ < peer.due_ns(options_)) return false;
  if (peer.probed_ns != 0 || somebody_waits()) return probe_or_give_up(neighbour_);
  heard(neighbour_);
  return false;
}

// Restarts all deadlines: this node was suspended, perhaps together with the others, and nobody has
// had time to answer.
void Delegatee::forgive_silence() {
  for (const Node node : watched_) heard(node);
  heard(neighbour_);
}

bool Delegatee::probe_or_give_up(Node node) {
  Liveness& peer = liveness_[node];
  if (peer.probed_ns != 0) {
    // This thread may not have run for long: one more poll looks for the node's answer.
    const bool is_over = std::exchange(peer.is_overdue, true);
    if (is_over) fail(node, -EHOSTUNREACH);
    return is_over;
  }
  Header probe{};
  probe.kind = Kind::kProbe;
  outbox_.append(node, probe);  // no room: its batches are stuck, and are probes enough
  peer.probed_ns = now_ns_;
  return false;
}

// ---- waiting -----------------------------------------------------------------------------------

// Lets the receiver of a message, or of the data that it waits for, run before the next poll. Not
// called with more runnable tasks: they would all run first, while messages to others wait.
void Delegatee::answer_after_yield() {
  outbox_.flush(true, now_ns_);
  yield();
}

void Delegatee::yield() {
  if (was_last_yield_long_) {  // this yield may take long, too: send everything before it
    outbox_.send_patient_too();
    outbox_.flush(true, now_ns_);
  }
  ::sched_yield();
  has_told_ = false;
  // A long yield means that other threads, of this job or not, had the processor. A wake-up costs
  // less than such a yield, so that the delegatee sleeps after some of them.
  const uint64_t back_ns = mailbox::Machine::now_ns();
  was_last_yield_long_ = back_ns - now_ns_ > Table::kLongAwayNs;
  const bool is_long = back_ns - now_ns_ > options_.long_yield_ns && !somebody_waits();
  long_yields_ = is_long ? long_yields_ + 1 : 0;
  if (long_yields_ >= Table::kLongYields) crowded_until_ns_ = back_ns + Table::kCrowdedNs;
  notice_computing(back_ns);
}

// Called after a yield. A task that computes beside this thread leaves it the processor only when
// it waits, or after milliseconds. A delegatee that sleeps meanwhile is woken by each message, and
// handles it while the task computes.
void Delegatee::notice_computing(uint64_t back_ns) {
  if (was_last_yield_long_ && load_.crowded_by_one() && !somebody_waits())
    away_ns_ += back_ns - now_ns_;
  if (back_ns - away_since_ns_ < kComputingWindowNs) return;
  if (away_ns_ * 4 > back_ns - away_since_ns_) computing_until_ns_ = back_ns + kComputingNs;
  away_since_ns_ = back_ns;
  away_ns_ = 0;
}

// kAutomatic: polls for a while after something has moved, and longer while a task waits, even
// asleep: else tasks would sleep because answers take long, delegatees because tasks sleep, and
// answers would take long for ever. A task that died as it began to wait may be counted for ever.
bool Delegatee::keeps_polling() const {
  if (options_.notification != Notification::kAutomatic)
    return options_.notification == Notification::kPolling;
  if (now_ns_ < crowded_until_ns_) return false;
  if (now_ns_ < computing_until_ns_ && !somebody_waits()) return false;
  // A wake-up costs little beside a bulk transfer, and interrupts the running tasks: a yield to
  // several tasks returns only after the last of them.
  if (load_.crowded() && !load_.crowded_by_one() &&
      requester_.transferring_bytes() >= options_.bulk_bytes)
    return false;
  const uint64_t still_ns = now_ns_ - moved_ns_;
  return still_ns < Table::kLingerNs || (still_ns < options_.patience_ns && somebody_waits());
}

// Whether to poll again without a yield: an answer is expected, none has come since the last yield,
// and only the thread that waits for it wants this processor, as far as this node knows. If others
// do, the other node's delegatee perhaps, answers come only after a yield: each miss doubles the
// number of windows without a spin.
bool Delegatee::awaits_answer_soon() {
  if (has_told_ || !load_.crowded_by_one() || !requester_.has_accepted()) return false;
  if (std::exchange(spin_window_ns_, moved_ns_) != moved_ns_) {
    if (std::exchange(is_spinning_, spins_to_skip_ == 0)) spins_missed_ = 0;
    if (!is_spinning_) --spins_to_skip_;
  }
  if (is_spinning_ && now_ns_ - moved_ns_ >= kAnswerSpinNs) {
    is_spinning_ = false;
    spins_missed_ = std::min(spins_missed_ + 1, kSpinsMissedMax);
    spins_to_skip_ = uint32_t{1} << spins_missed_;
  }
  return is_spinning_;
}

void Delegatee::Backoff::arm() {
  self.descriptors_.clear();
  self.bell_.arm();
  self.lanes_.before_sleep();
  self.outbox_.send_patient_too();
}

void Delegatee::Backoff::sleep() {
  if (!self.fabric_is_broken_ && !self.fabric_.may_sleep(self.descriptors_)) return;
  self.load_.runnable.fetch_sub(1, std::memory_order_relaxed);
  const uint64_t begin_ns = mailbox::Machine::now_ns();
  mailbox::ThreadBell::sleep(self.descriptors_.data(), self.descriptors_.size(),
                             self.sleep_max_ms());
  const bool is_short = mailbox::Machine::now_ns() - begin_ns < Table::kLongAwayNs;
  self.short_sleeps_ = is_short ? self.short_sleeps_ + 1 : 0;
  if (self.short_sleeps_ >= kShortSleepsMax) self.computing_until_ns_ = 0;
  for (const pollfd& descriptor : self.descriptors_)
    self.was_woken_by_network_ |= descriptor.revents != 0;
  self.load_.runnable.fetch_add(1, std::memory_order_relaxed);
}

int Delegatee::sleep_max_ms() const {
  // Nobody rings when a full mailbox or the fabric has room again.
  if (target_.has_waiting() || requester_.has_unposted() || requester_.was_refused() ||
      outbox_.was_refused())
    return 1;
  if (nodes_ == 1) return -1;
  // Nobody rings when a task begins to wait, either, and the neighbour has to be watched from then
  // on.
  uint64_t soonest_ns = now_ns_ + options_.probe_after_ms * kMillisecond;
  if (requester_.knows_regions())
    soonest_ns = std::min(soonest_ns, last_eviction_ns_ + options_.region_idle_ms * kMillisecond);
  for (const Node node : watched_)
    soonest_ns = std::min({soonest_ns, liveness_[node].due_ns(options_),
                           liveness_[node].told_ns + options_.probe_after_ms * kMillisecond});
  return soonest_ns <= now_ns_ ? 0 : static_cast<int>((soonest_ns - now_ns_) / kMillisecond + 1);
}

// ---- from other threads ------------------------------------------------------------------------

void Delegatee::stop() {
  is_stopped_.store(true, std::memory_order_release);  // pairs with run()
  bell_.ring();
}

void Delegatee::abandon(uint32_t task) {
  {
    const std::lock_guard lock(ended_mutex_);
    ended_.push_back(task);
    has_ended_tasks_.store(true, std::memory_order_release);  // pairs with abandon_ended()
  }
  bell_.ring();
}

void Delegatee::abandon_ended() {
  if (!has_ended_tasks_.load(std::memory_order_acquire)) return;  // pairs with abandon()
  const std::lock_guard lock(ended_mutex_);
  for (const uint32_t task : ended_) requester_.abandon(task);
  releasing_.insert(releasing_.end(), ended_.begin(), ended_.end());
  ended_.clear();
  has_ended_tasks_.store(false, std::memory_order_relaxed);
}

void Delegatee::release_ended() {
  std::erase_if(releasing_, [&](uint32_t task) {
    if (requester_.holds_memory_of(task)) return false;
    delivery_.released(task);
    return true;
  });
}

double Delegatee::processor_seconds() const {
  const clockid_t clock = clock_.load(std::memory_order_relaxed);
  return clock == kNoClock ? final_seconds_.load(std::memory_order_relaxed) : seconds_of(clock);
}

}  // namespace nagaya::delegatee

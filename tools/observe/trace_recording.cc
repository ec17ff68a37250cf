// SPDX-License-Identifier: BSD-3-Clause
#include "observe/trace_recording.h"

#include <fmt/core.h>

#include <algorithm>
#include <thread>

#include "base/printable.h"

namespace nagaya::tools {
namespace {

using Kind = llcl::ActivityEvent::Kind;

// Names a rank in a context.
uint64_t rank_key(const llcl::ActivityEvent& event) {
  return uint64_t{event.context} << 32 | static_cast<uint32_t>(event.source);
}

// Returns a number that only the two ends of one message have in common.
uint64_t identity_of(const llcl::ActivityEvent& event) {
  uint64_t mixed = rank_key(event) * 0x9e3779b97f4a7c15 + event.serial;  // SplitMix64's finaliser
  mixed = (mixed ^ mixed >> 30) * 0xbf58476d1ce4e5b9;
  mixed = (mixed ^ mixed >> 27) * 0x94d049bb133111eb;
  return mixed ^ mixed >> 31;
}

}  // namespace

void Recording::add(const JobSocket& job) {
  known_.insert(job.path);
  Source& source =
      sources_.emplace_back(Source{job, ActivityReader(job.path, llcl::kLog), {}, {}, {}});
  source.tasks.resize(source.reader.activity().capacity);
  for (uint32_t number = 0; number < source.tasks.size(); ++number)
    source.tasks[number].next =
        source.reader.activity().of(number).logged.load(std::memory_order_acquire);
  const int host = job.status.host_pid;
  file_.name_process(host, "job " + job.job);
  for (const task::TaskStatus& task : job.status.tasks) {
    if (task.number >= source.tasks.size()) continue;
    const auto thread = static_cast<uint32_t>(task.pid);
    source.tasks[task.number].pid = thread;
    named_.insert({host, thread});
    file_.name_thread({host, thread}, fmt::format("task {}: {}", task.number, task.command),
                      task.number);
  }
}

bool Recording::has_ended() const {
  return std::all_of(sources_.begin(), sources_.end(),
                     [](const Source& source) { return source.reader.has_ended(); });
}

double Recording::us_since_begin(uint64_t ticks) const {
  return ticks > begin_ticks_ ? static_cast<double>(ticks - begin_ticks_) / ticks_per_us_ : 0;
}

// ---- reading ------------------------------------------------------------------------------------

void Recording::drain() {
  if (ticks_per_us_ == 0) {  // a sleep that is short for people and long for a clock
    constexpr std::chrono::milliseconds kLeast(10);
    std::this_thread::sleep_until(begin_ + kLeast);
    const std::chrono::duration<double, std::micro> past = Clock::now() - begin_;
    ticks_per_us_ = static_cast<double>(arch::ticks() - begin_ticks_) / past.count();
  }
  earlier_.swap(fresh_);
  fresh_.clear();
  for (Source& source : sources_)
    for (uint32_t task = 0; task < source.tasks.size(); ++task) read(source, task);
  for (Source& source : sources_)
    if (std::any_of(fresh_.begin(), fresh_.end(), [&](const Entry& entry) {
          return entry.source == &source && entry.event.kind == Kind::kBegun;
        }))
      ask_for_programs(source);
  for (const Entry& entry : earlier_) write(entry);
}

// Called when tasks have begun: their events have no room for a program's path.
void Recording::ask_for_programs(Source& source) try {
  for (const task::TaskStatus& task : task::query_status(source.job.path).tasks)
    source.programs[static_cast<uint32_t>(task.pid)] = task.command;
} catch (const base::Error&) {
  return;  // the job has ended
}

void Recording::read(Source& source, uint32_t number) {
  Task& task = source.tasks[number];
  const uint64_t lost =
      source.reader.activity().read(number, task.next, [&](const llcl::ActivityEvent& event) {
        if (event.kind == Kind::kSent) source.senders[rank_key(event)] = number;
        if (event.kind == Kind::kEnded) add_pending_wait(source, number, event.begin);
        if (event.kind == Kind::kBegun || event.kind == Kind::kEnded)
          task.has_ended = event.kind == Kind::kEnded;
        fresh_.push_back({&source, number, event});
      });
  if (lost == 0) return;
  lost_ += lost;
  const TraceFile::Track track{source.job.status.host_pid, task.pid};
  file_.add_loss(track, lost, us_since_begin(arch::ticks()));
}

// Adds the wait in which the task is, or in which it has died.
void Recording::add_pending_wait(Source& source, uint32_t number, uint64_t end) {
  const llcl::TaskActivity& task = source.reader.activity().of(number);
  llcl::ActivityEvent event{};
  event.begin = task.waiting_since.load(std::memory_order_relaxed);
  if (event.begin == 0 || event.begin >= end) return;
  const llcl::WaitReason reason{task.waiting_for.load(std::memory_order_relaxed)};
  event.end = end;
  event.kind = Kind::kWaited;
  event.purpose = reason.purpose();
  event.process = reason.whom();
  event.thread = source.tasks[number].pid;
  fresh_.push_back({&source, number, event, false});
}

void Recording::finish() {
  drain();
  const uint64_t now = arch::ticks();
  for (Source& source : sources_)
    for (uint32_t number = 0; number < source.tasks.size(); ++number)
      if (!source.tasks[number].has_ended) add_pending_wait(source, number, now);
  for (const Entry& entry : fresh_) write(entry);
  file_.close(lost_);
}

// ---- writing ------------------------------------------------------------------------------------

TraceFile::Track Recording::track_of(const Entry& entry) {
  const int host = entry.source->job.status.host_pid;
  const Task& task = entry.source->tasks[entry.task];
  const uint32_t thread = entry.event.thread != 0 ? entry.event.thread : task.pid;
  if (named_.insert({host, thread}).second) {
    const auto program = entry.source->programs.find(thread);
    std::string name = fmt::format("task {}", entry.task);
    if (thread != task.pid)
      name += fmt::format(", thread {}", thread);
    else if (program != entry.source->programs.end())
      name += ": " + program->second;
    file_.name_thread({host, thread}, name, entry.task);
  }
  return {host, thread};
}

void Recording::write(const Entry& entry) {
  const llcl::ActivityEvent& event = entry.event;
  if (event.kind == Kind::kBegun) entry.source->tasks[entry.task].pid = event.thread;
  const TraceFile::Track track = track_of(entry);
  switch (event.kind) {
    case Kind::kWaited:
      return write_wait(entry, track);
    case Kind::kSent:
    case Kind::kReceived:
      return write_message(entry, track);
    case Kind::kEnded:
      return file_.add_end(track, us_since_begin(event.begin));
    case Kind::kBegun:
      return;
  }
}

void Recording::write_wait(const Entry& entry, TraceFile::Track track) {
  const llcl::ActivityEvent& event = entry.event;
  std::string whom = text_of(event.process);
  if (whom.empty() && event.purpose == llcl::Purpose::kReceive && entry.is_over)
    whom = entry.source->tasks[entry.task].last_sender;
  const double begin_us = us_since_begin(event.begin);
  file_.add_wait(track, text_of(event.purpose), whom, begin_us,
                 us_since_begin(event.end) - begin_us, entry.is_over);
}

void Recording::write_message(const Entry& entry, TraceFile::Track track) {
  const llcl::ActivityEvent& event = entry.event;
  std::string other = text_of(event.process);
  const bool is_sent = event.kind == Kind::kSent;
  if (!is_sent && other.empty()) {
    const auto sender = entry.source->senders.find(rank_key(event));
    if (sender != entry.source->senders.end()) other = fmt::format("task {}", sender->second);
  }
  if (!is_sent) entry.source->tasks[entry.task].last_sender = other;
  file_.add_message(track, {is_sent, other, identity_of(event), event.bytes, event.tag},
                    us_since_begin(event.begin));
}

}  // namespace nagaya::tools

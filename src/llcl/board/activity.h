// SPDX-License-Identifier: BSD-3-Clause
// activity.h - the counts and the event logs of a node's tasks, which programs outside of the space
// read: `nagaya top`, `nagaya trace`.
//
//   Board.watched: what is read          Board.activity ──► memory file, mapped by readers, too
//   | Activity | counts of task 0 | of task 1 | ... | log of task 0 | log of task 1 | ...
//                                                   | event 0 | event 1 | ... | event 32767 |
//
// The host makes the file for the first reader and maps it for the rest of the space's life.
// `watched` is 0 while nobody reads: then tasks load this one word and write nothing.
//
//   watched   0 -> kCounts, kLog   the host, when a reader connects
//             -> 0                 the host, when the reader's connection ends, for whatever reason
//   counts    written by threads of their task by plain loads and stores (relaxed): two threads
//             that count at once may lose a count. Read by anybody. They grow for ever, through the
//             tasks of their number; a reader takes differences
//   log       event n lies at n % kEvents. Threads of the task write it, one at a time by a lock of
//             the task's own, then store n + 1 in `logged` (release). The log wraps: events that
//             nobody has read are overwritten. A reader loads `logged`, copies events, loads
//             `logged` again, and drops the events that may have been overwritten meanwhile
//
// A reader of the same user could write into the file: then counts and logs are wrong, and no more,
// because tasks use nothing of it as an address. It cannot shorten the file (F_SEAL_SHRINK).
// Death of a task: an event before the store to `logged` does not exist. The host then adds kEnded,
// and the number's next task kBegun. `waiting_since` stays as it was: the task died in that wait.
// Death of the host: readers keep the file.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "mailbox/machine.h"
#include "nagaya/llcl.h"
#include "task/space/space.h"

namespace nagaya::llcl {

// Values of Board.watched: bits.
inline constexpr uint32_t kCounts = 1, kLog = 2;

// The purpose of a wait. The collectives are in the order of nagaya_collective_kind.
enum class Purpose : uint8_t {
  kOther,
  kMessage,  // a send or a receive
  kReceive,
  kSend,
  kRequest,  // the answer of another node
  kWord,     // that others change a word
  kBarrier,
  kBcast,
  kGather,
  kScatter,
  kAllgather,
  kAlltoall,
  kReduce,
  kAllreduce,
  kReduceScatter,
  kScan,
  kExscan,
  kWindow,  // the others' part in an epoch
  kLock,    // of a window
  kArray,   // halos and transfers of arrays
  kJob,     // start and end of communication in the job
};
inline constexpr uint8_t kPurposes = static_cast<uint8_t>(Purpose::kJob) + 1;

// Whether the end of such a wait tells more than its beginning.
inline bool is_general(Purpose purpose) {
  return purpose <= Purpose::kMessage || purpose == Purpose::kRequest;
}

// Another process, in one word: | node, or kHere: 20 bits | task: 12 |
struct OtherProcess {
  static constexpr uint32_t kUnknown = UINT32_MAX, kHere = kUnknown >> task::kTaskNumberBits;

  uint32_t bits = kUnknown;

  static OtherProcess of(nagaya_process process, uint32_t own_node) {
    if (process.task >= task::kTasksMax) return {};
    const uint32_t node = process.node == own_node ? kHere : process.node;
    return {node << task::kTaskNumberBits | process.task};
  }
  bool is_known() const { return bits != kUnknown; }
  bool is_here() const { return node() == kHere; }
  uint32_t node() const { return bits >> task::kTaskNumberBits; }
  uint32_t task() const { return bits & (task::kTasksMax - 1); }
};

struct ActivityEvent {
  enum class Kind : uint8_t {
    kWaited,    // begin, end: of a wait; purpose, process: for whom
    kSent,      // a two-sided message to `process`
    kReceived,  // one that was matched with a receive
    kBegun,     // a task: `thread` is its pid
    kEnded,     // a task
  };

  uint64_t begin;  // [ticks of arch::ticks()], as all times here
  union {
    uint64_t end;
    struct {  // names a message, with `source`
      uint32_t context, serial;
    };
  };
  uint64_t bytes : 48;
  Kind kind : 8;
  Purpose purpose : 8;
  OtherProcess process;
  uint32_t thread;  // gettid(2)
  int32_t source;   // kSent, kReceived: the sender's rank in the context
  int32_t tag;

  using Words = std::array<uint64_t, 5>;
};
static_assert(sizeof(ActivityEvent) == sizeof(ActivityEvent::Words));

// A wait's purpose and the process that it waits for, in one word.
struct WaitReason {
  uint64_t bits = OtherProcess::kUnknown;

  static WaitReason of(Purpose purpose, OtherProcess whom) {
    return {static_cast<uint64_t>(purpose) << 32 | whom.bits};
  }
  Purpose purpose() const { return static_cast<Purpose>(bits >> 32); }
  OtherProcess whom() const { return {static_cast<uint32_t>(bits)}; }
  bool is_known() const { return bits != WaitReason{}.bits; }
};

// One task's counts, and the state of its log.
struct alignas(mailbox::kLineBytes) TaskActivity {
  using Count = std::atomic<uint64_t>;

  // Called by a thread of the task.
  static void add(Count& count, uint64_t by) {
    count.store(count.load(std::memory_order_relaxed) + by, std::memory_order_relaxed);
  }

  Count messages, message_bytes;  // two-sided ones, sent
  Count collectives;              // begun
  Count accesses;                 // to memory of others, by calls of window.h and llcl.h
  Count copied_bytes;             // by the task, for messages, collectives and accesses
  Count waited_ticks;             // by waits that are over
  Count logged;                   // number of events

  alignas(mailbox::kLineBytes) Count waiting_since;  // [ticks]; 0: no thread waits
  Count waiting_for;                                 // WaitReason, of that wait
  std::atomic<uint32_t> owner;                       // mailbox::Owner of the task that wrote last
};

struct Activity {
  static constexpr uint64_t kEvents = 1 << 15;  // of a log
  static constexpr size_t kLogBytes = kEvents * sizeof(ActivityEvent);

  task::Stamp stamp;
  uint32_t capacity;  // tasks

  static constexpr size_t logs_at(uint32_t capacity) {
    constexpr size_t kPage = task::kPageBytes;
    return (kPage + capacity * sizeof(TaskActivity) + kPage - 1) / kPage * kPage;
  }
  static constexpr size_t bytes_for(uint32_t capacity) {
    return logs_at(capacity) + capacity * kLogBytes;
  }
  bool matches(size_t bytes) const {
    return bytes >= sizeof *this && stamp.matches(sizeof *this) && capacity <= task::kTasksMax &&
           bytes >= bytes_for(capacity);
  }

  TaskActivity& of(uint32_t task) { return *at<TaskActivity>(task::kPageBytes, task); }
  const TaskActivity& of(uint32_t task) const { return const_cast<Activity*>(this)->of(task); }

  // Called by one thread at a time for each task: adds an event to the task's log.
  void add(uint32_t task, const ActivityEvent& event) {
    const auto words = __builtin_bit_cast(ActivityEvent::Words, event);
    TaskActivity& own = of(task);
    const uint64_t number = own.logged.load(std::memory_order_relaxed);
    std::atomic<uint64_t>* const slot = slot_of(task, number);
    // The last store to `logged` before the stores to the slot: pairs with the fence in read().
    std::atomic_thread_fence(std::memory_order_release);
    for (size_t n = 0; n < words.size(); ++n) slot[n].store(words[n], std::memory_order_relaxed);
    own.logged.store(number + 1, std::memory_order_release);  // pairs with read()
  }

  // Calls take(event) for the events of the task's log from number `next` on, oldest first. Returns
  // how many the log has lost since; `next` becomes the number of the next event.
  template <class Take>
  uint64_t read(uint32_t task, uint64_t& next, Take take) const {
    const std::atomic<uint64_t>& logged = of(task).logged;
    const uint64_t end = logged.load(std::memory_order_acquire);  // pairs with add()
    uint64_t lost = 0;
    while (next < end) {
      ActivityEvent::Words words;
      const std::atomic<uint64_t>* const slot = slot_of(task, next);
      for (size_t n = 0; n < words.size(); ++n) words[n] = slot[n].load(std::memory_order_relaxed);
      std::atomic_thread_fence(std::memory_order_acquire);
      // The event with number `now` may be half written: it overwrites number now - kEvents.
      const uint64_t now = logged.load(std::memory_order_relaxed);
      if (next + kEvents > now) {
        take(__builtin_bit_cast(ActivityEvent, words));
        ++next;
      } else {
        const uint64_t oldest = now - kEvents + 1 < end ? now - kEvents + 1 : end;
        lost += oldest - next;
        next = oldest;
      }
    }
    return lost;
  }

 private:
  template <class T>
  T* at(size_t offset, uint64_t index) {
    return reinterpret_cast<T*>(reinterpret_cast<std::byte*>(this) + offset) + index;
  }
  std::atomic<uint64_t>* slot_of(uint32_t task, uint64_t number) {
    const uint64_t event = task * kEvents + number % kEvents;
    return at<std::atomic<uint64_t>>(logs_at(capacity), event * ActivityEvent::Words{}.size());
  }
  const std::atomic<uint64_t>* slot_of(uint32_t task, uint64_t number) const {
    return const_cast<Activity*>(this)->slot_of(task, number);
  }
};

}  // namespace nagaya::llcl

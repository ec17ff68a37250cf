// SPDX-License-Identifier: BSD-3-Clause
// foreign_call.h - calls of the MPI beneath that may wait there. Nothing there moves our messages,
// and a peer may wait for them: so the thread says that it is away, and the completer moves them.
//
// A foreign call may lead back to us: MPI_File_write_all calls MPI_Isend, and attributes and error
// handlers are functions of the program. Such a call is a Callback, during which the thread is not
// away.
//
//   program ──► ForeignCall ──► MPI beneath ──► Callback ──► ForeignCall ──► MPI beneath
//                    away                          back           away
//
// A foreign call that the program leaves by longjmp() never ends. The next call of ours finds that
// its own frame is not below that of the foreign call, which is gone, then. (With threads such a
// call stays counted: the completer polls more often than it need.)
#pragma once

#include <nagaya/match.h>

#include <atomic>
#include <utility>

#include "beneath/completer.h"
#include "beneath/turns.h"

namespace nagaya::mpi {

// The foreign calls that are under way in all threads.
class ForeignCalls {
 public:
  // From now on they are counted. `has_threads`: as match and coll are opened. Without threads
  // match and coll may be used by turns only (turns.h); with them the completer uses them at any
  // time. The first one calls on_first().
  static void open(bool has_threads, void (*on_first)()) {
    on_first_ = on_first;
    mode_ = has_threads ? Mode::kThreads : Mode::kTurns;
  }
  static void close() {
    frame_ = nullptr;
    mode_ = Mode::kClosed;
  }

  // Whether the calling thread has to come back before it uses match or coll.
  static bool has_left() { return frame_ != nullptr; }

  // ---- for the completer

  // How many calls have begun. A hint: it misses some of threads that begin at once.
  static uint32_t count() { return count_.load(std::memory_order_relaxed); }
  static bool is_away() {
    return mode_ == Mode::kThreads ? threads_away_.load(std::memory_order_seq_cst) != 0
                                   : turns_.is_away();
  }
  static bool take() { return mode_ == Mode::kThreads ? is_away() : turns_.take(); }
  static void give_back() {
    if (mode_ != Mode::kThreads) turns_.give_back();
  }
  static void begin() { on_first_(); }  // called by the thread of the first one

 private:
  friend class ForeignCall;
  friend class Callback;
  enum class Mode : uint8_t { kClosed, kTurns, kThreads };

  static void count_one() { count_.store(count() + 1, std::memory_order_relaxed); }
  static void leave(const void* frame) {
    frame_ = frame;
    count_one();
    turns_.leave();
    Completer::wake_if_dormant();
  }
  static void come_back() {
    frame_ = nullptr;
    turns_.come_back();
  }

  inline static std::atomic<Mode> mode_ = Mode::kClosed;
  inline static void (*on_first_)() = nullptr;
  inline static std::atomic<uint32_t> count_ = 0;
  inline static Turns turns_;
  inline static const void* frame_ =
      nullptr;  // with turns: of the outermost call that the thread is in
  inline static std::atomic<uint32_t> threads_away_ = 0;  // with threads
};

// While one exists, this thread may wait in the MPI beneath.
class ForeignCall {
 public:
  explicit ForeignCall(const void* frame = __builtin_frame_address(0))
      : mode_(ForeignCalls::mode_.load(std::memory_order_relaxed)) {
    if (mode_ == Mode::kTurns && !ForeignCalls::has_left()) {
      ForeignCalls::leave(frame_ = frame);
    } else if (mode_ == Mode::kThreads) {
      ForeignCalls::count_one();
      ForeignCalls::threads_away_.fetch_add(1, std::memory_order_seq_cst);
      Completer::wake_if_dormant();
    }
  }
  ~ForeignCall() {
    if (mode_ == Mode::kThreads)
      ForeignCalls::threads_away_.fetch_sub(1, std::memory_order_relaxed);
    else if (frame_ != nullptr && ForeignCalls::frame_ == frame_)
      ForeignCalls::come_back();
  }
  ForeignCall(const ForeignCall&) = delete;
  ForeignCall& operator=(const ForeignCall&) = delete;

 private:
  using Mode = ForeignCalls::Mode;
  const Mode mode_;
  const void* frame_ = nullptr;  // set in the call that has left
};

// While one exists, this thread is not away: for functions of ours that the MPI beneath may call.
class Callback {
 public:
  explicit Callback(const void* frame = __builtin_frame_address(0))
      : interrupted_(std::exchange(ForeignCalls::frame_, nullptr)) {
    if (interrupted_ == nullptr) return;
    ForeignCalls::turns_.come_back();
    if (frame >= interrupted_) interrupted_ = nullptr;  // stacks grow downwards
  }
  ~Callback() {
    if (interrupted_ != nullptr && ForeignCalls::mode_ != ForeignCalls::Mode::kClosed)
      ForeignCalls::leave(interrupted_);
  }
  Callback(const Callback&) = delete;
  Callback& operator=(const Callback&) = delete;

 private:
  const void* interrupted_;
};

template <class Function, class... Arguments>
auto call_beneath(Function function, Arguments... arguments) {
  const ForeignCall call;
  return function(arguments...);
}

// A call that does not wait, but that the program may repeat until another process has done
// something, which may need a message of ours.
template <class Function, class... Arguments>
auto poll_beneath(Function function, Arguments... arguments) {
  ::nagaya_match_progress();
  return call_beneath(function, arguments...);
}

}  // namespace nagaya::mpi

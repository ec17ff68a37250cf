// SPDX-License-Identifier: BSD-3-Clause
// images.h - the images of coarrays, and the words by which two of them synchronise.
//
// Each process has a word for every process of the job that counts the calls of xmp_sync_images()
// there which name this process, and kTags words that count posts from there with tags 0 to
// kTags - 1. Other posts are messages (posts.cc). One more word tells whether the process has come
// to the program's end. All words of a process are one region of llcl.
//
// A process that has come to the end waits for the others there, so its memory stays. Others that
// wait for it read its last word from time to time. xmp_sync_all() of all images is a sum of how
// many of them have come to the end; these take part in the sums until all have. That of some
// images is xmp_sync_images() with each of them.
#pragma once

#include <errno.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "faces/xmp/runtime/failure.h"
#include "faces/xmp/runtime/process_set.h"
#include "nagaya/llcl.h"

namespace nagaya::xmp {

// Returns the rank in the job of an image; the program fails if there is none. `what`: names the
// user of the number, for the message.
uint32_t rank_of_image(const char* where, const ProcessSet& set, long image, const char* what);

// Collective, at the program's end: waits until all processes have come to it. Does nothing if the
// program has neither coarrays nor synchronises images.
void end_images(bool has_coarrays);

class ImageWords {
 public:
  static constexpr uint32_t kTags = 16;

  // Collective, at the program's beginning; later calls do nothing.
  static void open(const char* where);
  // The program fails if no unit has opened them.
  static ImageWords& own(const char* where);

  // The words of the caller that count what the process with this rank has done.
  uint64_t& syncs(uint32_t rank) { return words_[rank * kWordsOfRank]; }
  uint64_t& posts(uint32_t rank, uint32_t tag) { return words_[rank * kWordsOfRank + 1 + tag]; }
  // Add 1 to the caller's word at another process, behind all that the caller has stored.
  void add_sync(const char* where, uint32_t rank) { add(where, rank, 0); }
  void add_post(const char* where, uint32_t rank, uint32_t tag) { add(where, rank, 1 + tag); }

  // Calls wait(timeout_ms), which waits for something that the process with this rank does, until
  // that returns another value than -ETIMEDOUT. The program fails if the value is an error. Returns
  // false: the process has come to the program's end and has not done it.
  bool wait_for(const char* where, uint32_t rank, const auto& wait) {
    return wait_until(where, wait, [&] { return has_ended(where, rank); });
  }
  // Calls wait(timeout_ms) like wait_for(), for something that any other process may do. Returns
  // false: all other processes have come to the program's end.
  bool wait_for_any(const char* where, const auto& wait) {
    return wait_until(where, wait, [&] { return have_all_others_ended(where); });
  }
  void set_ended() { __atomic_store_n(&ended(), 1, __ATOMIC_RELEASE); }  // pairs with has_ended()

 private:
  static constexpr uint64_t kWordsOfRank = 1 + kTags;

  bool wait_until(const char* where, const auto& wait, const auto& is_over) {
    constexpr int kPollMs = 500;
    for (bool ends = false;;) {
      const int error = wait(kPollMs);
      if (error != -ETIMEDOUT) return check(where, "a wait for an image", error), true;
      // One more wait after the end: requests from before it may still be under way.
      if (ends) return false;
      ends = is_over();
    }
  }

  explicit ImageWords(const char* where);
  void add(const char* where, uint32_t rank, uint64_t word);
  uint64_t& ended();
  bool has_ended(const char* where, uint32_t rank);
  bool have_all_others_ended(const char* where);
  nagaya_llcl_prepared prepare_addition(const char* where, uint32_t rank, uint64_t word) const;

  struct Free {
    void operator()(uint64_t* words) const;
  };
  std::unique_ptr<uint64_t[], Free> words_;
  std::vector<nagaya_remote> remote_;  // by rank: the words there; empty: the caller is alone
  // The requests that add 1 to the caller's words at others; nullptr: not used yet;
  // empty: none is.
  std::vector<std::unique_ptr<nagaya_llcl_prepared>> additions_;
};

}  // namespace nagaya::xmp

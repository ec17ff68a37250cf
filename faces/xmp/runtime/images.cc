// SPDX-License-Identifier: BSD-3-Clause
// images.cc - synchronisation of images.
#include "faces/xmp/runtime/images.h"

#include <errno.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <new>
#include <string>
#include <utility>

#include "faces/xmp/runtime/executing.h"
#include "faces/xmp/runtime/failure.h"
#include "faces/xmp/runtime/job.h"
#include "faces/xmp/runtime/nodes.h"
#include "faces/xmp/runtime/translated.h"
#include "nagaya/coll.h"
#include "nagaya/comm.h"
#include "nagaya/match.h"
#include "xmp/xmp.h"

namespace nagaya::xmp {
namespace {

ImageWords* the_words = nullptr;
ProcessSet* of_directive = nullptr;  // the set of an image directive before the next call

// Orders the caller's accesses before with those behind. (A put to another machine is complete when
// it returns.)
void fence() {
  std::atomic_thread_fence(std::memory_order_seq_cst);
}

void succeed(int* status) {
  if (status != nullptr) *status = XMP_STAT_SUCCESS;
}

void check(const char* where, const char* what, int error) {
  if (error != 0) fail(where, what + std::string(" has failed: ") + reason_of(error));
}

// Counts the caller's calls that name each process, by rank.
std::vector<uint64_t>& own_syncs() {
  static auto* const all = new std::vector<uint64_t>(Job::own().size());
  return *all;
}

void sync_with(const std::vector<uint32_t>& ranks) {
  ImageWords& words = ImageWords::own("");
  fence();
  for (const uint32_t rank : ranks) {
    ++own_syncs()[rank];
    if (rank != Job::own().rank()) words.add_sync("", rank);
  }
  for (const uint32_t rank : ranks)
    if (rank != Job::own().rank())
      check("", "xmp_sync_images",
            nagaya_llcl_wait_word(&words.syncs(rank), own_syncs()[rank], -1));
  fence();
}

// Returns the set of an image directive, which ends with this call, or the executing nodes.
ProcessSet& take_images() {
  ProcessSet* const set = std::exchange(of_directive, nullptr);
  return set != nullptr ? *set : Executing::now();
}

}  // namespace

uint32_t rank_of_image(const char* where, const ProcessSet& set, long image, const char* what) {
  if (image < 0 || image >= long{set.size()})
    fail(where, what + std::string(": there is no image ") + std::to_string(image) +
                    "; images are 0 to " + std::to_string(set.size() - 1));
  return set.job_rank(static_cast<uint32_t>(image));
}

void ImageWords::Free::operator()(uint64_t* words) const {
  std::free(words);
}

ImageWords::ImageWords(const char* where) {
  const uint32_t size = Job::own().size();
  const uint64_t count = size * kWordsOfRank;
  // calloc() does not touch pages that it gets from the kernel.
  words_.reset(static_cast<uint64_t*>(std::calloc(count, sizeof(uint64_t))));
  if (words_ == nullptr) throw std::bad_alloc();
  if (size == 1) return;
  check(where, "nagaya_match_join", nagaya_match_join(0));  // for posts.cc
  nagaya_remote mine;
  remote_.resize(size);
  check(where, "nagaya_llcl_register",
        nagaya_llcl_register(words_.get(), count * sizeof(uint64_t), &mine));
  check(where, "nagaya_comm_allgather", nagaya_comm_allgather(&mine, sizeof mine, remote_.data()));
}

void ImageWords::open(const char* where) {
  if (the_words == nullptr) the_words = new ImageWords(where);
}

ImageWords& ImageWords::own(const char* where) {
  if (the_words == nullptr)
    fail(where, "images are synchronised by a file that was compiled without xmpcc");
  return *the_words;
}

void ImageWords::add(const char* where, uint32_t rank, uint64_t word) {
  const uint64_t index = Job::own().rank() * kWordsOfRank + word;
  if (remote_.empty()) {
    ++words_[index];
    return;
  }
  nagaya_remote place = remote_[rank];
  place.offset += index * sizeof(uint64_t);
  int error;
  while ((error = nagaya_llcl_try_add_word(&place, 1, {})) == -EAGAIN || error == -ENOBUFS)
    nagaya_llcl_wait([](void*) { return 0; }, nullptr, 0);
  check(where, "nagaya_llcl_try_add_word", error);
}

}  // namespace nagaya::xmp

using nagaya::xmp::ProcessSet;

void nagaya_xmp_use_images(const char* where) {
  nagaya::xmp::Job::own().check_takes_part(where);
  nagaya::xmp::ImageWords::open(where);
}

void nagaya_xmp_image(const nagaya_xmp_nodes* nodes) {
  nagaya::xmp::of_directive = &nodes->set;
}

void xmp_sync_memory(int* status) {
  nagaya::xmp::fence();
  nagaya::xmp::succeed(status);
}

void xmp_sync_all(int* status) {
  using namespace nagaya::xmp;
  ProcessSet& set = take_images();
  fence();
  if (set.size() > 1 && set.has_caller()) {
    nagaya_collective barrier{};
    barrier.kind = NAGAYA_BARRIER;
    check("", "xmp_sync_all", nagaya_coll_run(&set.team(""), &barrier));
  }
  fence();
  succeed(status);
}

void xmp_sync_images(int num, int* image_set, int* status) {
  using namespace nagaya::xmp;
  const ProcessSet& set = take_images();
  std::vector<uint32_t> ranks;
  for (int n = 0; n < num; ++n)
    ranks.push_back(rank_of_image("", set, image_set[n], "xmp_sync_images"));
  // In a ring of two images both neighbours of an image are the same one.
  std::ranges::sort(ranks);
  ranks.erase(std::ranges::unique(ranks).begin(), ranks.end());
  sync_with(ranks);
  succeed(status);
}

void xmp_sync_image(int image, int* status) {
  xmp_sync_images(1, &image, status);
}

void xmp_sync_images_all(int* status) {
  using namespace nagaya::xmp;
  const ProcessSet& set = take_images();
  std::vector<uint32_t> ranks;
  for (uint32_t n = 0; n < set.size(); ++n) ranks.push_back(set.job_rank(n));
  sync_with(ranks);
  succeed(status);
}

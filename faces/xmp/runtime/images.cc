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
nagaya_team* team_of_all = nullptr;  // of sum_of_ended() alone
ProcessSet* of_directive = nullptr;  // the set of an image directive before the next call

// Orders the caller's accesses before with those behind. (A put to another machine is complete when
// it returns.)
void fence() {
  std::atomic_thread_fence(std::memory_order_seq_cst);
}

void succeed(int* status) {
  if (status != nullptr) *status = XMP_STAT_SUCCESS;
}

// Some images that the caller waits for have come to the program's end.
void stop(const char* function, const std::string& images, int* status) {
  if (status == nullptr) fail(nullptr, std::string(function) + ": " + images + " the program");
  *status = XMP_STAT_STOPPED_IMAGE;
}

// Counts the caller's calls that name each process, by rank.
std::vector<uint64_t>& own_syncs() {
  static auto* const all = new std::vector<uint64_t>(Job::own().size());
  return *all;
}

// Collective over all processes: returns how many of them have come to the program's end.
uint64_t sum_of_ended(uint64_t is_ended) {
  constexpr int kHasThreads = 1;
  if (team_of_all == nullptr)
    check(nullptr, "nagaya_coll_open",
          nagaya_coll_open(NAGAYA_TEAMS_XMP | 1, ProcessSet::world().members(), kHasThreads,
                           &team_of_all));
  nagaya_collective sum{};
  sum.kind = NAGAYA_ALLREDUCE;
  sum.send.base = sum.receive.base = &is_ended;
  sum.elements.count = 1;
  sum.elements.extent = sizeof is_ended;
  sum.elements.commutes = 1;
  sum.elements.reduce = [](void*, const void* in, void* inout, size_t) {
    *static_cast<uint64_t*>(inout) += *static_cast<const uint64_t*>(in);
  };
  check(nullptr, "xmp_sync_all", nagaya_coll_run(team_of_all, &sum));
  return is_ended;
}

// Returns the rank of one that has come to the program's end; -1: all have synchronised.
int64_t sync_with(const std::vector<uint32_t>& ranks) {
  ImageWords& words = ImageWords::own("");
  fence();
  for (const uint32_t rank : ranks) {
    ++own_syncs()[rank];
    if (rank != Job::own().rank()) words.add_sync("", rank);
  }
  int64_t ended = -1;
  for (const uint32_t rank : ranks) {
    const auto wait = [&](int timeout_ms) {
      return nagaya_llcl_wait_word(&words.syncs(rank), own_syncs()[rank], timeout_ms);
    };
    if (rank != Job::own().rank() && !words.wait_for("", rank, wait)) ended = rank;
  }
  fence();
  return ended;
}

void sync_with(const char* function, const std::vector<uint32_t>& ranks, int* status) {
  const int64_t ended = sync_with(ranks);
  if (ended < 0) return succeed(status);
  stop(function, "image " + std::to_string(ended) + " of the job has ended", status);
}

void sync_with_all(const char* function, const ProcessSet& set, int* status) {
  std::vector<uint32_t> ranks;
  for (uint32_t n = 0; n < set.size(); ++n) ranks.push_back(set.job_rank(n));
  sync_with(function, ranks, status);
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
  const uint64_t count = size * kWordsOfRank + 1;
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

// A notification without data adds 1, and wakes the other process.
nagaya_llcl_prepared ImageWords::prepare_addition(const char* where, uint32_t rank,
                                                  uint64_t word) const {
  nagaya_remote place = remote_[rank];
  place.offset += (Job::own().rank() * kWordsOfRank + word) * sizeof(uint64_t);
  const nagaya_llcl_transfer nothing = {remote_[rank], nullptr, 0, {}};
  nagaya_llcl_prepared addition;
  check(where, "nagaya_llcl_prepare_write_notify",
        nagaya_llcl_prepare_write_notify(&nothing, &place, &addition));
  return addition;
}

void ImageWords::add(const char* where, uint32_t rank, uint64_t word) {
  Job::own().check_takes_part(where);  // a prepared request is not checked in a forked child
  if (remote_.empty()) {
    ++words_[word];
    return;
  }
  additions_.resize(remote_.size() * kWordsOfRank);
  std::unique_ptr<nagaya_llcl_prepared>& addition = additions_[rank * kWordsOfRank + word];
  if (addition == nullptr)
    addition = std::make_unique<nagaya_llcl_prepared>(prepare_addition(where, rank, word));
  int error;
  while ((error = nagaya_llcl_try_start(addition.get())) == -EAGAIN || error == -ENOBUFS)
    nagaya_llcl_wait([](void*) { return 0; }, nullptr, 0);
  check(where, "nagaya_llcl_try_start", error);
}

uint64_t& ImageWords::ended() {
  return words_[Job::own().size() * kWordsOfRank];
}

bool ImageWords::has_ended(const char* where, uint32_t rank) {
  uint64_t word = 0;
  uint32_t is_read = 0;
  nagaya_remote place = remote_[rank];
  place.offset += static_cast<uint64_t>(&ended() - words_.get()) * sizeof word;
  const nagaya_llcl_transfer read = {place, &word, sizeof word, nagaya_flag(&is_read)};
  int error;
  while ((error = nagaya_llcl_try_read(&read)) == -EAGAIN)
    nagaya_llcl_wait([](void*) { return 0; }, nullptr, 0);
  if (error == 0) error = nagaya_llcl_wait_flag(&is_read, -1);
  check(where, "nagaya_llcl_try_read", error);
  return word != 0;
}

bool ImageWords::have_all_others_ended(const char* where) {
  for (uint32_t rank = 0; rank < Job::own().size(); ++rank)
    if (rank != Job::own().rank() && !has_ended(where, rank)) return false;
  return true;
}

void end_images(bool has_coarrays) {
  if (Job::own().size() == 1 || (!has_coarrays && the_words == nullptr)) return;
  if (the_words != nullptr) the_words->set_ended();
  while (sum_of_ended(1) < Job::own().size()) continue;
  nagaya_coll_wait_close(std::exchange(team_of_all, nullptr));
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
  if (set.size() > 1 && &set != &ProcessSet::world()) {
    if (set.has_caller()) return sync_with_all("xmp_sync_all", set, status);
    return xmp_sync_memory(status);
  }
  fence();
  const uint64_t ended = set.size() > 1 ? sum_of_ended(0) : 0;
  fence();
  if (ended == 0) return succeed(status);
  stop("xmp_sync_all",
       std::to_string(ended) + " of " + std::to_string(set.size()) + " images have ended", status);
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
  sync_with("xmp_sync_images", ranks, status);
}

void xmp_sync_image(int image, int* status) {
  xmp_sync_images(1, &image, status);
}

void xmp_sync_images_all(int* status) {
  nagaya::xmp::sync_with_all("xmp_sync_images_all", nagaya::xmp::take_images(), status);
}

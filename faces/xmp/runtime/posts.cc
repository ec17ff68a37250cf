// SPDX-License-Identifier: BSD-3-Clause
// posts.cc - the directives post and wait. A post with a small tag adds 1 to a word of the node
// that waits (images.h); one with another tag is a message without data, whose envelope tells node
// and tag.

#include <climits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "faces/xmp/runtime/failure.h"
#include "faces/xmp/runtime/images.h"
#include "faces/xmp/runtime/job.h"
#include "faces/xmp/runtime/nodes.h"
#include "faces/xmp/runtime/reference.h"
#include "faces/xmp/runtime/translated.h"
#include "nagaya/match.h"

namespace nagaya::xmp {
namespace {

constexpr uint32_t kTags = ImageWords::kTags;

bool is_small(int tag) {
  return tag >= 0 && tag < static_cast<int>(kTags);
}

// How many posts of each rank and small tag the caller's waits have taken.
uint64_t& taken(uint32_t rank, uint32_t tag) {
  static auto* const all = new std::vector<uint64_t>(size_t{Job::own().size()} * kTags);
  return (*all)[rank * kTags + tag];
}

// The caller's posts with other tags to itself, and how many of each tag no wait has taken.
std::map<int, uint64_t>& own_posts() {
  static auto* const all = new std::map<int, uint64_t>;
  return *all;
}

bool take_own_post(std::map<int, uint64_t>::iterator post) {
  if (post == own_posts().end()) return false;
  if (--post->second == 0) own_posts().erase(post);
  return true;
}

// Takes a post of the caller to itself. Returns false: there is none.
bool take_own(ImageWords& words, int tag) {
  if (!is_small(tag)) return take_own_post(own_posts().find(tag));
  uint64_t& count = taken(Job::own().rank(), static_cast<uint32_t>(tag));
  if (words.posts(Job::own().rank(), static_cast<uint32_t>(tag)) == count) return false;
  ++count;
  return true;
}

// Tags of messages are not negative: the source tells the sign.
int32_t source_of(uint32_t rank, bool is_negative) {
  return static_cast<int32_t>(2 * rank + (is_negative ? 1 : 0));
}

nagaya_envelope envelope_of(uint32_t rank, int tag) {
  return {NAGAYA_CONTEXT_POSTS, source_of(rank, tag < 0), tag & INT_MAX};
}

int is_set(void* flag) {
  return *static_cast<int*>(flag);
}

void post_by_message(const char* where, uint32_t rank, int tag) {
  Job::own().check_takes_part(where);
  if (rank == Job::own().rank()) {
    ++own_posts()[tag];
    return;
  }
  nagaya_send send{};
  send.to = Job::own().process(rank);
  send.envelope = envelope_of(Job::own().rank(), tag);
  check(where, "post", nagaya_match_send(&send));
  nagaya_llcl_wait(is_set, &send.is_complete, -1);
  check(where, "post", send.error);
}

// Waits for a post of one node with one tag. Returns false: the node has come to the program's end.
bool wait_for(const char* where, ImageWords& words, uint32_t rank, int tag) {
  if (is_small(tag)) {
    const auto small = static_cast<uint32_t>(tag);
    const uint64_t wanted = ++taken(rank, small);
    return words.wait_for(where, rank, [&](int timeout_ms) {
      return nagaya_llcl_wait_word(&words.posts(rank, small), wanted, timeout_ms);
    });
  }
  nagaya_receive receive{};
  receive.wanted = envelope_of(rank, tag);
  receive.from = Job::own().process(rank);
  check(where, "wait", nagaya_match_receive(&receive));
  const bool has_come = words.wait_for(where, rank, [&](int timeout_ms) {
    return nagaya_llcl_wait(is_set, &receive.is_complete, timeout_ms);
  });
  if (has_come) check(where, "wait", receive.error);
  return has_come;
}

// A wait for a post of any tag, by one node or by any.
class AnyPost {
 public:
  AnyPost(ImageWords& words, const uint32_t* rank) : words_(words), rank_(rank) {}

  bool take(const char* where) {
    return take_word() || (is_wanted(Job::own().rank()) && take_own_post(own_posts().begin())) ||
           take_message(where);
  }
  bool is_there() {
    return word() != nullptr || (is_wanted(Job::own().rank()) && !own_posts().empty()) ||
           find_message();
  }

 private:
  bool is_wanted(uint32_t rank) const { return rank_ == nullptr || *rank_ == rank; }

  // Returns the count of taken posts of a word that has more; nullptr: there is none.
  uint64_t* word() {
    for (uint32_t of = rank_ == nullptr ? 0 : *rank_; of < Job::own().size() && is_wanted(of); ++of)
      for (uint32_t tag = 0; tag < kTags; ++tag)
        // Acquire: pairs with the addition of the post.
        if (__atomic_load_n(&words_.posts(of, tag), __ATOMIC_ACQUIRE) != taken(of, tag))
          return &taken(of, tag);
    return nullptr;
  }
  bool take_word() {
    uint64_t* const found = word();
    if (found != nullptr) ++*found;
    return found != nullptr;
  }
  // Stores the envelope of a message that has arrived in found_.
  bool find_message() {
    if (Job::own().size() == 1) return false;
    nagaya_message_description found;
    for (const bool is_negative : {false, true}) {
      const int32_t source = rank_ == nullptr ? NAGAYA_ANY_SOURCE : source_of(*rank_, is_negative);
      found_ = {NAGAYA_CONTEXT_POSTS, source, NAGAYA_ANY_TAG};
      if (nagaya_match_probe(&found_, &found) == 0) return true;
    }
    return false;
  }
  bool take_message(const char* where) {
    if (!find_message()) return false;
    nagaya_receive receive{};
    receive.wanted = found_;
    receive.from = {UINT32_MAX, UINT32_MAX};
    check(where, "wait", nagaya_match_receive(&receive));
    nagaya_llcl_wait(is_set, &receive.is_complete, -1);
    check(where, "wait", receive.error);
    return true;
  }

  ImageWords& words_;
  const uint32_t* const rank_;
  nagaya_envelope found_{};
};

// Returns the rank of the node that single indexes name; nullopt: the reference is another one, or
// wrong.
std::optional<uint32_t> rank_of_indexes(const nagaya_xmp_on& node) {
  const nagaya_xmp_nodes* const nodes = node.nodes;
  if (nodes == nullptr || static_cast<size_t>(node.dimensions) != nodes->dimensions())
    return std::nullopt;
  uint32_t place = 0;
  for (size_t d = 0; d < nodes->dimensions(); ++d) {
    const nagaya_xmp_subscript& index = node.subscript[d];
    if (index.kind != NAGAYA_XMP_RANGE || index.low != index.high || index.low < 0 ||
        index.low >= long{nodes->extent[d]})
      return std::nullopt;
    place = place * nodes->extent[d] + static_cast<uint32_t>(index.low);
  }
  return &nodes->set == &ProcessSet::world() ? place : nodes->set.job_rank(place);
}

uint32_t one_rank(const char* where, const nagaya_xmp_on& node, const char* what) {
  if (const std::optional<uint32_t> rank = rank_of_indexes(node)) return *rank;
  ProcessSet* const set = set_of(where, node);
  if (set == nullptr || set->size() != 1)
    fail(where, what + std::string(": its node is ") +
                    std::to_string(set == nullptr ? 0 : set->size()) + " nodes: name one of them");
  return set->first_job_rank();
}

}  // namespace
}  // namespace nagaya::xmp

void nagaya_xmp_post(const char* where, const nagaya_xmp_on* node, int tag) {
  using namespace nagaya::xmp;
  const uint32_t rank = one_rank(where, *node, "post");
  if (is_small(tag))
    ImageWords::own(where).add_post(where, rank, static_cast<uint32_t>(tag));
  else
    post_by_message(where, rank, tag);
}

void nagaya_xmp_wait(const char* where, const nagaya_xmp_on* node, const int* tag) {
  using namespace nagaya::xmp;
  ImageWords& words = ImageWords::own(where);
  const uint32_t rank = node == nullptr ? 0 : one_rank(where, *node, "wait");
  const bool is_own = Job::own().size() == 1 || (node != nullptr && rank == Job::own().rank());
  bool has_come = false;
  if (tag != nullptr) {
    has_come = is_own ? take_own(words, *tag) : wait_for(where, words, rank, *tag);
  } else {
    AnyPost wanted(words, node == nullptr ? nullptr : &rank);
    const auto is_there = [](void* any) { return int{static_cast<AnyPost*>(any)->is_there()}; };
    const auto wait = [&](int timeout_ms) {
      return nagaya_llcl_wait(is_there, &wanted, timeout_ms);
    };
    if (!is_own && node == nullptr) words.wait_for_any(where, wait);
    if (!is_own && node != nullptr) words.wait_for(where, rank, wait);
    has_come = wanted.take(where);
  }
  if (has_come) return;
  if (is_own) fail(where, "wait: this node waits for a post of its own, which it has not made");
  const std::string images =
      node == nullptr ? "all other images" : "image " + std::to_string(rank) + " of the job";
  fail(where, "wait: " + images + (node == nullptr ? " have" : " has") + " ended the program");
}

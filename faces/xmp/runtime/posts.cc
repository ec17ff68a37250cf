// SPDX-License-Identifier: BSD-3-Clause
// posts.cc - the directives post and wait. A post with a small tag adds 1 to a word of the node
// that waits (images.h); posts with other tags are messages, which wait there in a table.
#include <errno.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "faces/xmp/runtime/failure.h"
#include "faces/xmp/runtime/images.h"
#include "faces/xmp/runtime/job.h"
#include "faces/xmp/runtime/reference.h"
#include "faces/xmp/runtime/translated.h"
#include "nagaya/match.h"

namespace nagaya::xmp {
namespace {

constexpr uint32_t kTags = ImageWords::kTags;

void check(const char* where, const char* what, int error) {
  if (error != 0) fail(where, what + std::string(" has failed: ") + reason_of(error));
}

// Posts that have come as messages, and that no wait has taken yet: how many of each rank and tag.
class MessagePosts {
 public:
  // Takes the messages that have come.
  void receive() {
    if (Job::own().size() == 1) return;
    const nagaya_envelope wanted = {NAGAYA_CONTEXT_POSTS, NAGAYA_ANY_SOURCE, NAGAYA_ANY_TAG};
    nagaya_message_description found;
    nagaya_message* message = nullptr;
    while (nagaya_match_take(&wanted, &found, &message) == 0) {
      int tag = 0;
      nagaya_receive receive{};
      receive.buffer = &tag;
      receive.capacity = sizeof tag;
      check("", "a post", nagaya_match_receive_taken(message, &receive));
      while (receive.is_complete == 0) nagaya_match_progress();
      check("", "a post", receive.error);
      add(static_cast<uint32_t>(found.envelope.source), tag);
    }
  }
  void add(uint32_t rank, int tag) { ++counts_[{rank, tag}]; }
  // Takes one post of this rank with this tag; a null pointer: any. Returns false: there is none.
  bool take(const uint32_t* rank, const int* tag) {
    for (auto at = counts_.begin(); at != counts_.end(); ++at) {
      if ((rank != nullptr && at->first.first != *rank) ||
          (tag != nullptr && at->first.second != *tag))
        continue;
      if (--at->second == 0) counts_.erase(at);
      return true;
    }
    return false;
  }

 private:
  std::map<std::pair<uint32_t, int>, uint64_t> counts_;
};

MessagePosts& messages() {
  static auto* const all = new MessagePosts;
  return *all;
}

bool is_small(int tag) {
  return tag >= 0 && tag < static_cast<int>(kTags);
}

// How many posts of each rank and small tag the caller's waits have taken.
uint64_t& taken(uint32_t rank, uint32_t tag) {
  static auto* const all = new std::vector<uint64_t>(size_t{Job::own().size()} * kTags);
  return (*all)[rank * kTags + tag];
}

void post_by_message(const char* where, uint32_t rank, int tag) {
  if (rank == Job::own().rank()) return messages().add(rank, tag);
  const nagaya_envelope envelope = {NAGAYA_CONTEXT_POSTS, static_cast<int32_t>(Job::own().rank()),
                                    0};
  nagaya_send send{};
  send.to = Job::own().process(rank);
  send.envelope = envelope;
  send.data = &tag;
  send.bytes = sizeof tag;
  check(where, "post", nagaya_match_send(&send));
  nagaya_llcl_wait([](void* is_complete) { return *static_cast<int*>(is_complete); },
                   &send.is_complete, -1);
  check(where, "post", send.error);
}

// A wait for a post of any tag, or of any node.
struct AnyPost {
  ImageWords& words;
  const uint32_t* rank;
  const int* tag;

  bool take_word(uint32_t of) const {
    const uint32_t first = tag == nullptr ? 0 : static_cast<uint32_t>(*tag);
    const uint32_t end = tag == nullptr ? kTags : first + 1;
    for (uint32_t n = first; n < end; ++n)
      // Acquire: pairs with the addition of the post.
      if (__atomic_load_n(&words.posts(of, n), __ATOMIC_ACQUIRE) != taken(of, n)) {
        ++taken(of, n);
        return true;
      }
    return false;
  }
  bool take() const {
    if (tag == nullptr || is_small(*tag)) {
      if (rank != nullptr && take_word(*rank)) return true;
      for (uint32_t of = 0; rank == nullptr && of < Job::own().size(); ++of)
        if (take_word(of)) return true;
    }
    messages().receive();
    return messages().take(rank, tag);
  }
};

uint32_t one_rank(const char* where, const nagaya_xmp_on& node, const char* what) {
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
  Job::own().check_takes_part(where);
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
  if (node != nullptr && tag != nullptr && is_small(*tag) && Job::own().size() > 1) {
    const auto small = static_cast<uint32_t>(*tag);
    return check(where, "wait",
                 nagaya_llcl_wait_word(&words.posts(rank, small), ++taken(rank, small), -1));
  }
  AnyPost wanted{words, node == nullptr ? nullptr : &rank, tag};
  if (Job::own().size() == 1) {
    if (!wanted.take()) fail(where, "wait: nobody else is there to post");
    return;
  }
  check(where, "wait",
        nagaya_llcl_wait([](void* any) { return int{static_cast<AnyPost*>(any)->take()}; }, &wanted,
                         -1));
}

// SPDX-License-Identifier: BSD-3-Clause
// index.h - first come, first served among equal envelopes: a hashed index that is threaded through
// its members, so that entering, finding and leaving cost the same with ten members and with ten
// thousand. Private to a task; its owner serialises.
//
//   buckets:  | o | o | o |      a bucket: a ring of members in their order of entering
//               |
//               v
//             member <-> member <-> member
//
// A search steps over members of other envelopes in the same bucket: fewer than one on the average,
// because the number of buckets grows with the members.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>
#include <vector>

#include "match/envelope.h"

namespace nagaya::match {

// The links of one indexed object, embedded in it. The object must not move while it is indexed.
using Member = nagaya_match_member;

// envelope_of(member) returns the member's key, which must not change while it is indexed.
template <const Envelope& (*envelope_of)(const Member&)>
class Index {
 public:
  Index() : buckets_(kBucketsMin) { clear(); }
  Index(const Index&) = delete;
  Index& operator=(const Index&) = delete;

  bool empty() const { return count_ == 0; }

  void enter(Member& member) {
    if (count_ > mask_) grow();
    append(bucket_of(envelope_of(member)), member);
    ++count_;
  }
  void leave(Member& member) {
    member.previous->next = member.next;
    member.next->previous = member.previous;
    --count_;
  }
  // Returns the member of this envelope that entered first, or nullptr.
  Member* first(const Envelope& envelope) {
    return first(envelope, [](const Member&) { return true; });
  }
  // Returns the first-entered member of this envelope for which is_it(member) is true, or nullptr.
  template <class Predicate>
  Member* first(const Envelope& envelope, Predicate is_it) {
    Member& bucket = bucket_of(envelope);
    for (Member* member = bucket.next; member != &bucket; member = member->next)
      if (envelope_of(*member) == envelope && is_it(*member)) return member;
    return nullptr;
  }
  // Calls function(member) for all members. It may let that member leave, and no other.
  template <class Function>
  void for_each(Function function) {
    for_each_in(buckets_, function);
  }

 private:
  static constexpr size_t kBucketsMin = 64;

  template <class Function>
  static void for_each_in(std::vector<Member>& buckets, Function function) {
    for (Member& bucket : buckets)
      for (Member* member = bucket.next; member != &bucket;) {
        Member* const next = member->next;
        function(*member);
        member = next;
      }
  }
  static void append(Member& bucket, Member& member) {
    member.previous = bucket.previous;
    member.next = &bucket;
    bucket.previous->next = &member;
    bucket.previous = &member;
  }
  Member& bucket_of(const Envelope& envelope) {
    // Multiplicative hashing: Knuth, The Art of Computer Programming 3, 6.4.
    constexpr uint64_t kGolden = 0x9e3779b97f4a7c15;
    uint64_t hash = (uint64_t{envelope.context} << 32 | static_cast<uint32_t>(envelope.source));
    hash = (hash * kGolden) ^ static_cast<uint32_t>(envelope.tag);
    return buckets_[(hash * kGolden >> 32) & mask_];
  }
  void clear() {
    for (Member& bucket : buckets_) bucket.previous = bucket.next = &bucket;
  }
  // Doubles the number of buckets; without memory their number stays. Members of one envelope come
  // from one bucket, so their order stays.
  void grow() {
    std::vector<Member> old;
    try {
      old.resize(2 * buckets_.size());
    } catch (const std::bad_alloc&) {
      return;
    }
    old.swap(buckets_);
    mask_ = buckets_.size() - 1;
    clear();
    for_each_in(old, [&](Member& member) { append(bucket_of(envelope_of(member)), member); });
  }

  std::vector<Member> buckets_;
  size_t mask_ = kBucketsMin - 1;  // a power of two, less one
  size_t count_ = 0;
};

}  // namespace nagaya::match

// SPDX-License-Identifier: BSD-3-Clause
// Data that move: the blocks of each member, for all counts of members, sizes and roots.
#include <errno.h>

#include <cstring>

#include "moving.h"

namespace nagaya::coll {
namespace {

constexpr uint32_t kSizes[] = {1, 2, 3, 5, 8, 33};
constexpr size_t kBlockBytes[] = {0, 1, 40, 41, 1000, 4096, 4097, 100'000};

TEST_F(Move, BcastGivesTheRootsBlockToAll) {
  for (const uint32_t size : kSizes) {
    Members members(size);
    for (const size_t bytes : kBlockBytes) {
      const uint32_t root = size / 2;
      begin(members, NAGAYA_BCAST, root);
      for (uint32_t rank = 0; rank < size; ++rank) {
        nagaya_collective& what = all_[rank];
        (rank == root ? what.send : what.receive) = blocks(receive_[rank], bytes, 1);
      }
      fill(receive_[root].data(), bytes, root, 0);
      members.run(all_, random_);
      for (uint32_t rank = 0; rank < size; ++rank)
        EXPECT_TRUE(has(receive_[rank].data(), bytes, root, 0)) << size << " " << bytes;
    }
  }
}

TEST_F(Move, AnExactReceiverOfABcastIsToldOfAShorterBlock) {
  Members members(3);
  for (const size_t bytes : {size_t{8}, size_t{10'000}}) {
    begin(members, NAGAYA_BCAST, 0);
    all_[0].send = blocks(receive_[0], bytes, 1);
    for (uint32_t rank = 1; rank < 3; ++rank)
      all_[rank].receive = blocks(receive_[rank], bytes + 4, 1);
    all_[1].is_exact = 1;
    fill(receive_[0].data(), bytes, 0, 0);
    members.run(all_, random_);
    EXPECT_EQ(all_[1].error, -ENODATA) << bytes;
    EXPECT_EQ(all_[2].error, 0) << bytes;
    for (uint32_t rank = 1; rank < 3; ++rank)
      EXPECT_TRUE(has(receive_[rank].data(), bytes, 0, 0)) << rank << " " << bytes;
  }
}

TEST_F(Move, ExactReceiversOfAScatterAreToldThatItsRootHasNoBlocks) {
  for (const size_t bytes : {size_t{8}, size_t{100'000}}) {
    Members members(3);
    begin(members, NAGAYA_SCATTER, 0);
    for (uint32_t rank = 0; rank < 3; ++rank) {
      all_[rank].receive = blocks(receive_[rank], bytes, 1);
      all_[rank].is_exact = rank != 2;
    }
    members.run(all_, random_);
    EXPECT_EQ(all_[1].error, -ENODATA) << bytes;
    EXPECT_EQ(all_[2].error, 0) << bytes;
  }
}

TEST_F(Move, AnExactRootOfAGatherIsToldOfAShorterBlock) {
  for (const size_t less : {size_t{4}, size_t{99'992}})
    for (const bool is_exact : {false, true})
      for (int n = 0; n < 20; ++n) {
        constexpr size_t kBytes = 100'000;
        Members members(3);
        Bytes gathered;
        begin(members, NAGAYA_GATHER, 0);
        for (uint32_t rank = 0; rank < 3; ++rank) {
          all_[rank].send = blocks(send_[rank], kBytes - (rank == 1 ? less : 0), 1);
          fill(send_[rank].data(), kBytes - (rank == 1 ? less : 0), rank, 0);
        }
        all_[0].receive = blocks(gathered, kBytes, 3);
        all_[0].is_exact = is_exact;
        members.run(all_, random_);
        EXPECT_EQ(all_[0].error, is_exact ? -ENODATA : 0) << less;
        for (uint32_t rank = 0; rank < 3; ++rank)
          EXPECT_TRUE(has(block(gathered, kBytes, rank), kBytes - (rank == 1 ? less : 0), rank, 0))
              << less << " " << rank;
      }
}

TEST_F(Move, ScatterAndGatherAreEachOthersReverse) {
  for (const uint32_t size : kSizes) {
    Members members(size);
    for (const size_t bytes : kBlockBytes) {
      const uint32_t root = size - 1;
      Bytes all;
      begin(members, NAGAYA_SCATTER, root);
      all_[root].send = blocks(all, bytes, size);
      for (uint32_t rank = 0; rank < size; ++rank) {
        fill(block(all, bytes, rank), bytes, root, rank);
        all_[rank].receive = blocks(receive_[rank], bytes, 1);
      }
      members.run(all_, random_);
      for (uint32_t rank = 0; rank < size; ++rank)
        EXPECT_TRUE(has(receive_[rank].data(), bytes, root, rank)) << size << " " << bytes;

      const std::vector<Bytes> parts = receive_;
      Bytes gathered;
      begin(members, NAGAYA_GATHER, root);
      send_ = parts;
      for (uint32_t rank = 0; rank < size; ++rank)
        all_[rank].send = layout::equal_blocks(send_[rank].data(), bytes);
      all_[root].receive = blocks(gathered, bytes, size);
      members.run(all_, random_);
      EXPECT_EQ(gathered, all) << size << " " << bytes;
    }
  }
}

TEST_F(Move, TheRootOfAGatherIsToldOfABlockThatIsTooLong) {
  for (const size_t bytes : {size_t{8}, size_t{100'000}})
    for (int n = 0; n < 20; ++n) {
      Members members(3);
      Bytes gathered;
      begin(members, NAGAYA_GATHER, 0);
      for (uint32_t rank = 0; rank < 3; ++rank) {
        all_[rank].send = blocks(send_[rank], bytes + (rank == 1 ? 4 : 0), 1);
        fill(send_[rank].data(), bytes, rank, 0);
      }
      all_[0].receive = blocks(gathered, bytes, 3);
      members.run(all_, random_);
      EXPECT_EQ(all_[0].error, -EMSGSIZE) << bytes;
      for (uint32_t rank = 0; rank < 3; ++rank)
        EXPECT_TRUE(has(block(gathered, bytes, rank), bytes, rank, 0)) << rank << " " << bytes;
    }
}

TEST_F(Move, AllgatherGivesEachBlockToAllAlsoInPlace) {
  for (const uint32_t size : kSizes) {
    Members members(size);
    for (const size_t bytes : kBlockBytes) {
      if (bytes * size > 1'000'000) continue;
      begin(members, NAGAYA_ALLGATHER, 0);
      for (uint32_t rank = 0; rank < size; ++rank) {
        all_[rank].receive = blocks(receive_[rank], bytes, size);
        const bool is_in_place = rank % 2 == 0;
        std::byte* own = block(receive_[rank], bytes, rank);
        if (!is_in_place) send_[rank].resize(bytes + 1), own = send_[rank].data();
        fill(own, bytes, rank, 0);
        all_[rank].send = layout::equal_blocks(own, bytes);
      }
      members.run(all_, random_);
      for (uint32_t rank = 0; rank < size; ++rank)
        for (uint32_t sender = 0; sender < size; ++sender)
          EXPECT_TRUE(has(block(receive_[rank], bytes, sender), bytes, sender, 0))
              << size << " " << bytes << " " << rank << " " << sender;
    }
  }
}

TEST_F(Move, AlltoallGivesEachItsOwnBlockAlsoInPlace) {
  for (const uint32_t size : kSizes) {
    Members members(size);
    for (const size_t bytes : kBlockBytes)
      for (const bool is_in_place : {false, true}) {
        if (bytes * size > 300'000) continue;
        begin(members, NAGAYA_ALLTOALL, 0);
        for (uint32_t rank = 0; rank < size; ++rank) {
          all_[rank].receive = blocks(receive_[rank], bytes, size);
          Bytes& from = is_in_place ? receive_[rank] : send_[rank];
          all_[rank].send = is_in_place ? all_[rank].receive : blocks(from, bytes, size);
          for (uint32_t receiver = 0; receiver < size; ++receiver)
            fill(block(from, bytes, receiver), bytes, rank, receiver);
        }
        members.run(all_, random_);
        for (uint32_t rank = 0; rank < size; ++rank)
          for (uint32_t sender = 0; sender < size; ++sender)
            EXPECT_TRUE(has(block(receive_[rank], bytes, sender), bytes, sender, rank))
                << size << " " << bytes << " " << rank << " " << sender << is_in_place;
      }
  }
}

class LargeAlltoall : public Move {
 protected:
  // One alltoall. The members describe their blocks in different ways, on which the choice of the
  // algorithm must not depend: with gaps, without gaps, or in a list.
  void exchange(Members& members, size_t bytes, bool in_place) {
    const uint32_t size = members.size();
    begin(members, NAGAYA_ALLTOALL, 0);
    const std::vector<size_t> bytes_of(size, bytes);
    std::vector<ptrdiff_t> offsets;
    for (uint32_t n = 0; n < size; ++n) offsets.push_back(static_cast<ptrdiff_t>(n * (bytes + 8)));
    for (uint32_t rank = 0; rank < size; ++rank) {
      nagaya_collective& what = all_[rank];
      const bool are_together = rank % 3 == 1;
      const auto make = are_together ? blocks_together : blocks;
      what.receive = make(receive_[rank], bytes, size);
      what.send = in_place ? what.receive : make(send_[rank], bytes, size);
      if (rank % 3 == 2)
        what.send = layout::listed_blocks(what.send.base, bytes_of.data(), offsets.data());
      for (uint32_t to = 0; to < size; ++to)
        fill(layout::block_of(what.send, to).data(), bytes, rank, to);
    }
    for (uint32_t rank = 0; rank < size; ++rank)
      ASSERT_STREQ(name_of_algorithm(members, rank), name_of_algorithm(members, 0));
    members.run(all_, random_);
    for (uint32_t rank = 0; rank < size; ++rank)
      for (uint32_t from = 0; from < size; ++from)
        ASSERT_TRUE(has(layout::block_of(all_[rank].receive, from).data(), bytes, from, rank))
            << size << " " << bytes << " " << from << " to " << rank;
  }
  const char* name_of_algorithm(Members& members, uint32_t rank) {
    return algorithm_of(all_[rank], members.team(rank)).name;
  }
};

TEST_F(LargeAlltoall, GoesByGroupsIfBlocksAreShortAlsoInPlace) {
  for (const uint32_t size : {16, 17, 24, 66}) {
    Members members(size, size);
    for (const size_t bytes : {size_t{1}, size_t{2}, size_t{300}})
      for (const bool in_place : {false, true}) {
        exchange(members, bytes, in_place);
        EXPECT_STREQ(name_of_algorithm(members, 0), bytes <= 2 ? "exchange" : "move");
      }
  }
}

TEST_F(LargeAlltoall, GivesEachItsBlocksForRandomSizesOfTeamsAndBlocks) {
  int by_groups = 0;
  for (int team = 0; team < 12; ++team) {
    const auto size = static_cast<uint32_t>(16 + random_() % 100);
    Members members(size, size);
    for (const size_t bytes : {size_t{8}, size_t{1 + random_() % 16}, size_t{1 + random_() % 64}}) {
      exchange(members, bytes, random_() % 2 == 0);
      by_groups += std::strcmp(name_of_algorithm(members, 0), "exchange") == 0;
    }
  }
  EXPECT_GT(by_groups, 12);
}

TEST_F(Move, BlocksMayHaveSizesOfTheirOwn) {
  constexpr uint32_t kSize = 5;
  Members members(kSize);
  for (const size_t unit : {3, 300, 30'000}) {
    const auto bytes_for = [unit](uint32_t sender, uint32_t receiver) {
      return unit * ((sender + 2 * receiver) % 4);
    };
    begin(members, NAGAYA_ALLTOALL, 0);
    std::vector<std::vector<size_t>> sent(kSize), received(kSize);
    std::vector<std::vector<ptrdiff_t>> from(kSize), to(kSize);
    for (uint32_t rank = 0; rank < kSize; ++rank) {
      send_[rank].resize(kSize * 4 * unit);
      receive_[rank].assign(kSize * 4 * unit, std::byte{0xee});
      for (uint32_t other = 0; other < kSize; ++other) {
        sent[rank].push_back(bytes_for(rank, other));
        received[rank].push_back(bytes_for(other, rank));
        from[rank].push_back(static_cast<ptrdiff_t>((kSize - 1 - other) * 4 * unit));
        to[rank].push_back(static_cast<ptrdiff_t>(other * 4 * unit));
        fill(&send_[rank][static_cast<size_t>(from[rank][other])], sent[rank][other], rank, other);
      }
      all_[rank].send =
          layout::listed_blocks(send_[rank].data(), sent[rank].data(), from[rank].data());
      all_[rank].receive =
          layout::listed_blocks(receive_[rank].data(), received[rank].data(), to[rank].data());
    }
    members.run(all_, random_);
    for (uint32_t rank = 0; rank < kSize; ++rank)
      for (uint32_t sender = 0; sender < kSize; ++sender) {
        const std::byte* const at = &receive_[rank][static_cast<size_t>(to[rank][sender])];
        EXPECT_TRUE(has(at, received[rank][sender], sender, rank)) << unit;
        EXPECT_EQ(at[received[rank][sender]], std::byte{0xee});
      }
  }
}

// MPI_BOTTOM: the own block, too, goes to where it belongs.
TEST_F(Move, PlacesMayBeSaidFromAddressZeroOn) {
  constexpr uint32_t kSize = 3;
  Members members(kSize);
  for (const size_t bytes : {100, 10'000}) {
    begin(members, NAGAYA_ALLTOALL, 0);
    const std::vector<size_t> bytes_of(kSize, bytes);
    std::vector<std::vector<ptrdiff_t>> from(kSize), to(kSize);
    for (uint32_t rank = 0; rank < kSize; ++rank) {
      send_[rank].resize(kSize * bytes);
      receive_[rank].assign(kSize * bytes, std::byte{0xee});
      for (uint32_t other = 0; other < kSize; ++other) {
        fill(&send_[rank][other * bytes], bytes, rank, other);
        from[rank].push_back(reinterpret_cast<ptrdiff_t>(&send_[rank][other * bytes]));
        to[rank].push_back(reinterpret_cast<ptrdiff_t>(&receive_[rank][other * bytes]));
      }
      all_[rank].send = layout::listed_blocks(nullptr, bytes_of.data(), from[rank].data());
      all_[rank].receive = layout::listed_blocks(nullptr, bytes_of.data(), to[rank].data());
    }
    members.run(all_, random_);
    for (uint32_t rank = 0; rank < kSize; ++rank)
      for (uint32_t sender = 0; sender < kSize; ++sender)
        EXPECT_TRUE(has(&receive_[rank][sender * bytes], bytes, sender, rank)) << rank << sender;
  }
}

TEST_F(Move, WhatDoesNotFitIsAnErrorOfItsReceiver) {
  Members members(3);
  for (const size_t bytes : {8, 100'000}) {
    begin(members, NAGAYA_BCAST, 0);
    all_[0].send = blocks(send_[0], bytes, 1);
    fill(send_[0].data(), bytes, 0, 0);
    all_[1].receive = blocks(receive_[1], bytes, 1);
    all_[2].receive = blocks(receive_[2], bytes / 2, 1);
    members.run(all_, random_);
    EXPECT_EQ(all_[0].error, 0);
    EXPECT_EQ(all_[1].error, 0);
    EXPECT_EQ(all_[2].error, -EMSGSIZE);
    EXPECT_TRUE(has(receive_[2].data(), bytes / 2, 0, 0));
    EXPECT_EQ(receive_[2][bytes / 2], std::byte{0xee});
  }
}

TEST_F(Move, AReceiverMayStoreByAFunction) {
  Members members(3);
  for (const size_t bytes : {16, 20'000}) {
    begin(members, NAGAYA_GATHER, 1);
    std::vector<Bytes> stored(3);
    for (uint32_t rank = 0; rank < 3; ++rank) {
      all_[rank].send = blocks(send_[rank], bytes, 1);
      fill(send_[rank].data(), bytes, rank, 1);
    }
    all_[1].store = [](void* context, uint32_t rank, const void* data, size_t count) {
      const auto* const first = static_cast<const std::byte*>(data);
      (*static_cast<std::vector<Bytes>*>(context))[rank].assign(first, first + count);
    };
    all_[1].store_context = &stored;
    members.run(all_, random_);
    for (uint32_t rank = 0; rank < 3; ++rank) {
      ASSERT_EQ(stored[rank].size(), bytes) << rank;
      EXPECT_TRUE(has(stored[rank].data(), bytes, rank, 1));
    }
  }
}

}  // namespace
}  // namespace nagaya::coll

// SPDX-License-Identifier: BSD-3-Clause
// Data that move: what each member gets, for all counts of members, sizes and roots.
#include <errno.h>

#include <chrono>

#include "coll/blocks.h"
#include "members.h"

namespace nagaya::coll {
namespace {

using Bytes = std::vector<std::byte>;

constexpr uint32_t kSizes[] = {1, 2, 3, 5, 8, 33};
constexpr size_t kBlockBytes[] = {0, 1, 40, 41, 1000, 4096, 4097, 100'000};

// What `giver` has for `taker`, different in each byte.
std::byte given(uint32_t giver, uint32_t taker, size_t n) {
  return static_cast<std::byte>(giver * 31 + taker * 7 + n * 13 + n / 256);
}
void fill(std::byte* to, size_t bytes, uint32_t giver, uint32_t taker) {
  for (size_t n = 0; n < bytes; ++n) to[n] = given(giver, taker, n);
}
bool has(const std::byte* at, size_t bytes, uint32_t giver, uint32_t taker) {
  for (size_t n = 0; n < bytes; ++n)
    if (at[n] != given(giver, taker, n)) return false;
  return true;
}

class Move : public testing::Test {
 protected:
  void begin(Members& members, nagaya_collective_kind kind, uint32_t root) {
    all_.assign(members.size(), {});
    send_.assign(members.size(), {});
    receive_.assign(members.size(), {});
    for (nagaya_collective& what : all_) what.kind = kind, what.root = root;
  }
  // A block for each of `count`, with gaps between them.
  static nagaya_blocks blocks(Bytes& memory, size_t bytes, uint32_t count) {
    memory.assign((bytes + 8) * count, std::byte{0xee});
    nagaya_blocks made = equal_blocks(memory.data(), bytes);
    made.stride += 8;
    return made;
  }
  std::byte* block(Bytes& memory, size_t bytes, uint32_t n) { return &memory[(bytes + 8) * n]; }

  std::vector<nagaya_collective> all_;
  std::vector<Bytes> send_, receive_;
  std::mt19937 random_{1};
};

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

// Columns of `rows` bytes, and where they begin: that far apart.
nagaya_runs columns(Bytes& memory, size_t rows, size_t count, size_t apart) {
  memory.assign(apart * count, std::byte{0xee});
  return {memory.data(), rows, count, static_cast<ptrdiff_t>(apart)};
}
nagaya_blocks in_runs(const nagaya_runs& columns) {
  return {nullptr, columns.bytes * columns.count, 0, nullptr, nullptr, &columns, nullptr};
}
void fill(const nagaya_runs& columns) {
  for (size_t n = 0; n < columns.count; ++n)
    fill(static_cast<std::byte*>(columns.first) + static_cast<ptrdiff_t>(n) * columns.stride,
         columns.bytes, static_cast<uint32_t>(n), 0);
}
void expect_filled(const nagaya_runs& columns) {
  auto* const first = static_cast<std::byte*>(columns.first);
  for (size_t n = 0; n < columns.count; ++n) {
    std::byte* const column = first + static_cast<ptrdiff_t>(n) * columns.stride;
    EXPECT_TRUE(has(column, columns.bytes, static_cast<uint32_t>(n), 0)) << n;
    for (size_t k = columns.bytes; k < static_cast<size_t>(columns.stride); ++k)
      EXPECT_EQ(column[k], std::byte{0xee});
  }
}

TEST_F(Move, BcastGoesFromColumnsToColumns) {
  for (const uint32_t size : {2u, 5u})
    for (const size_t rows : {1u, 40u, 3000u}) {
      constexpr size_t kColumns = 30;
      Members members(size);
      begin(members, NAGAYA_BCAST, 1);
      std::vector<nagaya_runs> runs(size);
      for (uint32_t rank = 0; rank < size; ++rank) {
        runs[rank] = columns(receive_[rank], rows, kColumns, rows + 1 + rank);
        (rank == 1 ? all_[rank].send : all_[rank].receive) = in_runs(runs[rank]);
      }
      fill(runs[1]);
      members.run(all_, random_);
      for (const nagaya_runs& one : runs) expect_filled(one);
    }
}

// The root's columns are changed before anybody has read them; but one is reading just then.
TEST_F(Move, ARootGetsItsColumnsBackBeforeTheyAreRead) {
  constexpr size_t kRows = 1000, kColumns = 9;
  Members members(3);
  begin(members, NAGAYA_BCAST, 0);
  std::vector<nagaya_runs> runs(3);
  for (uint32_t rank = 0; rank < 3; ++rank) {
    runs[rank] = columns(receive_[rank], kRows, kColumns, kRows + 8);
    (rank == 0 ? all_[rank].send : all_[rank].receive) = in_runs(runs[rank]);
  }
  all_[0].may_detach = 1;
  fill(runs[0]);
  auto root = members.start(0, all_[0]);
  EXPECT_FALSE(root->advance());
  Detachable& word = *root->line(0).direct->detachable;
  EXPECT_EQ(word.begin_reading(), nullptr);
  EXPECT_TRUE(root->detach());
  EXPECT_FALSE(root->is_unread());
  word.end_reading();
  EXPECT_TRUE(root->is_unread());
  std::fill(receive_[0].begin(), receive_[0].end(), std::byte{0x11});
  for (const uint32_t rank : {1u, 2u}) {
    EXPECT_TRUE(members.start(rank, all_[rank])->advance());
    expect_filled(runs[rank]);
  }
  EXPECT_TRUE(root->advance());
  EXPECT_EQ(all_[0].operation, nullptr);
}

TEST_F(Move, ARootMakesNoCopyIfAllHaveBegunToRead) {
  Members members(2);
  Bytes block;
  begin(members, NAGAYA_BCAST, 0);
  all_[0].send = blocks(block, 5000, 1);
  all_[0].may_detach = 1;
  auto root = members.start(0, all_[0]);
  EXPECT_FALSE(root->advance());
  Detachable& word = *root->line(0).direct->detachable;
  EXPECT_EQ(word.begin_reading(), nullptr);
  EXPECT_FALSE(root->detach());
  EXPECT_FALSE(root->is_unread());
  word.end_reading();
  EXPECT_TRUE(root->is_unread());
}

// A reader whose barrier before has not ended tells nobody that it has left the broadcast.
TEST_F(Move, AReaderWakesTheRootThatWaitsForItsBlock) {
  Members members(3);
  const uint32_t task_of_root = members.team(0).group().members()[0];
  nagaya_collective barriers[2] = {}, sent = {}, got = {};
  Bytes from, to;
  sent.kind = got.kind = NAGAYA_BCAST;
  sent.may_detach = 1;
  sent.send = blocks(from, 5000, 1);
  got.receive = blocks(to, 5000, 1);
  std::unique_ptr<Operation> waiting[2];
  for (const uint32_t rank : {0u, 1u}) {
    waiting[rank] = members.start(rank, barriers[rank]);
    EXPECT_FALSE(waiting[rank]->advance());
  }
  auto root = members.start(0, sent);
  EXPECT_FALSE(root->advance());
  llcl::Board& board = members.board();
  mailbox::Doorbell& bell = board.ports[task_of_root].bell();
  const uint32_t armed = bell.arm();
  board.asleep = 1;
  board.sleepers[task_of_root].count = 1;
  EXPECT_TRUE(members.start(1, got)->advance());
  const auto begin = std::chrono::steady_clock::now();
  constexpr std::chrono::nanoseconds kLongest = std::chrono::seconds(5);
  const auto deadline = (begin.time_since_epoch() + kLongest).count();
  bell.sleep(armed, static_cast<uint64_t>(deadline));  // steady_clock is CLOCK_MONOTONIC
  EXPECT_LT(std::chrono::steady_clock::now() - begin, kLongest) << "nobody has rung";
}

// Each of the others gets it in its own way; the root's block is listed or not, and is taken from
// its memory or from the copy that it has left.
TEST_F(Move, ADetachableBlockGoesWhereverItsTakersWantIt) {
  constexpr size_t kBytes = 5000, kAhead = 24;
  const ptrdiff_t ahead = kAhead;
  for (const bool is_listed : {false, true})
    for (const bool is_detached : {false, true}) {
      Members members(3);
      begin(members, NAGAYA_BCAST, 0);
      Bytes from(kAhead + kBytes), stored, listed(kAhead + kBytes);
      fill(from.data() + kAhead, kBytes, 0, 0);
      all_[0].may_detach = 1;
      all_[0].send = equal_blocks(from.data() + kAhead, kBytes);
      if (is_listed) all_[0].send = listed_blocks(from.data(), &kBytes, &ahead);
      all_[1].receive.bytes = kBytes;
      all_[1].store = [](void* context, uint32_t, const void* data, size_t bytes) {
        const auto* const first = static_cast<const std::byte*>(data);
        static_cast<Bytes*>(context)->assign(first, first + bytes);
      };
      all_[1].store_context = &stored;
      all_[2].receive = listed_blocks(listed.data(), &kBytes, &ahead);
      auto root = members.start(0, all_[0]);
      EXPECT_FALSE(root->advance());
      if (is_detached) {
        EXPECT_TRUE(root->detach());
        std::fill(from.begin(), from.end(), std::byte{0x11});
      }
      for (const uint32_t rank : {1u, 2u}) EXPECT_TRUE(members.start(rank, all_[rank])->advance());
      EXPECT_TRUE(root->advance());
      ASSERT_EQ(stored.size(), kBytes) << is_listed << is_detached;
      EXPECT_TRUE(has(stored.data(), kBytes, 0, 0)) << is_listed << is_detached;
      EXPECT_TRUE(has(listed.data() + kAhead, kBytes, 0, 0)) << is_listed << is_detached;
      EXPECT_EQ(all_[1].error, 0);
      EXPECT_EQ(all_[2].error, 0);
    }
}

TEST_F(Move, ColumnsGoToABlockThatIsListed) {
  constexpr size_t kRows = 500, kColumns = 9, kBytes = kRows * kColumns, kAhead = 24;
  const ptrdiff_t ahead = kAhead;
  Members members(2);
  begin(members, NAGAYA_BCAST, 0);
  nagaya_runs runs = columns(send_[0], kRows, kColumns, kRows + 8);
  fill(runs);
  all_[0].send = in_runs(runs);
  receive_[1].resize(kAhead + kBytes);
  all_[1].receive = listed_blocks(receive_[1].data(), &kBytes, &ahead);
  members.run(all_, random_);
  EXPECT_EQ(all_[1].error, 0);
  for (uint32_t n = 0; n < kColumns; ++n)
    EXPECT_TRUE(has(&receive_[1][kAhead + n * kRows], kRows, n, 0)) << n;
}

TEST_F(Move, ARootGetsItsBlockBackWhileItWaitsForALine) {
  constexpr size_t kBytes = 5000, kCount = Part::kDepth + 1;
  Members members(2);
  std::vector<nagaya_collective> sent(kCount), got(kCount);
  std::vector<Bytes> blocks_sent(kCount), blocks_got(kCount);
  std::vector<std::unique_ptr<Operation>> roots;
  for (size_t n = 0; n < kCount; ++n) {
    sent[n].kind = got[n].kind = NAGAYA_BCAST;
    sent[n].may_detach = 1;
    sent[n].send = blocks(blocks_sent[n], kBytes, 1);
    got[n].receive = blocks(blocks_got[n], kBytes, 1);
    fill(blocks_sent[n].data(), kBytes, static_cast<uint32_t>(n), 0);
    roots.push_back(members.start(0, sent[n]));
    EXPECT_FALSE(roots[n]->advance());
    EXPECT_TRUE(roots[n]->detach());
    EXPECT_TRUE(roots[n]->is_unread());
    std::fill(blocks_sent[n].begin(), blocks_sent[n].end(), std::byte{0x11});
  }
  for (size_t n = 0; n < kCount; ++n) {
    const auto receiver = members.start(1, got[n]);
    while (!receiver->advance()) roots.back()->advance();
    EXPECT_TRUE(has(blocks_got[n].data(), kBytes, static_cast<uint32_t>(n), 0)) << n;
    EXPECT_TRUE(n + 1 == kCount || roots[n]->advance());
  }
  while (!roots.back()->advance()) continue;
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
        all_[rank].send = equal_blocks(send_[rank].data(), bytes);
      all_[root].receive = blocks(gathered, bytes, size);
      members.run(all_, random_);
      EXPECT_EQ(gathered, all) << size << " " << bytes;
    }
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
        all_[rank].send = equal_blocks(own, bytes);
      }
      members.run(all_, random_);
      for (uint32_t rank = 0; rank < size; ++rank)
        for (uint32_t giver = 0; giver < size; ++giver)
          EXPECT_TRUE(has(block(receive_[rank], bytes, giver), bytes, giver, 0))
              << size << " " << bytes << " " << rank << " " << giver;
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
          for (uint32_t taker = 0; taker < size; ++taker)
            fill(block(from, bytes, taker), bytes, rank, taker);
        }
        members.run(all_, random_);
        for (uint32_t rank = 0; rank < size; ++rank)
          for (uint32_t giver = 0; giver < size; ++giver)
            EXPECT_TRUE(has(block(receive_[rank], bytes, giver), bytes, giver, rank))
                << size << " " << bytes << " " << rank << " " << giver << is_in_place;
      }
  }
}

TEST_F(Move, BlocksMayHaveSizesOfTheirOwn) {
  constexpr uint32_t kSize = 5;
  Members members(kSize);
  for (const size_t unit : {3, 300, 30'000}) {
    const auto bytes_for = [unit](uint32_t giver, uint32_t taker) {
      return unit * ((giver + 2 * taker) % 4);
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
      all_[rank].send = listed_blocks(send_[rank].data(), sent[rank].data(), from[rank].data());
      all_[rank].receive =
          listed_blocks(receive_[rank].data(), received[rank].data(), to[rank].data());
    }
    members.run(all_, random_);
    for (uint32_t rank = 0; rank < kSize; ++rank)
      for (uint32_t giver = 0; giver < kSize; ++giver) {
        const std::byte* const at = &receive_[rank][static_cast<size_t>(to[rank][giver])];
        EXPECT_TRUE(has(at, received[rank][giver], giver, rank)) << unit;
        EXPECT_EQ(at[received[rank][giver]], std::byte{0xee});
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
      all_[rank].send = listed_blocks(nullptr, bytes_of.data(), from[rank].data());
      all_[rank].receive = listed_blocks(nullptr, bytes_of.data(), to[rank].data());
    }
    members.run(all_, random_);
    for (uint32_t rank = 0; rank < kSize; ++rank)
      for (uint32_t giver = 0; giver < kSize; ++giver)
        EXPECT_TRUE(has(&receive_[rank][giver * bytes], bytes, giver, rank)) << rank << giver;
  }
}

TEST_F(Move, WhatDoesNotFitIsAnErrorOfItsTaker) {
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

// Of a matrix of bytes by rows: `count` columns of rank's block, in runs of one or of `width`
// bytes.
struct Matrix {
  static constexpr size_t kRows = 300;

  Matrix(uint32_t ranks, size_t columns, size_t run) : apart(ranks * columns + 5), run(run) {
    memory.assign(kRows * apart, std::byte{0xee});
    for (size_t column = 0; column < columns; column += run)
      runs.push_back({memory.data() + column, run, kRows, static_cast<ptrdiff_t>(apart)});
  }
  nagaya_blocks blocks(size_t columns) {
    return {memory.data(), kRows * columns, static_cast<ptrdiff_t>(columns), nullptr, nullptr,
            runs.data(),   nullptr};
  }
  // In the order of its runs.
  std::byte& at(uint32_t rank, size_t columns, size_t n) {
    const size_t group = n / (run * kRows), row = n / run % kRows;
    return memory[row * apart + rank * columns + group * run + n % run];
  }

  Bytes memory;
  size_t apart, run;
  std::vector<nagaya_runs> runs;
};

// Each side has its own runs, or is one run.
TEST_F(Move, BlocksInRunsGoToBlocksInOtherRuns) {
  constexpr uint32_t kSize = 3;
  constexpr nagaya_collective_kind kKinds[] = {NAGAYA_GATHER, NAGAYA_SCATTER, NAGAYA_ALLGATHER,
                                               NAGAYA_ALLTOALL};
  Members members(kSize);
  for (const size_t columns : {2u, 12u, 120u})
    for (const auto kind : kKinds) {
      const bool gives_one = kind == NAGAYA_GATHER || kind == NAGAYA_ALLGATHER;
      const bool takes_one = kind == NAGAYA_SCATTER;
      const size_t bytes = Matrix::kRows * columns;
      std::vector<Matrix> from, to;
      begin(members, kind, 1);
      for (uint32_t rank = 0; rank < kSize; ++rank) {
        from.emplace_back(gives_one ? 1 : kSize, columns, rank == 2 ? columns : 1);
        to.emplace_back(takes_one ? 1 : kSize, columns, rank == 0 ? columns : 2);
      }
      for (uint32_t rank = 0; rank < kSize; ++rank) {
        for (uint32_t taker = 0; taker < (gives_one ? 1 : kSize); ++taker)
          for (size_t n = 0; n < bytes; ++n)
            from[rank].at(taker, columns, n) = given(rank, taker, n);
        if (kind != NAGAYA_SCATTER || rank == 1) all_[rank].send = from[rank].blocks(columns);
        if (kind != NAGAYA_GATHER || rank == 1) all_[rank].receive = to[rank].blocks(columns);
      }
      members.run(all_, random_);
      for (uint32_t rank = 0; rank < kSize; ++rank) {
        if (kind == NAGAYA_GATHER && rank != 1) continue;
        for (uint32_t n = 0; n < (takes_one ? 1 : kSize); ++n)
          for (size_t k = 0; k < bytes; ++k)
            ASSERT_EQ(to[rank].at(n, columns, k), given(takes_one ? 1 : n, gives_one ? 0 : rank, k))
                << kind << " " << columns << " " << rank << " " << n << " " << k;
        EXPECT_EQ(to[rank].memory.back(), std::byte{0xee});
      }
    }
}

// Of MPI_Alltoallw: runs and sizes of its own for each block.
TEST_F(Move, EachBlockMayHaveRunsOfItsOwn) {
  constexpr uint32_t kSize = 3;
  Members members(kSize);
  for (const size_t unit : {3u, 3000u}) {
    begin(members, NAGAYA_ALLTOALL, 0);
    std::vector<size_t> bytes_of(kSize, 2 * unit);
    std::vector<ptrdiff_t> offsets(kSize);
    std::vector<nagaya_runs> runs(2 * kSize * kSize);
    std::vector<const nagaya_runs*> runs_of;
    for (uint32_t n = 0; n < kSize; ++n) offsets[n] = static_cast<ptrdiff_t>(n * 4 * unit);
    for (nagaya_runs& one : runs) runs_of.push_back(&one);
    for (uint32_t rank = 0; rank < kSize; ++rank)
      for (Bytes* const memory : {&send_[rank], &receive_[rank]}) {
        const bool is_receive = memory == &receive_[rank];
        const size_t first = (rank * 2 + is_receive) * kSize;
        memory->assign(kSize * 4 * unit, std::byte{0xee});
        nagaya_blocks& blocks = is_receive ? all_[rank].receive : all_[rank].send;
        blocks = listed_blocks(memory->data(), bytes_of.data(), offsets.data());
        blocks.runs_of = &runs_of[first];
        for (uint32_t n = 0; n < kSize; ++n) {  // two runs, `n` units further apart at each
          runs[first + n] = {memory->data(), unit, 2, static_cast<ptrdiff_t>((1 + n) * unit)};
          std::byte* const at = memory->data() + offsets[n];
          for (size_t k = 0; !is_receive && k < 2 * unit; ++k)
            at[k / unit * (1 + n) * unit + k % unit] = given(rank, n, k);
        }
      }
    members.run(all_, random_);
    for (uint32_t rank = 0; rank < kSize; ++rank)
      for (uint32_t giver = 0; giver < kSize; ++giver)
        for (size_t k = 0; k < 2 * unit; ++k)
          ASSERT_EQ(receive_[rank][giver * 4 * unit + k / unit * (1 + giver) * unit + k % unit],
                    given(giver, rank, k))
              << unit << " " << rank << " " << giver << " " << k;
  }
}

TEST_F(Move, ATakerMayStoreByAFunctionWhatItsGiverHasInRuns) {
  constexpr size_t kColumns = 200;
  Members members(2);
  begin(members, NAGAYA_GATHER, 0);
  Matrix from(1, kColumns, 1);
  Bytes stored;
  for (size_t n = 0; n < Matrix::kRows * kColumns; ++n) from.at(0, kColumns, n) = given(1, 0, n);
  all_[1].send = from.blocks(kColumns);
  all_[0].store = [](void* context, uint32_t, const void* data, size_t bytes) {
    const auto* const first = static_cast<const std::byte*>(data);
    static_cast<Bytes*>(context)->assign(first, first + bytes);
  };
  all_[0].store_context = &stored;
  members.run(all_, random_);
  ASSERT_EQ(stored.size(), Matrix::kRows * kColumns);
  EXPECT_TRUE(has(stored.data(), stored.size(), 1, 0));
}

TEST_F(Move, ATakerMayStoreByAFunction) {
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

// SPDX-License-Identifier: BSD-3-Clause
// Blocks in runs of memory, other ones at each member.
#include "moving.h"

namespace nagaya::coll {
namespace {

class Runs : public Move {};

TEST_F(Runs, BcastGoesFromColumnsToColumns) {
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

TEST_F(Runs, ColumnsGoToABlockThatIsListed) {
  constexpr size_t kRows = 500, kColumns = 9, kBytes = kRows * kColumns, kAhead = 24;
  const ptrdiff_t ahead = kAhead;
  Members members(2);
  begin(members, NAGAYA_BCAST, 0);
  nagaya_runs runs = columns(send_[0], kRows, kColumns, kRows + 8);
  fill(runs);
  all_[0].send = in_runs(runs);
  receive_[1].resize(kAhead + kBytes);
  all_[1].receive = layout::listed_blocks(receive_[1].data(), &kBytes, &ahead);
  members.run(all_, random_);
  EXPECT_EQ(all_[1].error, 0);
  for (uint32_t n = 0; n < kColumns; ++n)
    EXPECT_TRUE(has(&receive_[1][kAhead + n * kRows], kRows, n, 0)) << n;
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
TEST_F(Runs, BlocksInRunsGoToBlocksInOtherRuns) {
  constexpr uint32_t kSize = 3;
  constexpr nagaya_collective_kind kKinds[] = {NAGAYA_GATHER, NAGAYA_SCATTER, NAGAYA_ALLGATHER,
                                               NAGAYA_ALLTOALL};
  Members members(kSize);
  for (const size_t columns : {2u, 12u, 120u})
    for (const auto kind : kKinds) {
      const bool sends_one_block = kind == NAGAYA_GATHER || kind == NAGAYA_ALLGATHER;
      const bool receives_one_block = kind == NAGAYA_SCATTER;
      const size_t bytes = Matrix::kRows * columns;
      std::vector<Matrix> from, to;
      begin(members, kind, 1);
      for (uint32_t rank = 0; rank < kSize; ++rank) {
        from.emplace_back(sends_one_block ? 1 : kSize, columns, rank == 2 ? columns : 1);
        to.emplace_back(receives_one_block ? 1 : kSize, columns, rank == 0 ? columns : 2);
      }
      for (uint32_t rank = 0; rank < kSize; ++rank) {
        for (uint32_t receiver = 0; receiver < (sends_one_block ? 1 : kSize); ++receiver)
          for (size_t n = 0; n < bytes; ++n)
            from[rank].at(receiver, columns, n) = sent_byte(rank, receiver, n);
        if (kind != NAGAYA_SCATTER || rank == 1) all_[rank].send = from[rank].blocks(columns);
        if (kind != NAGAYA_GATHER || rank == 1) all_[rank].receive = to[rank].blocks(columns);
      }
      members.run(all_, random_);
      for (uint32_t rank = 0; rank < kSize; ++rank) {
        if (kind == NAGAYA_GATHER && rank != 1) continue;
        for (uint32_t n = 0; n < (receives_one_block ? 1 : kSize); ++n)
          for (size_t k = 0; k < bytes; ++k)
            ASSERT_EQ(to[rank].at(n, columns, k),
                      sent_byte(receives_one_block ? 1 : n, sends_one_block ? 0 : rank, k))
                << kind << " " << columns << " " << rank << " " << n << " " << k;
        EXPECT_EQ(to[rank].memory.back(), std::byte{0xee});
      }
    }
}

// Of MPI_Alltoallw: runs and sizes of its own for each block.
TEST_F(Runs, EachBlockMayHaveRunsOfItsOwn) {
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
        blocks = layout::listed_blocks(memory->data(), bytes_of.data(), offsets.data());
        blocks.runs_of = &runs_of[first];
        for (uint32_t n = 0; n < kSize; ++n) {  // two runs, `n` units further apart at each
          runs[first + n] = {memory->data(), unit, 2, static_cast<ptrdiff_t>((1 + n) * unit)};
          std::byte* const at = memory->data() + offsets[n];
          for (size_t k = 0; !is_receive && k < 2 * unit; ++k)
            at[k / unit * (1 + n) * unit + k % unit] = sent_byte(rank, n, k);
        }
      }
    members.run(all_, random_);
    for (uint32_t rank = 0; rank < kSize; ++rank)
      for (uint32_t sender = 0; sender < kSize; ++sender)
        for (size_t k = 0; k < 2 * unit; ++k)
          ASSERT_EQ(receive_[rank][sender * 4 * unit + k / unit * (1 + sender) * unit + k % unit],
                    sent_byte(sender, rank, k))
              << unit << " " << rank << " " << sender << " " << k;
  }
}

TEST_F(Runs, AReceiverMayStoreByAFunctionWhatItsSenderHasInRuns) {
  constexpr size_t kColumns = 200;
  Members members(2);
  begin(members, NAGAYA_GATHER, 0);
  Matrix from(1, kColumns, 1);
  Bytes stored;
  for (size_t n = 0; n < Matrix::kRows * kColumns; ++n)
    from.at(0, kColumns, n) = sent_byte(1, 0, n);
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

}  // namespace
}  // namespace nagaya::coll

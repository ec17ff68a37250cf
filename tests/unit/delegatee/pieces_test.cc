// SPDX-License-Identifier: BSD-3-Clause
#include <random>

#include "delegatee/fleet.h"
#include "delegatee/variant.h"

namespace nagaya::delegatee {
namespace {

using llcl::Piece;

class Pieces : public ::testing::Test {
 protected:
  explicit Pieces(const Options& options = {})
      : remote(pattern(1 << 17, 1)), local(1 << 17), fleet(2, options) {
    region = fleet[1].regions.add(3, remote.data(), remote.size());
  }
  int run(Op op, const std::vector<Piece>& pieces, uint64_t offset = 0) {
    Flag flag;
    fleet[0].push(0, flagged(of_pieces(op, at(offset), pieces), flag));
    return flag.wait();
  }
  Place at(uint64_t offset) const { return {1, 3, region, offset}; }
  uint64_t here(size_t offset = 0) const {
    return reinterpret_cast<uint64_t>(local.data()) + offset;
  }
  Piece whole(uint64_t bytes) const { return {here(), 0, bytes, 1, 0, 0}; }

  Bytes remote, local;
  Fleet fleet;  // after what it works on
  uint32_t region;
};

TEST_F(Pieces, AColumnOfAMatrixIsOneMessageAndOneAnswer) {
  const std::vector<Piece> column{{here(), 24, 8, 500, 8, 64}};
  Flag flag;
  fleet[0].push(0, flagged(of_pieces(Op::kGetPieces, at(0), column), flag));
  for (int n = 0; n < 4; ++n) fleet.round();
  EXPECT_EQ(flag.now(), 1);
  EXPECT_EQ(fleet[0].delegatee.batches(), 1u);
  EXPECT_EQ(fleet[1].delegatee.batches(), 1u);
  for (size_t row = 0; row < 500; ++row)
    ASSERT_EQ(std::memcmp(&local[8 * row], &remote[24 + 64 * row], 8), 0) << row;
}

TEST_F(Pieces, WithoutAByteAreCompleteAtOnce) {
  fleet.start();
  EXPECT_EQ(run(Op::kGetPieces, {}), 0);
  EXPECT_EQ(run(Op::kPutPieces, {{0, 0, 0, 77, 1, 1}, {0, UINT64_MAX, 8, 0, 1, 1}}), 0);
  EXPECT_EQ(fleet[0].delegatee.batches(), 0u);
}

TEST_F(Pieces, ThatLieNowhereAreAnErrorAndTouchNothing) {
  fleet.start();
  const Bytes before = remote, untouched = local;
  const uint64_t end = remote.size();
  const Piece wrong[] = {
      {here(), end - 7, 8, 1, 0, 0},                        // one block
      {here(), 0, 8, 3, 0, static_cast<int64_t>(end / 2)},  // its last block
      {here(), 8, 8, 3, 0, -8},                             // below the begin
      {here(), UINT64_MAX - 3, 8, 1, 0, 0},                 // the sum leaves 64 bits
      {here(), 0, 8, 3, 0, INT64_MAX},                      // the product does
      {here(), 0, 8, 3, 0, INT64_MIN},
      {0, 0, 8, 1, 0, 0},  // local
      {UINT64_MAX - 3, 0, 8, 1, 0, 0},
      {here(), 0, 8, 3, INT64_MAX, 8},
  };
  for (const Piece& piece : wrong)
    for (const Op op : {Op::kGetPieces, Op::kPutPieces}) {
      EXPECT_EQ(run(op, {{here(), 0, 8, 4, 8, 8}, piece}), -EINVAL) << &piece - wrong;
      EXPECT_EQ(run(op, {{here(), 0, 8, 4, 8, 8}}, UINT64_MAX - 3), -EINVAL);
    }
  EXPECT_TRUE(remote == before);
  EXPECT_TRUE(local == untouched);
}

TEST_F(Pieces, OfAbsurdSizesEndInTheErrorOfWhateverDoesNotExist) {
  // A put reads what its caller claims to have until the target's error is back.
  local.resize(remote.size() + 2 * Options{}.credit_bytes);
  fleet.start();
  for (const Op op : {Op::kGetPieces, Op::kPutPieces}) {
    EXPECT_EQ(run(op, {{here(), 0, UINT64_MAX, 1, 0, 0}}), -EINVAL);
    EXPECT_EQ(run(op, {{here(), 0, UINT64_MAX / 2, UINT64_MAX, 0, 0}}), -EINVAL);
    EXPECT_EQ(run(op, {{here(), 0, 8, UINT64_MAX, 0, 8}}), -EINVAL);
    EXPECT_EQ(run(op, {{here(), 0, 8, uint64_t{1} << 40, 0, 8}}), -EINVAL);
    EXPECT_EQ(run(op, {whole(8)}, uint64_t{1} << 63), -EINVAL);
    Flag nowhere, endless;
    Command command = of_pieces(op, at(0), {});
    command.data.pieces.count = 1;
    fleet[0].push(0, flagged(command, nowhere));
    EXPECT_EQ(nowhere.wait(), -EINVAL);
    command.data.pieces = {here(), UINT64_MAX / 8};
    fleet[0].push(0, flagged(command, endless));
    EXPECT_EQ(endless.wait(), -EINVAL);
  }
}

TEST_F(Pieces, OfAnUnknownOrEndedRegionAreAnError) {
  fleet.start();
  const uint32_t ended = fleet[1].regions.add(3, remote.data(), remote.size());
  fleet[1].regions.end(3, ended);
  for (const Op op : {Op::kGetPieces, Op::kPutPieces})
    for (const uint32_t number : {ended, 9999u}) {
      const Piece piece = whole(100000);  // many records, one error
      Flag flag;
      fleet[0].push(0, flagged(of_pieces(op, {1, 3, number}, {&piece, 1}), flag));
      EXPECT_EQ(flag.wait(), -EINVAL);
    }
}

TEST_F(Pieces, AnErrorInTheMiddleEndsThemOnceEverythingUnderWayIsAnswered) {
  fleet.start();
  EXPECT_EQ(run(Op::kPutPieces, {whole(100000), {0, 0, 8, 1, 0, 0}, whole(50000)}), -EINVAL);
  EXPECT_TRUE(std::equal(local.begin(), local.begin() + 90000, remote.begin()));
  EXPECT_EQ(run(Op::kGetPieces, {whole(50000)}), 0);
}

TEST_F(Pieces, ThatAreEmptyWithoutEndDoNotStopOtherCommands) {
  constexpr size_t kMany = 40'000'000;
  const base::Mapping zeros = base::reserve_memory(kMany * sizeof(Piece), "empty pieces");
  const Command endless =
      of_pieces(Op::kPutPieces, at(0), {reinterpret_cast<const Piece*>(zeros.data()), kMany});
  Flag empty, other;
  fleet[0].push(0, flagged(endless, empty));
  fleet[0].push(1, flagged(transfer(Op::kGet, at(0), local.data(), 8), other));
  for (int n = 0; n < 6; ++n) fleet.round();
  EXPECT_EQ(other.now(), 1);
  EXPECT_EQ(empty.now(), 0);
}

TEST_F(Pieces, ThatTheTaskChangesMeanwhileAreItsErrorAndNotTheNodes) {
  fleet.network.pause_link(0, 1);
  std::vector<Piece> pieces{whole(100)};
  Flag flag;
  fleet[0].push(0, flagged(of_pieces(Op::kGetPieces, at(0), pieces), flag));
  for (int n = 0; n < 4; ++n) fleet.round();
  pieces[0].block_bytes = 99;
  fleet.network.resume_link(0, 1);
  for (int n = 0; n < 4; ++n) fleet.round();
  EXPECT_EQ(flag.now(), -EINVAL);
  EXPECT_TRUE(local == Bytes(local.size()));
  fleet.start();
  EXPECT_EQ(run(Op::kGetPieces, {whole(100)}), 0);
}

TEST_F(Pieces, OfAnEndedTaskLeaveNoTrace) {
  fleet.network.pause_link(0, 1);
  std::vector<Piece> pieces{whole(100000)};
  Flag flag;
  fleet[0].push(3, flagged(of_pieces(Op::kGetPieces, at(0), pieces), flag));
  for (int n = 0; n < 4; ++n) fleet[0].delegatee.round();
  fleet[0].delegatee.abandon(3);
  fleet[0].delegatee.round();
  EXPECT_TRUE(fleet[0].delivery.has_released(3));
  pieces[0].local = 0;
  fleet.network.resume_link(0, 1);
  for (int n = 0; n < 8; ++n) fleet.round();
  EXPECT_EQ(flag.now(), 0);
  EXPECT_TRUE(local == Bytes(local.size()));
  fleet.start();
  EXPECT_EQ(run(Op::kGetPieces, {whole(100)}), 0);
}

// ---- random pieces against a plain model -------------------------------------------------------

// Pieces that do not overlap, in no order, over two memories of equal size.
class RandomPieces {
 public:
  RandomPieces(unsigned seed, size_t memory_bytes) : random_(seed) {
    std::vector<size_t> slices(memory_bytes / kSlice);
    for (size_t n = 0; n < slices.size(); ++n) slices[n] = n * kSlice;
    std::vector<size_t> others = slices;
    std::shuffle(slices.begin(), slices.end(), random_);
    std::shuffle(others.begin(), others.end(), random_);
    for (size_t n = 0; n < slices.size(); ++n) all.push_back(piece(slices[n], others[n]));
  }

  std::vector<Piece> all;  // `local`: from the begin of its memory

 private:
  static constexpr size_t kSlice = 16384;

  uint64_t draw(uint64_t end) { return random_() % end; }
  Piece piece(uint64_t local, uint64_t remote) {
    Piece piece{local, remote, 0, 0, 0, 0};
    if (draw(5) == 0) return piece;
    piece.block_bytes = draw(3) == 0 ? 1 + draw(kSlice) : 1 + draw(64);
    const uint64_t stride_max = kSlice / (1 + draw(200));
    if (stride_max < piece.block_bytes) {
      piece.count = 1;
      return piece;
    }
    piece.count = kSlice / stride_max;
    place(piece.local, piece.local_stride, piece, stride_max);
    place(piece.offset, piece.remote_stride, piece, stride_max);
    return piece;
  }
  void place(uint64_t& first, int64_t& stride, const Piece& piece, uint64_t stride_max) {
    const uint64_t step = piece.block_bytes + draw(stride_max - piece.block_bytes + 1);
    const bool is_downward = draw(2) == 0;
    if (is_downward) first += (piece.count - 1) * step;
    stride = is_downward ? -static_cast<int64_t>(step) : static_cast<int64_t>(step);
  }

  std::mt19937 random_;
};

void copy_pieces(const std::vector<Piece>& pieces, bool is_put, Bytes& local, Bytes& remote) {
  for (const Piece& piece : pieces)
    for (uint64_t n = 0; n < piece.count; ++n)
      for (uint64_t byte = 0; byte < piece.block_bytes; ++byte) {
        const auto block = static_cast<int64_t>(n);
        std::byte& here = local.at(piece.local + block * piece.local_stride + byte);
        std::byte& there = remote.at(piece.offset + block * piece.remote_stride + byte);
        (is_put ? there : here) = is_put ? here : there;
      }
}

class RandomPiecesOver : public ::testing::TestWithParam<unsigned> {};
INSTANTIATE_TEST_SUITE_P(Forty, RandomPiecesOver, ::testing::Range(0u, 40u));

TEST_P(RandomPiecesOver, AnUnkindNetworkMoveWhatAPlainModelMoves) {
  constexpr size_t kBytes = 1 << 18, kBegin = 4096;
  std::mt19937 random(GetParam());
  const auto draw = [&](uint32_t end) { return static_cast<uint32_t>(random() % end); };
  Bytes remote = pattern(kBegin + kBytes, 1);
  const Options options = drawn_options(draw);
  Fleet fleet(2, options, drawn_faults(GetParam() + 1, draw));
  const uint32_t region = fleet[1].regions.add(0, remote.data(), remote.size());
  fleet.start();
  for (const bool is_put : {true, false}) {
    Bytes local = pattern(kBytes, 2 + is_put), local_after = local, window(kBytes);
    std::copy(remote.begin() + kBegin, remote.end(), window.begin());
    std::vector<Piece> pieces = RandomPieces(GetParam() * 2 + is_put, kBytes).all;
    copy_pieces(pieces, is_put, local_after, window);
    for (Piece& piece : pieces) piece.local += reinterpret_cast<uint64_t>(local.data());
    Flag flag;
    const Op op = is_put ? Op::kPutPieces : Op::kGetPieces;
    fleet[0].push(0, flagged(of_pieces(op, {1, 0, region, kBegin}, pieces), flag));
    ASSERT_EQ(flag.wait(), 0);
    EXPECT_TRUE(local == local_after);
    EXPECT_TRUE(std::equal(window.begin(), window.end(), remote.begin() + kBegin));
  }
}

// ---- over both fabrics -------------------------------------------------------------------------

class PiecesOver : public ::testing::TestWithParam<Variant> {};
INSTANTIATE_TEST_SUITE_P(Over, PiecesOver, ::testing::ValuesIn(kVariants), name_of);

TEST_P(PiecesOver, AnyNetworkOfManyCommandsAtOnceArriveWhole) {
  constexpr size_t kBytes = 1 << 18;
  Bytes remote(kBytes), local = pattern(kBytes, 3), expected(kBytes);
  Fleet fleet(GetParam().backend.open(2), {.notification = GetParam().notification});
  const uint32_t region = fleet[1].regions.add(0, remote.data(), remote.size());
  fleet.start();
  std::vector<Piece> pieces = RandomPieces(1, kBytes).all;
  copy_pieces(pieces, true, local, expected);
  uint64_t done = 0;
  for (Piece& piece : pieces) {
    piece.local += reinterpret_cast<uint64_t>(local.data());
    fleet[0].push(piece.offset % 4,
                  counted(of_pieces(Op::kPutPieces, {1, 0, region}, {&piece, 1}), done));
  }
  ASSERT_TRUE(soon([&] { return counts(done).first == pieces.size(); }));
  EXPECT_TRUE(remote == expected);
}

}  // namespace
}  // namespace nagaya::delegatee

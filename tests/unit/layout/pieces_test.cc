// SPDX-License-Identifier: BSD-3-Clause
#include "layout/pieces.h"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

namespace nagaya::layout {
namespace {

struct Shape {
  const char* name;
  uint64_t first, block_bytes, count;
  int64_t stride;
  bool possible;
  uint64_t lowest, bytes;  // of the span
};

constexpr uint64_t kMost = UINT64_MAX;

const Shape kShapes[] = {
    {"one block", 100, 8, 1, 0, true, 100, 8},
    {"one block of any stride", 100, 8, 1, INT64_MIN, true, 100, 8},
    {"a column", 100, 8, 5, 50, true, 100, 208},
    {"upwards", 100, 8, 3, -50, true, 0, 108},
    {"all in one place", 100, 8, 1000, 0, true, 100, 8},
    {"blocks that overlap", 100, 8, 3, 2, true, 100, 12},
    {"no block", 100, 8, 0, 50, true, 100, 0},
    {"empty blocks, nowhere", kMost, 0, 7, INT64_MIN, true, kMost, 0},
    {"down to the first byte", 100, 8, 2, -100, true, 0, 108},
    {"below the first byte", 100, 8, 2, -101, false, 0, 0},
    {"up to the last byte", kMost - 10, 10, 1, 0, true, kMost - 10, 10},
    {"beyond the last byte", kMost - 10, 11, 1, 0, false, 0, 0},
    {"beyond it by a stride", kMost - 10, 2, 2, 10, false, 0, 0},
    {"a huge block", 1, kMost, 1, 0, false, 0, 0},
    {"a huge count", 0, 1, kMost, 2, false, 0, 0},
    {"a product that wraps to 0", 0, 1, (1ull << 62) + 1, 4, false, 0, 0},
    {"the longest stride", 0, 1, 2, INT64_MAX, true, 0, 1ull << 63},
    {"twice the longest stride", 0, 1, 3, INT64_MAX, false, 0, 0},
};

TEST(PiecesTest, ASpanHoldsEveryBlockOrThePieceIsRefused) {
  for (const Shape& shape : kShapes) {
    const Piece piece{shape.first, shape.first,  shape.block_bytes,
                      shape.count, shape.stride, shape.stride};
    for (const bool is_local : {true, false}) {
      Span span{};
      const bool possible = is_local ? local_span(piece, &span) : remote_span(piece, 0, &span);
      EXPECT_EQ(possible, shape.possible) << shape.name;
      if (!possible || !shape.possible) continue;
      EXPECT_EQ(span.first, shape.lowest) << shape.name;
      EXPECT_EQ(span.bytes, shape.bytes) << shape.name;
    }
  }
}

TEST(PiecesTest, ARemoteSpanCountsFromTheRequestsPlace) {
  const Piece piece{0, 100, 8, 2, 0, -50};
  Span span{};
  ASSERT_TRUE(remote_span(piece, 1000, &span));
  EXPECT_EQ(span.first, 1050u);
  EXPECT_EQ(span.bytes, 58u);
  EXPECT_FALSE(remote_span(piece, kMost - 50, &span));
}

class CopyPieceTest : public testing::Test {
 protected:
  CopyPieceTest() {
    std::iota(local_.begin(), local_.end(), uint8_t{1});
    std::iota(region_.begin(), region_.end(), uint8_t{101});
  }
  Piece piece(uint64_t block_bytes, uint64_t count) const {
    // Rows of the local memory from its middle upwards, every third byte of the region.
    return {reinterpret_cast<uint64_t>(local_.data() + 50), 20, block_bytes, count, -10, 3};
  }

  std::vector<uint8_t> local_ = std::vector<uint8_t>(100);
  std::vector<uint8_t> region_ = std::vector<uint8_t>(100);
};

TEST_F(CopyPieceTest, APutMovesBlocksThereAndNothingElse) {
  auto expected = region_;
  for (size_t n = 0; n < 4; ++n)
    for (size_t at = 0; at < 2; ++at) expected[20 + 3 * n + at] = local_[50 - 10 * n + at];
  copy_piece(true, piece(2, 4), reinterpret_cast<std::byte*>(region_.data()));
  EXPECT_EQ(region_, expected);
}

TEST_F(CopyPieceTest, AGetMovesThemHere) {
  auto expected = local_;
  for (size_t n = 0; n < 4; ++n)
    for (size_t at = 0; at < 2; ++at) expected[50 - 10 * n + at] = region_[20 + 3 * n + at];
  copy_piece(false, piece(2, 4), reinterpret_cast<std::byte*>(region_.data()));
  EXPECT_EQ(local_, expected);
}

TEST_F(CopyPieceTest, EmptyBlocksMoveNothingAndAreNotCounted) {
  const auto before = region_;
  copy_piece(true, piece(0, kMost), reinterpret_cast<std::byte*>(region_.data()));
  copy_piece(true, piece(kMost, 0), reinterpret_cast<std::byte*>(region_.data()));
  EXPECT_EQ(region_, before);
}

TEST(PieceCursorTest, PartsTakeWholeBlocksAndPartsOfLongOnes) {
  const Piece piece{1000, 20, 8, 5, 16, 32};
  PieceCursor at{0, 0, 0};
  PiecePart part = cut_part(piece, 100, 20, at);  // two blocks of 8
  EXPECT_EQ(part.offset, 120u);
  EXPECT_EQ(part.bytes, 8u);
  EXPECT_EQ(part.count, 2u);
  EXPECT_EQ(reinterpret_cast<uint64_t>(part.local), 1000u);
  part = cut_part(piece, 100, 5, at);  // the beginning of the third
  EXPECT_EQ(part.offset, 120u + 2 * 32);
  EXPECT_EQ(part.bytes, 5u);
  EXPECT_EQ(part.count, 1u);
  part = cut_part(piece, 100, 100, at);  // its end, before whole ones
  EXPECT_EQ(part.offset, 120u + 2 * 32 + 5);
  EXPECT_EQ(part.bytes, 3u);
  EXPECT_EQ(part.count, 1u);
  part = cut_part(piece, 100, 100, at);
  EXPECT_EQ(part.count, 2u);
  EXPECT_EQ(reinterpret_cast<uint64_t>(part.local), 1000u + 3 * 16);
  EXPECT_EQ(at.piece, 1u);
  EXPECT_EQ(at.block, 0u);
}

TEST(PieceCursorTest, APieceThatTheCursorIsBeyondIsNotSound) {
  const Piece piece{1000, 20, 8, 5, 16, 32}, nowhere{0, 20, 8, 5, 16, 32};
  EXPECT_TRUE(is_sound(piece, 0, {0, 4, 7}));
  EXPECT_FALSE(is_sound(piece, 0, {0, 5, 0}));
  EXPECT_FALSE(is_sound(piece, 0, {0, 4, 8}));
  EXPECT_FALSE(is_sound(piece, UINT64_MAX, {0, 0, 0}));
  EXPECT_FALSE(is_sound(nowhere, 0, {0, 0, 0}));
}

}  // namespace
}  // namespace nagaya::layout

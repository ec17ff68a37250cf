// SPDX-License-Identifier: BSD-3-Clause
// The reads of a pull between nodes. Their data are tested in tests/unit/match.
#include "llcl/requests/pull.h"

#include <gtest/gtest.h>

#include "llcl/own_board.h"

namespace nagaya::llcl {
namespace {

constexpr nagaya_process kElsewhere = {1, 0};
constexpr size_t kReadMostBytes = size_t{32} << 20;

// Another node, whose reads are complete at once and touch no memory.
class Ready final : public RemoteNodes {
 public:
  bool has(nagaya_process process) const override { return process.node == kElsewhere.node; }
  int send(nagaya_process, uint8_t, const std::byte*, size_t, size_t,
           std::atomic<uint32_t>*) override {
    return -EINVAL;
  }
  bool has_backlog(nagaya_process) const override { return false; }
  int share(const void*, size_t, uint32_t&) override { return -EINVAL; }
  void unshare(uint32_t) override {}
  int read(nagaya_process, uint32_t, uint64_t offset, void*, size_t bytes,
           std::atomic<uint32_t>& done) override {
    EXPECT_EQ(offset, read_bytes);
    return note(bytes, done);
  }
  int read_pieces(nagaya_process, uint32_t, std::span<const nagaya_llcl_piece> pieces,
                  std::atomic<uint32_t>& done) override {
    size_t bytes = 0;
    for (const nagaya_llcl_piece& piece : pieces) bytes += piece.block_bytes * piece.count;
    return note(bytes, done);
  }

  size_t read_bytes = 0;

 private:
  int note(size_t bytes, std::atomic<uint32_t>& done) {
    EXPECT_LE(bytes, kReadMostBytes);
    read_bytes += bytes;
    done.store(1);
    return 0;
  }
};

// A node from which one long read came for more than 5 s counted as failed, because its answers to
// probes came behind the data.
TEST(Pull, RequestsPortionsThatLeaveRoomForSignsOfLife) {
  constexpr size_t kBytes = 5 * kReadMostBytes / 2;
  auto* const nowhere = reinterpret_cast<std::byte*>(size_t{1} << 40);
  const nagaya_runs two_runs[] = {{nowhere, kBytes / 2, 1, 0},
                                  {nowhere + kBytes, kBytes / 2, 1, 0}};
  for (const nagaya_runs* runs : {static_cast<const nagaya_runs*>(nullptr), two_runs}) {
    OwnBoard board(2);
    Ready remote_nodes;
    Pulls pulls(*board, mailbox::Owner::task(0, 1), remote_nodes);
    Pull pull(pulls, kElsewhere, {kBytes, nowhere, 1, 0}, {nowhere, kBytes, runs, nullptr, nullptr},
              kBytes);
    ASSERT_FALSE(pull.start({}));
    while (!pull.advance()) continue;
    EXPECT_EQ(pull.error(), 0);
    EXPECT_EQ(remote_nodes.read_bytes, kBytes);
  }
}

}  // namespace
}  // namespace nagaya::llcl

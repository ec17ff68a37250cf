// SPDX-License-Identifier: BSD-3-Clause
// members.h - the members of a team, all in the test's own process: it moves each of them when it
// likes.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <vector>

#include "coll/algorithms.h"
#include "coll/operation.h"
#include "llcl/board/board.h"
#include "task/handmade_space.h"

namespace nagaya::coll {

class Members {
 public:
  // `processors`: of the node.
  explicit Members(uint32_t size, uint32_t processors = 2)
      : space_(256, size), board_(llcl::create_board(space_.header())) {
    board().load.processors = processors;
    std::vector<uint32_t> tasks(size);
    for (uint32_t rank = 0; rank < size; ++rank) {
      tasks[rank] = size - 1 - rank;
      board().attached[rank] = mailbox::Owner::task(rank, 1).bits;
    }
    for (uint32_t rank = 0; rank < size; ++rank) {
      teams_.push_back(std::make_unique<Team>(rank, false));
      EXPECT_EQ(teams_.back()->open(board(), space_.task(tasks[rank]), 1, 0, tasks), 0);
    }
  }

  uint32_t size() const { return static_cast<uint32_t>(teams_.size()); }
  Team& team(uint32_t rank) { return *teams_[rank]; }
  llcl::Board& board() { return *static_cast<llcl::Board*>(space_.header().upper_floors); }

  std::unique_ptr<Operation> start(uint32_t rank, nagaya_collective& what) {
    return std::make_unique<Operation>(team(rank), what, algorithm_of(what, team(rank)));
  }

  // Moves all members, one at a time in a random order, until all are through.
  void run(std::vector<nagaya_collective>& all, std::mt19937& random) {
    std::vector<std::unique_ptr<Operation>> moving;
    for (uint32_t rank = 0; rank < size(); ++rank) moving.push_back(start(rank, all[rank]));
    for (uint32_t looks = 0; !moving.empty(); ++looks) {
      ASSERT_LT(looks, 1'000'000u) << "they wait for each other";
      const size_t n = random() % moving.size();
      if (moving[n]->advance()) moving.erase(moving.begin() + static_cast<ptrdiff_t>(n));
    }
  }

 private:
  task::HandmadeSpace space_;
  base::Mapping board_;
  std::vector<std::unique_ptr<Team>> teams_;
};

}  // namespace nagaya::coll

// SPDX-License-Identifier: BSD-3-Clause
// order.h - converts an Order to the arguments of a worker, and back.
#pragma once

#include <string>
#include <vector>

#include "work.h"

namespace nagaya::bench {

inline std::vector<std::string> words_of(const Order& order) {
  return {order.work,
          std::to_string(order.rank),
          std::to_string(order.ranks),
          std::to_string(order.processor),
          std::to_string(order.repetitions),
          std::to_string(order.operations),
          std::to_string(order.bytes),
          order.corrupt ? "1" : "0",
          order.threads ? "1" : "0"};
}

inline Order order_of(const std::vector<std::string>& words) {
  return {.work = words.at(0),
          .rank = std::stoi(words.at(1)),
          .ranks = std::stoi(words.at(2)),
          .processor = std::stoi(words.at(3)),
          .repetitions = std::stoi(words.at(4)),
          .operations = std::stoll(words.at(5)),
          .bytes = std::stoull(words.at(6)),
          .corrupt = words.at(7) == "1",
          .threads = words.at(8) == "1"};
}

}  // namespace nagaya::bench

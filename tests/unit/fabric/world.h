// SPDX-License-Identifier: BSD-3-Clause
// world.h - some endpoints, driven by one thread, and their reports.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "fabric/fabric.h"

namespace nagaya::fabric {

struct Reported {
  Event event;
  std::string data;  // of a message: a copy that outlives the next poll
};

class World {
 public:
  using Endpoints = std::vector<std::unique_ptr<Fabric>>;
  explicit World(Endpoints endpoints)
      : endpoints_(std::move(endpoints)), reports_(endpoints_.size()) {}

  Fabric& at(Node node) { return *endpoints_[node]; }
  Node nodes() const { return endpoints_.size(); }
  void kill(Node node) { endpoints_[node].reset(); }
  // In the order of the reports.
  const std::vector<Reported>& reports(Node node) const { return reports_[node]; }

  void poll(Node node) {
    Event events[8];
    const size_t count = endpoints_[node]->poll(events);
    for (size_t i = 0; i < count; ++i) {
      Reported report{events[i], {}};
      if (events[i].bytes != 0)
        report.data.assign(reinterpret_cast<const char*>(events[i].data), events[i].bytes);
      reports_[node].push_back(report);
    }
  }
  void poll_all() {
    for (Node node = 0; node < nodes(); ++node)
      if (endpoints_[node] != nullptr) poll(node);
  }

  // Polls all until it is so. A time limit: a hang is a failure.
  testing::AssertionResult until(const std::function<bool()>& is_so, unsigned limit_ms = 20000) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(limit_ms);
    while (!is_so()) {
      if (std::chrono::steady_clock::now() > end)
        return testing::AssertionFailure() << "not so within " << limit_ms << " ms";
      poll_all();
    }
    return testing::AssertionSuccess();
  }

  std::vector<Reported> of_kind(Node node, Event::Kind kind) const {
    std::vector<Reported> found;
    for (const Reported& report : reports_[node])
      if (report.event.kind == kind) found.push_back(report);
    return found;
  }
  std::vector<Reported> received(Node node) const { return of_kind(node, Event::Kind::kReceived); }
  size_t completed(Node node) const { return reports_[node].size() - received(node).size(); }

  // Until it is accepted; the text is kept for as long as the message may need it.
  void send(Node from, Node to, const std::string& text, uint64_t cookie) {
    const std::string& kept = sent_.emplace_back(text);
    ASSERT_TRUE(until([&] { return at(from).try_send(to, kept.data(), kept.size(), cookie); }));
  }
  void write(Node from, Node to, const void* local, size_t bytes, const Region& region,
             uint64_t offset, uint64_t cookie) {
    ASSERT_TRUE(
        until([&] { return at(from).try_write(to, local, bytes, region, offset, cookie); }));
  }
  void read(Node from, Node to, void* local, size_t bytes, const Region& region, uint64_t offset,
            uint64_t cookie) {
    ASSERT_TRUE(until([&] { return at(from).try_read(to, local, bytes, region, offset, cookie); }));
  }
  // Accepted and complete: its event is the latest.
  Event await_one(Node node, size_t before) {
    EXPECT_TRUE(until([&] { return completed(node) > before; }));
    for (size_t i = reports_[node].size(); i-- > 0;)
      if (reports_[node][i].event.kind != Event::Kind::kReceived) return reports_[node][i].event;
    return {};
  }

 private:
  std::deque<std::string> sent_;
  Endpoints endpoints_;
  std::vector<std::vector<Reported>> reports_;
};

}  // namespace nagaya::fabric

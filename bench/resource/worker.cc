// SPDX-License-Identifier: BSD-3-Clause
// worker.cc - one rank of a resource microbenchmark: a task of a space, or a separate process.
// The `resource` program starts it; its results (ns per operation, one per repetition) go to
// descriptor 3. The order "settings" makes it report its malloc settings instead.
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <stdexcept>
#include <thread>

#include "machine.h"
#include "order.h"

namespace {

using namespace nagaya::bench;
using Clock = std::chrono::steady_clock;

constexpr unsigned kPatienceSeconds = 120;  // a rank whose partner died must not wait for ever

std::unique_ptr<Work> make_work(const Order& order, Meeting& meeting) {
  if (order.work == "page_fault") return make_page_fault(order);
  if (order.work == "map_unmap") return make_map_unmap(order);
  if (order.work == "protect") return make_protect(order);
  if (order.work == "malloc_fixed") return make_malloc_fixed(order);
  if (order.work == "malloc_mixed") return make_malloc_mixed(order);
  if (order.work == "thread") return make_thread(order);
  if (order.work == "switch") return make_switch(order, meeting);
  throw std::invalid_argument("no microbenchmark is named " + order.work);
}

std::vector<double> measure(const Order& order, Meeting& meeting) {
  bind_to(order.processor);
  const auto work = make_work(order, meeting);
  const auto ranks = static_cast<uint32_t>(order.ranks);
  std::vector<double> ns_per_operation;
  for (int repetition = -1; repetition < order.repetitions; ++repetition) {
    work->prepare();
    meet(meeting, ranks);
    const Clock::time_point start = Clock::now();
    work->run();
    const std::chrono::duration<double, std::nano> taken = Clock::now() - start;
    meet(meeting, ranks);  // so that no check disturbs a rank that still runs
    work->check();
    if (repetition >= 0)
      ns_per_operation.push_back(taken.count() / static_cast<double>(order.operations));
  }
  return ns_per_operation;
}

// Calls measure(). If it fails, tells the other ranks, which would wait for this one.
std::vector<double> measure_or_tell(const Order& order, Meeting& meeting) {
  try {
    return measure(order, meeting);
  } catch (const std::exception&) {
    meeting.failed.store(1, std::memory_order_relaxed);
    throw;
  }
}

// Runs all ranks as threads of this process: between threads a switch costs least.
std::vector<double> measure_threads(const Order& order) {
  static Meeting meeting;
  std::vector<double> first;
  std::vector<std::thread> threads;
  for (int rank = 0; rank < order.ranks; ++rank)
    threads.emplace_back([&order, &first, rank] {
      Order own = order;
      own.rank = rank;
      try {
        auto results = measure(own, meeting);
        if (rank == 0) first = std::move(results);
      } catch (const std::exception& error) {
        std::fprintf(stderr, "resource-worker: %s: %s\n", order.work.c_str(), error.what());
        std::_Exit(1);
      }
    });
  for (std::thread& thread : threads) thread.join();
  return first;
}

void send(const void* data, size_t bytes) {
  if (::write(kResultsFd, data, bytes) != static_cast<ssize_t>(bytes))
    throw std::runtime_error("cannot send results");
}

}  // namespace

int main(int argc, char** argv) {
  std::string work = argc > 1 ? argv[1] : "";
  try {
    ::alarm(kPatienceSeconds);
    if (work == "settings") {
      const char* settings = std::getenv("GLIBC_TUNABLES");
      send(settings != nullptr ? settings : "", settings != nullptr ? std::strlen(settings) : 0);
      return 0;
    }
    const Order order = order_of({argv + 1, argv + argc});
    const std::vector<double> results =
        order.threads ? measure_threads(order) : measure_or_tell(order, find_meeting(order.rank));
    send(results.data(), results.size() * sizeof(double));
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "resource-worker: %s: %s\n", work.c_str(), error.what());
    return 1;
  }
}

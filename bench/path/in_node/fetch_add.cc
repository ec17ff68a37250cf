// SPDX-License-Identifier: BSD-3-Clause
// fetch_add.cc - fetch-and-add of one word by a prepared request of llcl.h, by one task and
// by two, beside a plain std::atomic among the threads of one process.
#include <atomic>
#include <thread>

#include "in_node.h"

namespace nagaya::bench {
namespace {

constexpr uint64_t kBatch = 1000;

struct Word {
  alignas(128) std::atomic<uint64_t> value{0};
  alignas(128) nagaya_remote place{};
  uint32_t over = 0;  // set when the partner may stop sleeping
};

// Returns the time of one fetch-and-add [ns].
double add_by_request(Word& word, uint64_t times) {
  uint64_t before = 0;
  const nagaya_llcl_atomic one{word.place, NAGAYA_ADD, NAGAYA_UINT64, 1, 0, &before, {}};
  nagaya_llcl_prepared add;
  check(nagaya_llcl_prepare_atomic(&one, &add), "prepare");
  Batches batches(kBatch);
  for (uint64_t n = 0; n < times; ++n) {
    check(nagaya_llcl_try_start(&add), "atomic");
    batches.mark();
  }
  return batches.median_ns();
}

double add_plainly(Word& word, uint64_t times) {
  Batches batches(kBatch);
  for (uint64_t n = 0; n < times; ++n) {
    word.value.fetch_add(1);
    batches.mark();
  }
  return batches.median_ns();
}

void expect_sum(const Stage& stage, Word& word, uint64_t sum) {
  expect(!stage.corrupt && word.value.exchange(0) == sum);
}

// Measures while both tasks add.
double contended_ns(const Stage& stage, Word& word, uint64_t times) {
  stage.meet();
  const double ns = add_by_request(word, times);
  stage.meet();
  if (stage.leads()) expect_sum(stage, word, 2 * times);
  return ns;
}

// Measures two threads of the leader, while its partner sleeps.
double threads_ns(const Stage& stage, Word& word, uint64_t times) {
  const auto& processors = usable_processors();
  Meeting both{};
  std::thread second([&] {
    bind_to(processors[1 % processors.size()]);
    meet(both, 2);
    add_plainly(word, times);
  });
  meet(both, 2);
  const double ns = add_plainly(word, times);
  second.join();
  expect_sum(stage, word, 2 * times);
  return ns;
}

template <class Add>
double alone_ns(const Stage& stage, Word& word, uint64_t times, Add add) {
  const double ns = add(word, times);
  expect_sum(stage, word, times);
  return ns;
}

void measure_leader_alone(const Stage& stage, Word& word, uint64_t times) {
  stage.report("fetch_add", kFloor, threads_ns(stage, word, times));
  stage.report("fetch_add_alone", kSubject, alone_ns(stage, word, times, add_by_request));
  stage.report("fetch_add_alone", kFloor, alone_ns(stage, word, times, add_plainly));
}

}  // namespace

void measure_fetch_add(const Stage& stage) {
  auto* const own = new Word;
  check(nagaya_llcl_register(&own->value, 8, &own->place), "register");
  check(nagaya_task_publish("word", own), "publish");
  Word& word = of_rank<Word>(0, "word");
  const uint64_t times = stage.times(1'000'000);
  for (int round = 0; round < stage.rounds; ++round) {
    const double ns = contended_ns(stage, word, times);
    own->over = 0;
    stage.meet();
    if (stage.leads()) {
      stage.report("fetch_add", kSubject, ns);
      measure_leader_alone(stage, word, times);
      std::atomic_ref(of_rank<Word>(1, "word").over).store(1, std::memory_order_release);
    } else {
      check(nagaya_llcl_wait_flag(&own->over, 60'000), "wait");  // asleep after a moment
    }
    stage.meet();
  }
}

}  // namespace nagaya::bench

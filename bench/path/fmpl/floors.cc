// SPDX-License-Identifier: BSD-3-Clause
// floors.cc - FMPL's point-to-point messages beside the minimum that the two tasks must do by loads
// and stores: 8 bytes beside the three lines of a matching area, 16 MiB beside memcpy by both
// tasks, or by the sender alone while the receiver computes. Also the parts of the latency of 8
// bytes, as in table 1 of FMPL's paper.
#include <atomic>
#include <cstring>
#include <memory>

#include "pingpong.h"
#include "status.h"

namespace nagaya::bench {
namespace {

using fmpl::check;

constexpr size_t kSmall = 8, kLarge = 16 << 20;

// Words that the other process stores into, each on two lines of its own (the processor prefetches
// lines in pairs). 0: the other process has stored nothing.
struct Words {
  alignas(128) std::atomic<uintptr_t> target{0};  // address of the receiver's buffer
  alignas(128) std::atomic<uintptr_t> source{0};  // address of the sender's buffer
  alignas(128) std::atomic<uintptr_t> flag{0};    // 1: the data have arrived
};

void give(std::atomic<uintptr_t>& word, uintptr_t value) {
  word.store(value, std::memory_order_release);  // pairs with take()
}
uintptr_t take(std::atomic<uintptr_t>& word) {
  uintptr_t value;
  while ((value = word.load(std::memory_order_acquire)) == 0) continue;  // pairs with give()
  word.store(0, std::memory_order_relaxed);
  return value;
}
uintptr_t address(const void* data) {
  return reinterpret_cast<uintptr_t>(data);
}
unsigned char* memory(uintptr_t address) {
  return reinterpret_cast<unsigned char*>(address);
}

class Bench {
 public:
  explicit Bench(const Options& options) : options_(options), pingpong_(options) {
    if (fmpl::size() != 2) throw std::runtime_error("it takes two processes");
    const Words* words = own_.get();
    if (rank_ == 0) fmpl::send(&words, sizeof words, peer_);
    fmpl::receive(&other_, sizeof other_, peer_);
    if (rank_ == 1) fmpl::send(&words, sizeof words, peer_);
  }

  std::vector<Figure> measure_round() {
    std::vector<Figure> figures;
    const double three_lines = by_stores(kSmall);
    const char* const lines = "three lines: where to, data, flag";
    figures.push_back(
        figure("8B", "8 bytes one way", by_fmpl(kSmall), Series{lines, {three_lines}}));
    figures.push_back(figure("prepared_8B", "8 bytes one way, prepared once", prepared(),
                             Series{lines, {three_lines}}));
    figures.push_back(figure("16MiB", "16 MiB one way, both wait", by_fmpl(kLarge),
                             Series{"memcpy by both", {by_both(kLarge)}}));
    figures.push_back(figure("one_sided_16MiB", "16 MiB to a receiver that computes",
                             one_sided(kLarge), Series{"memcpy by one", {by_stores(kLarge)}}));
    add_parts(figures);
    return figures;
  }

 private:
  // ---- messages [us] ----

  double by_fmpl(size_t bytes) {
    unsigned char* const data = pingpong_.buffer(bytes);
    return pingpong_.one_way([&] { fmpl::send(data, bytes, peer_); },
                             [&] { fmpl::receive(data, bytes, peer_); });
  }

  double prepared() {
    fmpl::prepare(pingpong_.buffer(kSmall), kSmall, peer_);
    const double time = pingpong_.one_way(fmpl::send_prepared, fmpl::receive_prepared);
    fmpl::release_prepared();
    return time;
  }

  double one_sided(size_t bytes) {
    unsigned char* const data = pingpong_.buffer(bytes);
    return pingpong_.one_way(
        [&] {
          fmpl::send(data, bytes, peer_);
          give(other_->flag, 1);
        },
        [&] {
          fmpl_request request;
          check(fmpl_irecv(data, bytes, peer_, 0, &request));
          take(own_->flag);
          check(fmpl_wait_irecv(&request));
        });
  }

  // ---- floors [us] ----

  double by_stores(size_t bytes) {
    unsigned char* const data = pingpong_.buffer(bytes);
    return pingpong_.one_way(
        [&] {
          std::memcpy(memory(take(own_->target)), data, bytes);
          give(other_->flag, 1);
        },
        [&] {
          give(other_->target, address(data));
          take(own_->flag);
        });
  }

  // Measures a copy of which each process makes one half.
  double by_both(size_t bytes) {
    const size_t half = bytes / 2;
    unsigned char* const data = pingpong_.buffer(bytes);
    return pingpong_.one_way(
        [&] {
          unsigned char* const target = memory(take(own_->target));
          give(other_->source, address(data));
          std::memcpy(target, data, half);
          give(other_->flag, 1);
          take(own_->flag);
        },
        [&] {
          give(other_->target, address(data));
          std::memcpy(data + half, memory(take(own_->source)) + half, half);
          give(other_->flag, 1);
          take(own_->flag);
        });
  }

  // ---- the latency's parts [us] ----

  // Each part is the median over the calls of a ping-pong, less the time of reading the clock. A
  // send of `ready` finds its header in the area: a send in the ping-pong takes longer because it
  // waits for the header.
  void add_parts(std::vector<Figure>& figures) {
    std::vector<double> clock, set_up, ready, send, header, data_wait;
    unsigned char* const data = pingpong_.buffer(kSmall);
    fmpl_request request;
    for (int n = 0; n < (options_.quick ? 10 : 4000); ++n) {
      timed(clock, [] {});
      timed(set_up, [&] { check(fmpl_isend_prepare(data, kSmall, peer_, 0, &request)); });
    }
    pingpong_.one_way([&] { timed(send, [&] { fmpl::send(data, kSmall, peer_); }); },
                      [&] {
                        timed(header, [&] { check(fmpl_irecv(data, kSmall, peer_, 0, &request)); });
                        timed(data_wait, [&] { check(fmpl_wait_irecv(&request)); });
                      });
    pingpong_.one_way(
        [&] {
          take(own_->flag);
          timed(ready, [&] { fmpl::send(data, kSmall, peer_); });
        },
        [&] {
          check(fmpl_irecv(data, kSmall, peer_, 0, &request));
          give(other_->flag, 1);
          check(fmpl_wait_irecv(&request));
        });
    const double look = median_of(clock);
    const double own = median_of(set_up) - look, sent = median_of(ready) - look;
    const auto add = [&](const char* name, const char* title, double value) {
      figures.push_back(figure(name, fmt::format("8 bytes, {}", title), value));
    };
    add("sender_set_up", "sender: set-up", own);
    add("sender_header_wait", "sender: wait for the header", median_of(send) - look - sent);
    add("sender_data", "sender: data and flag", sent - own);
    add("receiver_header", "receiver: set-up and header", median_of(header) - look);
    add("receiver_data_wait", "receiver: wait for the data", median_of(data_wait) - look);
  }
  template <class Call>
  static void timed(std::vector<double>& times, Call call) {
    const double start = now_us();
    call();
    times.push_back(now_us() - start);
  }

  static Figure figure(const std::string& name, const std::string& title, double value,
                       std::optional<Series> floor = {}) {
    return {name, title, "us", {"FMPL", {value}}, {}, std::move(floor)};
  }

  const Options options_;
  const int rank_ = fmpl::rank(), peer_ = 1 - rank_;
  const std::unique_ptr<Words> own_ = std::make_unique<Words>();
  Words* other_ = nullptr;
  PingPong pingpong_;
};

}  // namespace
}  // namespace nagaya::bench

int main(int argc, char** argv) {
  using namespace nagaya::bench;
  Options options;
  CommandLine line("FMPL's messages beside loads and stores", "fmpl-floors", options);
  return run_fmpl_program(line, options, argc, argv, [&] { return Bench(options); });
}

// SPDX-License-Identifier: BSD-3-Clause
// shapes.cc - compiled without the hooks: it names its accesses itself.
#include "scale/shapes.h"

#include <algorithm>
#include <atomic>
#include <stdexcept>

namespace nagaya::bench::scale {
namespace {

constexpr uint32_t kTurns = 6;  // the first ones fill the caches
constexpr uint32_t kSkipped = 3;
constexpr uint32_t kDomainMost = 8;  // of an exchange, where more cores share a cache
constexpr size_t kInlineBytes = 40;
constexpr size_t kLineBytes = 128;  // XHC's
constexpr size_t kPieceBytes = 16 << 10;

size_t pieces_of(size_t bytes) {
  return std::max<size_t>((bytes + kPieceBytes - 1) / kPieceBytes, 1);
}

}  // namespace

Tree flat_tree(uint32_t members) {
  return Tree(members, 0);
}

Tree even_tree(uint32_t members, uint32_t children) {
  Tree tree(members);
  for (uint32_t n = 1; n < members; ++n) tree[n] = (n - 1) / children;
  return tree;
}

Tree domain_tree(const Description& machine, uint32_t members) {
  Tree tree(members);
  const uint32_t cluster = machine.cores, socket = machine.cores * machine.clusters;
  for (uint32_t n = 1; n < members; ++n)
    tree[n] = n % cluster != 0 ? n / cluster * cluster : n % socket != 0 ? n / socket * socket : 0;
  return tree;
}

struct Shapes::Member {
  alignas(kLineBytes) std::atomic<uint64_t> up{0};
  alignas(kLineBytes) std::atomic<uint64_t> down{0};
  Numbers own;     // the member's elements; what its subtree adds up to
  Numbers result;  // what comes down
};

struct Shapes::Run {
  Run(Tree tree_of_all, size_t bytes_of_each)
      : tree(std::move(tree_of_all)),
        bytes(bytes_of_each),
        members(tree.size()),
        children(tree.size()) {
    for (uint32_t n = 0; n < tree.size(); ++n) {
      members[n] = std::make_unique<Member>();
      members[n]->own = Numbers(bytes);
      members[n]->result = Numbers(bytes);
      if (n != 0) children[tree[n]].push_back(n);
    }
  }

  const Tree tree;
  const size_t bytes;
  std::vector<std::unique_ptr<Member>> members;
  std::vector<std::vector<uint32_t>> children;
};

Shapes::Shapes(Simulation& simulation, uint32_t members)
    : simulation_(simulation), size_(members) {}
Shapes::~Shapes() = default;

std::vector<std::string> Shapes::trees_of(Kind kind) {
  switch (kind) {
    case Kind::kAllgather:
    case Kind::kAlltoall:
      return {"exchange by domains"};
    default:
      return {"flat tree", "MPICH fours", "MPICH wide", "XHC domains"};
  }
}

Tree Shapes::tree(const std::string& name) const {
  if (name == "flat tree") return flat_tree(size_);
  if (name == "MPICH fours") return even_tree(size_, 4);
  if (name == "MPICH wide") return even_tree(size_, 64);
  return domain_tree(simulation_.machine(), size_);
}

void Shapes::await(const std::atomic<uint64_t>& word, uint64_t value) {
  simulation_.wait([&] {
    simulation_.load(&word, sizeof word);
    return word.load(std::memory_order_relaxed) >= value;
  });
}

void Shapes::post(std::atomic<uint64_t>& word, uint64_t value) {
  simulation_.store(&word, sizeof word);
  word.store(value, std::memory_order_relaxed);
}

// Each piece's numbers are checked only by the flags: the model moves lines, no data.
void Shapes::up(Run& run, uint32_t rank, uint64_t turn) {
  Member& own = *run.members[rank];
  const size_t pieces = pieces_of(run.bytes);
  for (size_t piece = 0; piece < pieces; ++piece) {
    const size_t at = piece * kPieceBytes, bytes = std::min(run.bytes - at, kPieceBytes);
    for (const uint32_t child : run.children[rank]) {
      Member& other = *run.members[child];
      await(other.up, turn * pieces + piece + 1);
      if (run.bytes > kInlineBytes)
        simulation_.reduce(own.own.data() + at / 8, other.own.data() + at / 8, bytes);
    }
    if (rank != 0) post(own.up, turn * pieces + piece + 1);
  }
}

void Shapes::down(Run& run, uint32_t rank, uint64_t turn) {
  Member& own = *run.members[rank];
  const size_t pieces = pieces_of(run.bytes);
  for (size_t piece = 0; piece < pieces; ++piece) {
    const size_t at = piece * kPieceBytes, bytes = std::min(run.bytes - at, kPieceBytes);
    if (rank != 0) {
      Member& parent = *run.members[run.tree[rank]];
      await(parent.down, turn * pieces + piece + 1);
      if (run.bytes > kInlineBytes)
        simulation_.copy(own.result.data() + at / 8, parent.result.data() + at / 8, bytes);
    }
    if (!run.children[rank].empty()) post(own.down, turn * pieces + piece + 1);
  }
}

// The members of a domain fetch from each other what one of them passes on to other domains, each
// for other domains, and pack it; then each member fetches from one member of each domain.
//
//   allgather   first the domain's blocks, which all pack; then one packed line or more of each
//               domain
//   alltoall    first the mates' blocks for this member's share of the domains; then the blocks for
//               this member, which lie together, from the one of each domain that has them
struct Shapes::Exchange {
  Exchange(uint32_t members, uint32_t domain, Kind kind_of_all, size_t bytes_of_each)
      : kind(kind_of_all), bytes(bytes_of_each), size(members), domain(domain) {
    const size_t blocks = kind == Kind::kAlltoall ? size : 1;
    for (uint32_t n = 0; n < size; ++n) {
      all.push_back(std::make_unique<Member>());
      all[n]->own = Numbers(bytes * blocks);
      all[n]->packed = Numbers(bytes * (size + domain) * domain);
      all[n]->result = Numbers(bytes * size);
    }
  }
  struct Member {
    alignas(kLineBytes) std::atomic<uint64_t> first{0};
    alignas(kLineBytes) std::atomic<uint64_t> second{0};
    Numbers own, packed, result;
  };

  // Returns where the packed blocks for a member begin: of its domain's place among those for which
  // this member packs, and of its place in the domain.                                    [numbers]
  size_t place_of(uint32_t target, uint32_t member) const {
    return (size_t{target} * domain + member) * domain * (bytes / sizeof(uint64_t));
  }

  const Kind kind;
  const size_t bytes;
  const uint32_t size, domain;
  std::vector<std::unique_ptr<Member>> all;
};

void Shapes::exchange(Exchange& run, uint32_t rank, uint64_t turn) {
  const uint32_t begin = rank / run.domain * run.domain, own = rank - begin;
  const uint32_t mates = std::min(run.domain, run.size - begin);
  const uint32_t domains = (run.size + run.domain - 1) / run.domain;
  const bool is_alltoall = run.kind == Kind::kAlltoall;
  const size_t numbers = run.bytes / sizeof(uint64_t);
  Exchange::Member& mine = *run.all[rank];
  post(mine.first, turn + 1);
  for (uint32_t n = 0; n < mates; ++n) {
    const uint32_t mate = begin + (own + n) % mates;
    await(run.all[mate]->first, turn + 1);
    if (!is_alltoall) {
      simulation_.copy(mine.packed.data() + (mate - begin) * numbers, run.all[mate]->own.data(),
                       run.bytes);
      continue;
    }
    // The blocks for domains own, own + mates, ...; those for one member are put together.
    for (uint32_t to = own; to < domains; to += mates)
      for (uint32_t member = 0; member < run.domain && to * run.domain + member < run.size;
           ++member)
        simulation_.copy(
            mine.packed.data() + run.place_of(to / mates, member) + (mate - begin) * numbers,
            run.all[mate]->own.data() + (to * run.domain + member) * numbers, run.bytes);
  }
  post(mine.second, turn + 1);
  for (uint32_t n = 0; n < domains; ++n) {
    const uint32_t first = (begin / run.domain + n) % domains * run.domain;
    const uint32_t there = std::min(run.domain, run.size - first);
    const uint32_t source = first + (is_alltoall ? begin / run.domain : own) % there;
    Exchange::Member& other = *run.all[source];
    await(other.second, turn + 1);
    const size_t place = is_alltoall ? run.place_of(begin / run.domain / there, own) : 0;
    simulation_.copy(mine.result.data() + first * numbers, other.packed.data() + place,
                     run.bytes * there);
  }
}

double Shapes::exchange_ns(Kind kind, size_t bytes) {
  const uint32_t cores = simulation_.machine().cores;
  Exchange run(size_, std::clamp(cores, 1u, kDomainMost), kind, bytes);
  simulation_.run([&](uint32_t rank) {
    for (uint64_t turn = 0; turn < kTurns; ++turn) {
      run.all[rank]->own.write(rank, static_cast<uint32_t>(turn));
      simulation_.align();
      simulation_.begin_lap();
      simulation_.compute(simulation_.machine().call_ns);
      exchange(run, rank, turn);
      simulation_.end_lap();
      simulation_.align();
    }
  });
  return simulation_.mean_of_slowest_ns(kSkipped);
}

double Shapes::latency_ns(Kind kind, size_t bytes, const std::string& name) {
  if (kind == Kind::kAllgather || kind == Kind::kAlltoall) return exchange_ns(kind, bytes);
  Run run(tree(name), bytes);
  const bool goes_up = kind != Kind::kBcast, goes_down = kind != Kind::kReduce;
  simulation_.run([&](uint32_t rank) {
    Member& own = *run.members[rank];
    for (uint64_t turn = 0; turn < kTurns; ++turn) {
      // The caller's data, written before the operation begins.
      if (kind != Kind::kBarrier) own.own.write(rank, static_cast<uint32_t>(turn));
      if (kind == Kind::kBcast && rank == 0) own.result.write(0, static_cast<uint32_t>(turn));
      simulation_.align();
      simulation_.begin_lap();
      simulation_.compute(simulation_.machine().call_ns);
      // Short elements are copied to where others may read them.
      if (goes_up && bytes > kInlineBytes && bytes <= kPieceBytes / 4)
        simulation_.copy(own.result.data(), own.own.data(), bytes);
      if (goes_up) up(run, rank, turn);
      if (goes_down) down(run, rank, turn);
      simulation_.end_lap();
      simulation_.align();
    }
  });
  return simulation_.mean_of_slowest_ns(kSkipped);
}

}  // namespace nagaya::bench::scale

// SPDX-License-Identifier: BSD-3-Clause
// windows.cc - one-sided access of any MPI. Two ranks: rank 0 accesses the window of rank 1, which
// waits for a message, or with --computing computes, by kind of window, operation and size. More
// ranks: all access one word or random ranks at once.
#include <mpi.h>

#include <algorithm>
#include <exception>
#include <functional>
#include <random>
#include <vector>

#include "mpi_program.h"

namespace nagaya::bench {
namespace {

constexpr size_t kBytesMax = 1 << 20;
constexpr int kOrigin = 0, kTarget = 1;

int doubles_of(size_t bytes) {
  return static_cast<int>(bytes / sizeof(double));
}

// A window in which each rank has kBytesMax bytes.
class Window {
 public:
  enum Kind { kAllocate, kCreate, kDynamic, kKinds };
  static constexpr const char* kNames[kKinds] = {"allocate", "create", "dynamic"};

  explicit Window(Kind kind) : kind_(kind) {
    if (kind == kAllocate) {
      MPI_Win_allocate(kBytesMax, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory_, &handle_);
      return;
    }
    own_.resize(kBytesMax / sizeof(double));
    memory_ = own_.data();
    if (kind == kCreate) {
      MPI_Win_create(memory_, kBytesMax, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &handle_);
      return;
    }
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &handle_);
    MPI_Win_attach(handle_, memory_, kBytesMax);
    MPI_Get_address(memory_, &place_);
    MPI_Bcast(&place_, 1, MPI_AINT, kTarget, MPI_COMM_WORLD);
  }
  ~Window() {
    if (std::uncaught_exceptions() != 0) return;  // the job ends, and others do not free theirs
    if (kind_ == kDynamic) MPI_Win_detach(handle_, memory_);
    MPI_Win_free(&handle_);
  }
  Window(const Window&) = delete;
  Window& operator=(const Window&) = delete;

  MPI_Win handle() const { return handle_; }
  double* memory() const { return memory_; }
  MPI_Aint place() const { return place_; }  // displacement of rank kTarget's memory

 private:
  const Kind kind_;
  std::vector<double> own_;
  double* memory_ = nullptr;
  MPI_Win handle_ = MPI_WIN_NULL;
  MPI_Aint place_ = 0;
};

class Bench {
 public:
  Bench(const Options& options, bool is_computing)
      : options_(options), is_computing_(is_computing), data_(kBytesMax / sizeof(double)) {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
  }

  Result measure() {
    if (size_ < 2) throw std::runtime_error("it takes two ranks or more");
    Result result{.program = "windows", .quick = options_.quick, .figures = {}, .derived = {}};
    for (int round = 0; round < options_.rounds_or(5, 1); ++round) {
      figures_.clear();
      if (size_ == 2)
        for (int kind = 0; kind < Window::kKinds; ++kind)
          measure_pair(static_cast<Window::Kind>(kind));
      else
        measure_crowd();
      add_round(result, figures_);
    }
    return result;
  }

 private:
  // ---- two ranks ----

  void measure_pair(Window::Kind kind) {
    const Window window(kind);
    kind_ = Window::kNames[kind];
    lock_all(window);
    for (const size_t bytes : {size_t{8}, size_t{4096}, size_t{512} << 10}) {
      one_sided(window, "put flush", bytes, [&](double value) {
        mark(bytes, value);
        MPI_Put(data_.data(), doubles_of(bytes), MPI_DOUBLE, kTarget, window.place(),
                doubles_of(bytes), MPI_DOUBLE, window.handle());
        MPI_Win_flush(kTarget, window.handle());
        return value;
      });
      one_sided(window, "accumulate", bytes, [&](double) {
        mark(bytes, 1);
        MPI_Accumulate(data_.data(), doubles_of(bytes), MPI_DOUBLE, kTarget, window.place(),
                       doubles_of(bytes), MPI_DOUBLE, MPI_SUM, window.handle());
        MPI_Win_flush(kTarget, window.handle());
        return kCounted;
      });
    }
    get(window);
    fetch_and_add(window);
    accumulate_strided(window);
    unlock_all(window);
    lock_put_unlock(window);
    synchronised(window);
  }

  // Times access(value) at the origin, then checks the target's first and last element (0: of
  // `bytes`): the returned value, or, after kCounted, the number of calls.
  static constexpr double kCounted = -1;
  void one_sided(const Window& window, const char* operation, size_t bytes,
                 const std::function<double(double)>& access, int last = 0) {
    const int turns = turns_of(bytes);
    if (last == 0) last = doubles_of(bytes) - 1;
    double expected = 0, time = 0;
    in_own_memory(window, [&] { window.memory()[0] = window.memory()[last] = 0; });
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank_ == kOrigin) {
      time = median_of_blocks(turns, [&](int n) { expected = access(n); });
      if (expected == kCounted) expected = turns;
      if (options_.corrupt) ++expected;
      MPI_Send(&expected, 1, MPI_DOUBLE, kTarget, 0, MPI_COMM_WORLD);
    } else {
      if (is_computing_) compute();
      MPI_Recv(&expected, 1, MPI_DOUBLE, kOrigin, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      bool is_right = false;
      in_own_memory(window, [&] {
        is_right = window.memory()[0] == expected && window.memory()[last] == expected;
      });
      require(is_right, operation);
    }
    add(operation, bytes, time);
  }

  // Calls act(1), act(2), ..., act(turns). Returns the time of one call: the median of kBlocks
  // means, because one thread that loses its processor for milliseconds raises the mean of 60 long
  // accesses by half. Where the target computes, one call waits for it, and the mean is asked for.
  // [us]
  double median_of_blocks(int turns, const std::function<void(int)>& act) const {
    constexpr int kBlocks = 20;
    const int blocks = is_computing_ ? 1 : std::min(turns, kBlocks);
    std::vector<double> means;
    for (int block = 0; block < blocks; ++block) {
      const int first = turns * block / blocks, end = turns * (block + 1) / blocks;
      const double begin = MPI_Wtime();
      for (int n = first; n < end; ++n) act(n + 1);
      means.push_back((MPI_Wtime() - begin) / (end - first) * 1e6);
    }
    const auto middle = means.begin() + blocks / 2;
    std::nth_element(means.begin(), middle, means.end());
    return *middle;
  }

  // Without a call of the MPI.
  static void compute() {
    constexpr double kSeconds = 0.1;
    for (const double begin = MPI_Wtime(); MPI_Wtime() < begin + kSeconds;) continue;
  }

  template <class Act>
  void in_own_memory(const Window& window, Act act) {
    if (is_locked_)
      MPI_Win_sync(window.handle());
    else
      MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank_, 0, window.handle());
    act();
    if (is_locked_)
      MPI_Win_sync(window.handle());
    else
      MPI_Win_unlock(rank_, window.handle());
  }

  void get(const Window& window) {
    double got = -1;
    one_sided(window, "get flush", 8, [&](double) {
      MPI_Get(&got, 1, MPI_DOUBLE, kTarget, window.place(), 1, MPI_DOUBLE, window.handle());
      MPI_Win_flush(kTarget, window.handle());
      require(got == 0, "get");
      return got;
    });
  }

  void fetch_and_add(const Window& window) {
    double before = -1;
    const double one = 1;
    int calls = 0;
    one_sided(window, "fetch and add", 8, [&](double) {
      MPI_Fetch_and_op(&one, &before, MPI_DOUBLE, kTarget, window.place(), MPI_SUM,
                       window.handle());
      MPI_Win_flush(kTarget, window.handle());
      require(before == calls++, "fetch and add");
      return kCounted;
    });
  }

  // 4 KiB into every second element of 8 KiB.
  void accumulate_strided(const Window& window) {
    constexpr int kElements = 512;
    MPI_Datatype type;
    MPI_Type_vector(kElements, 1, 2, MPI_DOUBLE, &type);
    MPI_Type_commit(&type);
    one_sided(
        window, "strided accumulate", 4096,
        [&](double) {
          mark(4096, 1);
          MPI_Accumulate(data_.data(), kElements, MPI_DOUBLE, kTarget, window.place(), 1, type,
                         MPI_SUM, window.handle());
          MPI_Win_flush(kTarget, window.handle());
          return kCounted;
        },
        2 * kElements - 2);
    MPI_Type_free(&type);
  }

  void lock_put_unlock(const Window& window) {
    one_sided(window, "lock put unlock", 8, [&](double value) {
      MPI_Win_lock(MPI_LOCK_EXCLUSIVE, kTarget, 0, window.handle());
      MPI_Put(&value, 1, MPI_DOUBLE, kTarget, window.place(), 1, MPI_DOUBLE, window.handle());
      MPI_Win_unlock(kTarget, window.handle());
      return value;
    });
  }

  // ---- with the target's calls ----

  void synchronised(const Window& window) {
    const int turns = turns_of(8);
    MPI_Win_fence(0, window.handle());
    add("put fence", 8, timed(turns, [&](double value) {
          if (rank_ == kOrigin) put(window, value);
          MPI_Win_fence(0, window.handle());
        }));
    if (rank_ == kTarget) require(window.memory()[0] == turns, "fence");
    MPI_Win_fence(MPI_MODE_NOSUCCEED, window.handle());
    MPI_Group all, other;
    const int partner = 1 - rank_;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_incl(all, 1, &partner, &other);
    add("post start put complete wait", 8, timed(turns, [&](double value) {
          if (rank_ == kOrigin) {
            MPI_Win_start(other, 0, window.handle());
            put(window, value);
            MPI_Win_complete(window.handle());
          } else {
            MPI_Win_post(other, 0, window.handle());
            MPI_Win_wait(window.handle());
            require(window.memory()[0] == value, "post and wait");
          }
        }));
    MPI_Group_free(&other);
    MPI_Group_free(&all);
  }

  void put(const Window& window, double value) {
    data_[0] = value;
    MPI_Put(data_.data(), 1, MPI_DOUBLE, kTarget, window.place(), 1, MPI_DOUBLE, window.handle());
  }

  // ---- many ranks ----

  void measure_crowd() {
    const Window window(Window::kAllocate);
    kind_ = "crowd";
    std::fill_n(window.memory(), kBytesMax / sizeof(double), 0.0);
    MPI_Barrier(MPI_COMM_WORLD);
    contended_lock(window);
    contended_word(window);
    for (const size_t bytes : {size_t{8} << 10, size_t{64} << 10}) blocks(window, bytes);
  }

  void contended_lock(const Window& window) {
    const int turns = options_.quick ? 5 : 200;
    add("lock get put unlock", 8, timed(turns, [&](double) {
          double value = 0;
          MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window.handle());
          MPI_Get(&value, 1, MPI_DOUBLE, 0, 0, 1, MPI_DOUBLE, window.handle());
          MPI_Win_flush(0, window.handle());
          ++value;
          MPI_Put(&value, 1, MPI_DOUBLE, 0, 0, 1, MPI_DOUBLE, window.handle());
          MPI_Win_unlock(0, window.handle());
        }));
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, window.handle());
    if (rank_ == 0) require(window.memory()[0] == static_cast<double>(turns) * size_, "lock");
    MPI_Win_unlock(0, window.handle());
    MPI_Barrier(MPI_COMM_WORLD);
  }

  void contended_word(const Window& window) {
    const int turns = options_.quick ? 5 : 500;
    constexpr MPI_Aint kPlace = 64;
    const double one = 1;
    lock_all(window);
    add("fetch and add", 8, timed(turns, [&](double) {
          double before = 0;
          MPI_Fetch_and_op(&one, &before, MPI_DOUBLE, 0, kPlace, MPI_SUM, window.handle());
          MPI_Win_flush(0, window.handle());
        }));
    MPI_Win_sync(window.handle());
    if (rank_ == 0)
      require(window.memory()[kPlace / 8] == static_cast<double>(turns) * size_, "one word");
    unlock_all(window);
    MPI_Barrier(MPI_COMM_WORLD);
  }

  // Gets a block of a random rank, computes, and adds the result to a block of a random rank.
  void blocks(const Window& window, size_t bytes) {
    const int turns = options_.quick ? 3 : 50;
    const int count = doubles_of(bytes);
    std::mt19937 random(static_cast<uint32_t>(rank_));
    std::fill_n(window.memory(), count, 0.0);
    MPI_Barrier(MPI_COMM_WORLD);
    lock_all(window);
    add("get compute accumulate", bytes, timed(turns, [&](double) {
          const auto any = [&] {
            return static_cast<int>(random() % static_cast<uint32_t>(size_));
          };
          const int from = any(), to = any();
          MPI_Get(data_.data(), count, MPI_DOUBLE, from, kBytesMax / 2, count, MPI_DOUBLE,
                  window.handle());
          MPI_Win_flush(from, window.handle());
          for (int n = 0; n < count; ++n) data_[static_cast<size_t>(n)] = 1;
          MPI_Accumulate(data_.data(), count, MPI_DOUBLE, to, 0, count, MPI_DOUBLE, MPI_SUM,
                         window.handle());
          MPI_Win_flush(to, window.handle());
        }));
    MPI_Win_sync(window.handle());
    double own = window.memory()[count - 1], sum = 0;
    MPI_Allreduce(&own, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    require(sum == static_cast<double>(turns) * size_, "blocks");
    unlock_all(window);
    MPI_Barrier(MPI_COMM_WORLD);
  }

  // ----

  void lock_all(const Window& window) {
    MPI_Win_lock_all(0, window.handle());
    is_locked_ = true;
  }
  void unlock_all(const Window& window) {
    MPI_Win_unlock_all(window.handle());
    is_locked_ = false;
  }

  // All ranks call act(1), act(2), ... Returns the mean time of one of them. [us]
  double timed(int turns, const std::function<void(double)>& act) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = MPI_Wtime();
    for (int n = 1; n <= turns; ++n) act(n);
    double time = MPI_Wtime() - begin, sum = 0;
    MPI_Allreduce(&time, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return sum / size_ / turns * 1e6;
  }

  void mark(size_t bytes, double value) {
    data_[0] = value;
    data_[static_cast<size_t>(doubles_of(bytes) - 1)] = value;
  }
  void add(std::string operation, size_t bytes, double time) {
    const std::string title = fmt::format("{} of {} B, {}", operation, bytes, kind_);
    std::replace(operation.begin(), operation.end(), ' ', '_');
    figures_.push_back({fmt::format("{}_{}_{}B", kind_, operation, bytes),
                        title,
                        "us",
                        {"this job", {time}},
                        {},
                        {}});
  }
  static void require(bool is_right, const char* what) {
    if (!is_right) throw std::runtime_error(fmt::format("wrong data: {}", what));
  }
  int turns_of(size_t bytes) const {
    if (options_.quick || is_computing_) return 5;
    return static_cast<int>(std::clamp<size_t>((size_t{32} << 20) / (bytes + 4096), 50, 4000));
  }

  Options options_;
  const bool is_computing_;
  std::string kind_;
  std::vector<double> data_;
  std::vector<Figure> figures_;
  int rank_, size_;
  bool is_locked_ = false;  // by lock_all
};

}  // namespace
}  // namespace nagaya::bench

int main(int argc, char** argv) {
  using namespace nagaya::bench;
  Options options;
  bool is_computing = false;
  CommandLine line("One-sided access of an MPI", "windows", options);
  line.add_flag("--computing", is_computing, "The target computes meanwhile");
  return run_mpi_program(line, options, argc, argv,
                         [&] { return Bench(options, is_computing).measure(); });
}

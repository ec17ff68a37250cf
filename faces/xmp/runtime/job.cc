// SPDX-License-Identifier: BSD-3-Clause
// job.cc - the beginning and the end of a process of the job.
#include "faces/xmp/runtime/job.h"

#include <errno.h>
#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

#include "faces/lost_node.h"
#include "faces/xmp/runtime/arrays.h"
#include "faces/xmp/runtime/asynchronous.h"
#include "faces/xmp/runtime/coarrays.h"
#include "faces/xmp/runtime/failure.h"
#include "faces/xmp/runtime/files.h"
#include "faces/xmp/runtime/process_set.h"
#include "faces/xmp/runtime/translated.h"
#include "nagaya/comm.h"
#include "nagaya/match.h"
#include "nagaya/task.h"

// Defined by each unit of the program that includes xmp.h but was not compiled by xmpcc; else null.
extern "C" __attribute__((weak)) char nagaya_xmp_serial_unit;

namespace nagaya::xmp {
namespace {

constexpr unsigned kErrorReportSeconds = 2;
constexpr uint64_t kCheckNs = 500'000'000;

// The rank of this process, and the number of processes, that a launcher has started without a
// space for them.
struct Launched {
  uint64_t rank, size;
};

// Reads rank and size from the launcher's variables; nullopt: at most one process, or several that
// the user wants to be separate (nagaya run --separate). For Slurm it reads the variables of a
// step: a batch script has the job's variables, but is one process.
std::optional<Launched> launched_without_space() {
  if (std::getenv("NAGAYA_SEPARATE") != nullptr) return std::nullopt;
  constexpr const char* kVariables[][2] = {{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
                                           {"PMI_RANK", "PMI_SIZE"},
                                           {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS"},
                                           {"FLUX_TASK_RANK", "FLUX_JOB_SIZE"}};
  for (const auto& [of_rank, of_size] : kVariables) {
    const char *const rank = std::getenv(of_rank), *const size = std::getenv(of_size);
    if (rank == nullptr || size == nullptr) continue;
    const Launched found = {std::strtoul(rank, nullptr, 10), std::strtoul(size, nullptr, 10)};
    if (found.size > 1) return found;
  }
  return std::nullopt;
}

// Fails if a launcher started several processes without a space: each would run the whole program.
// The first one prints the error. The others sleep 2 s before they exit, because a launcher may
// kill all processes when the first one exits with an error.
void refuse_copies() {
  const std::optional<Launched> launched = launched_without_space();
  if (!launched) return;
  if (launched->rank != 0) {
    sleep(kErrorReportSeconds);
    std::_Exit(1);
  }
  const std::string size = std::to_string(launched->size);
  fail(nullptr, "the launcher has started " + size +
                    " processes that know nothing of each other, and each would do all of the "
                    "work: start the program with nagaya run -n " +
                    size + ", or write nagaya exec before its name in the launcher's command");
}

bool reads_halo_messages() {
  const char* const text = std::getenv("NAGAYA_XMP_HALO");
  if (text == nullptr || *text == '\0') return false;
  const std::string_view word = text;
  if (word != "copy" && word != "message")
    fail(nullptr, "NAGAYA_XMP_HALO is \"" + std::string(word) + "\": it may be copy or message");
  return word == "message";
}

// Called by each wait of the program's end, by any thread. Ends the job if another process waits
// for this one in a collective, in which it will not take part any more.
int fail_if_awaited(void*) {
  using Clock = std::chrono::steady_clock;
  static std::atomic<Clock::time_point> checked = Clock::now();
  const Clock::time_point now = Clock::now();
  if (now - checked.load(std::memory_order_relaxed) < std::chrono::nanoseconds(kCheckNs)) return 0;
  checked.store(now, std::memory_order_relaxed);
  if (const int64_t rank = ProcessSet::rank_ahead(); rank >= 0)
    fail(nullptr, "rank " + std::to_string(Job::own().rank()) + " has ended, and rank " +
                      std::to_string(rank) +
                      " waits for it: every node executes each barrier, bcast and reduction");
  return 0;
}

// Closes the library at exit(). Does nothing after an error: this process might wait for ever for
// others, and the job ends with it anyway. Does nothing in a forked child either, which is no task.
// Until the barrier another process may read and write this one's blocks. If one has ended without
// coming there, the barrier fails: this process must not wait for it in closing its arrays.
void end(int status, void*) {
  if (status != 0 || nagaya_space_identity() == 0) return;
  const nagaya_progress check = {fail_if_awaited, 1 << 12,
                                 [](void*) -> uint64_t { return kCheckNs; }, nullptr};
  nagaya_llcl_add_progress(&check);  // without room in the waits there is no check
  complete_all();
  close_files();
  leave_all_blocks();
  close_coarrays();
  if (nagaya_comm_barrier() == 0) close_all_blocks();
  ProcessSet::close_all();
  nagaya_comm_finalize();
}

}  // namespace

Job& Job::own() {
  static Job* const own = new Job;
  return *own;
}

// Sets a new handler that ends the process, so no function of this library throws std::bad_alloc.
// The library has its own operator new: the program's is not affected.
Job::Job() : has_halo_messages_(reads_halo_messages()) {
  std::set_new_handler([] { fail(nullptr, "there is no memory left: take more nodes"); });
  if (nagaya_space_identity() != 0) {
    join();
    return;
  }
  refuse_copies();
}

void Job::join() {
  if (nagaya_comm_init() != 0) fail(nullptr, nagaya_error_text());
  nagaya_comm_watch_nodes(
      [](int64_t rank, int why) { fail(nullptr, text_of_lost_node(rank, why)); });
  rank_ = static_cast<uint32_t>(nagaya_comm_rank());
  size_ = static_cast<uint32_t>(nagaya_comm_size());
  is_joined_ = true;
  if (nagaya_comm_nodes() > 1 || has_halo_messages_)
    if (const int error = nagaya_match_join(0); error != 0)
      fail(nullptr, "nagaya_match_join() says " + reason_of(error));
  pthread_atfork(nullptr, nullptr, forget_images);
  on_exit(end, nullptr);
}

// Outside of a space the process is alone.
nagaya_process Job::process(uint32_t rank) const {
  nagaya_process process = {0, 0};
  if (is_joined_) nagaya_comm_process(rank, &process);
  return process;
}

bool Job::takes_part() const {
  return !is_joined_ || nagaya_comm_rank() != -ESRCH;
}

void Job::check_takes_part(const char* where) const {
  if (!takes_part()) fail(where, reason_of(-ESRCH));
}

uint32_t Job::rank_of(nagaya_process process) const {
  return is_joined_ ? static_cast<uint32_t>(nagaya_comm_rank_of(process)) : 0;
}

namespace {

using Declare = void (*)();

std::vector<Declare>& units() {
  static auto* const all = new std::vector<Declare>;
  return *all;
}

}  // namespace
}  // namespace nagaya::xmp

void nagaya_xmp_unit(void (*declare)(void)) {
  nagaya::xmp::units().push_back(declare);
}

void nagaya_xmp_begin(void) {
  if (&nagaya_xmp_serial_unit != nullptr)
    nagaya::xmp::fail(nullptr,
                      "a file of this program includes xmp.h, but was compiled without xmpcc and "
                      "would be serial: compile it with xmpcc");
  nagaya::xmp::Job::own();
  for (const nagaya::xmp::Declare declare : nagaya::xmp::units()) declare();
  nagaya::xmp::units().clear();
}

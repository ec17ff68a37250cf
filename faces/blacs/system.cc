// SPDX-License-Identifier: BSD-3-Clause
#include "faces/blacs/system.h"

#include <dlfcn.h>
#include <errno.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <utility>

#include "faces/blacs/loaded.h"
#include "faces/blacs/notice.h"
#include "faces/blacs/waiting.h"
#include "faces/error_line.h"
#include "faces/lost_node.h"
#include "nagaya/comm.h"
#include "nagaya/match.h"
#include "nagaya/task.h"

namespace nagaya::blacs {
namespace {

bool has_symbol(const char* name) {
  return dlsym(RTLD_DEFAULT, name) != nullptr;
}

// Loads the shim for the process's MPI from the folder of this library. Returns nullptr if there is
// none for such an MPI.
const nagaya_blacs_mpi* load_shim() {
  const char* const name = has_symbol("ompi_mpi_comm_world") ? "libnagaya-blacs-openmpi.so"
                           : has_symbol("MPIR_Err_create_code") ||
                                   has_symbol("MPICH_ABI_VERSION") || has_symbol("MPI_UNWEIGHTED")
                               ? "libnagaya-blacs-mpich.so"
                               : nullptr;
  Dl_info self;
  if (name == nullptr || dladdr(reinterpret_cast<void*>(&load_shim), &self) == 0) return nullptr;
  std::string path = self.dli_fname;
  path.replace(path.rfind('/') + 1, std::string::npos, name);
  void* const shim = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (shim == nullptr) {
    warn(dlerror());
    return nullptr;
  }
  using Functions = const nagaya_blacs_mpi*();
  return reinterpret_cast<Functions*>(dlsym(shim, NAGAYA_BLACS_MPI_SYMBOL))();
}

// Whether the process has an MPI. One that was loaded RTLD_LOCAL is made global, because the shim
// is not linked with it. Looks for a function that the face of MPI does not have (faces/mpi), which
// is preloaded before there is an MPI.
bool has_mpi() {
  constexpr const char* kFunction = "MPI_Get_version";
  if (has_symbol(kFunction)) return true;
  const std::string file = find_loaded_symbol(kFunction).file;
  return !file.empty() && dlopen(file.c_str(), RTLD_NOLOAD | RTLD_LAZY | RTLD_GLOBAL) != nullptr &&
         has_symbol(kFunction);
}

// Looks for an MPI at the first call only. Returns nullptr if there is none, or no shim for it.
const nagaya_blacs_mpi* mpi_shim() {
  static const nagaya_blacs_mpi* const mpi = has_mpi() ? load_shim() : nullptr;
  return mpi;
}

}  // namespace

bool System::is_served_here() {
  static const bool is_served_here =
      nagaya_space_identity() != 0 && (!has_mpi() || mpi_shim() != nullptr);
  return is_served_here;
}

bool System::is_forked_child() {
  return is_served_here() && nagaya_space_identity() == 0;
}

System& System::own() {
  static System* const own = new System;
  return *own;
}

System::System() : mpi_(mpi_shim()) {
  if (mpi_ != nullptr) {
    mpi_->init();
    has_threads_ = mpi_->has_threads() != 0;
    rank_ = mpi_->rank(mpi_->world());
    size_ = mpi_->size(mpi_->world());
  } else {
    if (const int error = nagaya_comm_init(); error != 0)
      abort(1, "nagaya_comm_init() says " + std::string(strerrorname_np(-error)));
    rank_ = static_cast<Int>(nagaya_comm_rank());
    size_ = static_cast<Int>(nagaya_comm_size());
  }
  if (const int error = nagaya_match_join(has_threads_); error != 0)
    abort(1, "nagaya_match_join() says " + std::string(strerrorname_np(-error)));
  if (rank_ == 0) tell_of_use();
  if (mpi_ == nullptr)
    watch_nodes();  // an MPI does so itself
  else if (!is_mpi_on_nagaya())
    advance_mpi_messages();
}

// An MPI on Nagaya has opened nagaya/match.h for itself: opening it again fails.
bool System::is_mpi_on_nagaya() const {
  const int error = nagaya_match_open(has_threads_);
  if (error == 0) nagaya_match_close();
  return error == -EBUSY;
}

void System::advance_mpi_messages() {
  constexpr uint32_t kPollsPerMpiProgress = 64;  // a poll of MPI costs more than one of ours
  const nagaya_progress progress = {
      [](void* self) {
        if (Waiting::depth != 0) static_cast<System*>(self)->mpi_->progress();
        return 0;
      },
      kPollsPerMpiProgress,
      [](void*) -> uint64_t { return Waiting::depth != 0 ? NAGAYA_NOBODY_RINGS : UINT64_MAX; },
      this};
  if (const int error = nagaya_llcl_add_progress(&progress); error != 0)
    abort(1, "nagaya_llcl_add_progress() says " + std::string(strerrorname_np(-error)));
}

void System::watch_nodes() {
  nagaya_comm_watch_nodes(
      [](int64_t rank, int why) { System::own().abort(1, text_of_lost_node(rank, why)); });
  on_exit(
      [](int status, void*) {
        if (status == 0 && nagaya_space_identity() != 0) System::own().finalize();
      },
      nullptr);
}

System::Ranks System::ranks_in_world(Int comm, Int count) const {
  Ranks own{comm, std::vector<Int>(static_cast<size_t>(count))};
  std::iota(own.ranks.begin(), own.ranks.end(), 0);
  if (mpi_ == nullptr || comm == world()) return own;
  Ranks in_world{world(), own.ranks};
  const bool are_all_in_world =
      mpi_->translate(comm, own.ranks.data(), count, in_world.ranks.data()) != 0;
  return are_all_in_world ? in_world : own;
}

Int System::new_communicator(const Ranks& of, uint32_t number) {
  constexpr uint32_t kTags = 1 << 15;  // each MPI has as many
  Int made = 0;
  const int error =
      mpi_->make_group(of.communicator, of.ranks.data(), static_cast<Int>(of.ranks.size()),
                       static_cast<Int>(number % kTags), &made);
  if (error != 0) abort(1, "MPI makes no communicator of a grid's processes");
  return made;
}

void System::free_communicator(Int communicator) {
  mpi_->free(communicator);
}

System::Members System::gather(Int handle) {
  const Int comm = communicator_of(handle);
  struct ProcessInfo {
    uint64_t space;
    nagaya_process process;
    uint32_t next_grid_number;
  };
  const ProcessInfo own_info = {nagaya_space_identity(), nagaya_match_self(), next_grid_number};
  const Int count = mpi_ != nullptr ? mpi_->size(comm) : size_;
  std::vector<ProcessInfo> infos(static_cast<size_t>(count));
  if (mpi_ == nullptr && handle != 0)
    abort(1, "system handle " + std::to_string(handle) +
                 " is of a communicator, but this process had no MPI when it first called the "
                 "BLACS: load it before, or make grids of blacs_get(-1, 0)");
  const auto wait_for = [](int (*is_over)(void*), void* context) {
    wait([=] { return is_over(context) != 0; });
  };
  const int error = mpi_ != nullptr
                        ? mpi_->allgather(comm, &own_info, sizeof own_info, infos.data(), wait_for)
                        : nagaya_comm_allgather(&own_info, sizeof own_info, infos.data());
  if (error != 0) abort(1, "the processes of a system handle cannot tell each other of themselves");
  Members members{{}, mpi_ != nullptr ? mpi_->rank(comm) : rank_, 0, {}};
  for (const ProcessInfo& one : infos) {
    const bool is_in_reach =
        one.space == own_info.space || one.process.node != own_info.process.node;
    if (one.space == 0 || !is_in_reach)
      abort(1, "a process of the grid's is in no space, or in another one of this node");
    members.processes.push_back(one.process);
    members.next_grid_number = std::max(members.next_grid_number, one.next_grid_number);
  }
  members.ranks = ranks_in_world(comm, count);
  return members;
}

void System::finalize() {
  if (mpi_ != nullptr)
    mpi_->finalize();
  else if (!std::exchange(is_over_, true))
    nagaya_comm_finalize();
}

void System::refuse_call(const std::string& why) {
  std::string name = called;
  if (name.ends_with('_')) name.pop_back();
  abort(1, name + why);
}

void System::abort(int code, const std::string& why) {
  std::fflush(nullptr);
  warn(why);
  if (code % 256 == 0) code = 1;  // of an exit code eight bits are left, and 0 would end no job
  if (mpi_ != nullptr) mpi_->abort(code);
  std::_Exit(code);
}

void end_child(std::string_view function) {
  warn(std::string(function) +
       ": this process is a forked child, which has no part in the job: call "
       "the BLACS in its parent, or start a program of its own");
  std::_Exit(1);
}

void warn(const std::string& what) {
  print_error_line("nagaya: BLACS: " + what);
}

}  // namespace nagaya::blacs

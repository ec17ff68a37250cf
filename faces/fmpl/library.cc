// SPDX-License-Identifier: BSD-3-Clause
// library.cc - beginning, end, communicators.
#include "faces/fmpl/library.h"

#include <errno.h>

#include <cstdio>
#include <cstdlib>
#include <memory>

#include "faces/error_line.h"
#include "faces/lost_node.h"
#include "nagaya/comm.h"
#include "nagaya/task.h"

namespace nagaya::fmpl {
namespace {

int exit_status = 0;

Library* current_library = nullptr;

// Counters, equal at all processes. No number is used again: an earlier fmpl_finalize() may not be
// over everywhere.
uint32_t areas_made = 0;
uint32_t communicators_made = 0;
constexpr uint32_t kAreasMost = 1 << 28;

// Makes the set of the processes of these ranks of the job. Returns 0 or a negative errno.
template <class IsMember>
int open_ranks(IsMember is_member, Processes& out) {
  std::vector<nagaya_process> members;
  uint32_t own = 0;
  for (int64_t rank = 0; rank < nagaya_comm_size(); ++rank) {
    if (!is_member(static_cast<size_t>(rank))) continue;
    if (rank == nagaya_comm_rank()) own = static_cast<uint32_t>(members.size());
    nagaya_comm_process(rank, &members.emplace_back());
  }
  return nagaya::open_processes(members, own, out);
}

int open_library(Library& library, fmpl_area* ma, fmpl_flag* fa, int count) {
  if (const int error = nagaya_match_join(0); error != 0) return error;
  Communicator world{.processes = {}, .number = communicators_made++};
  int error = open_ranks([](size_t) { return true; }, world.processes);
  if (error == 0)
    error = nagaya_area_open(ma, fa, static_cast<uint32_t>(count), world.processes.get(),
                             areas_made++ % kAreasMost, &library.areas);
  library.communicators.push_back(std::move(world));
  return error;
}

int add_communicator(Library& library, Communicator communicator) {
  auto& all = library.communicators;
  size_t n = 0;
  while (n < all.size() && all[n].processes != nullptr) ++n;
  if (n == all.size()) all.emplace_back();
  all[n] = std::move(communicator);
  return static_cast<int>(n);
}

// Closes the teams. Waits for members that have not yet received the communicator's broadcasts.
void close_teams(const Communicator& communicator) {
  for (nagaya_team* const team : {communicator.team, communicator.team_by_messages})
    if (team != nullptr) nagaya_coll_wait_close(team);
}

[[noreturn]] void end_job_on_lost_node(int64_t rank, int error) {
  std::fflush(nullptr);
  print_error_line("nagaya: FMPL: " + text_of_lost_node(rank, error));
  std::_Exit(1);
}

// Ends the job if the program ends well without fmpl_finalize(): others would wait for this process
// for ever. Runs behind the exit handlers and destructors of the program, which may call that.
__attribute__((destructor)) void end_job_if_unfinished() {
  if (exit_status != 0 || library() == nullptr || nagaya_comm_size() <= 1) return;
  std::fflush(nullptr);
  print_error_line("nagaya: FMPL: rank " + std::to_string(nagaya_comm_rank()) +
                   " has ended without fmpl_finalize()");
  std::_Exit(1);
}

// Called once, by the first fmpl_init().
bool note_exit_status() {
  return on_exit([](int status, void*) { exit_status = status; }, nullptr) == 0;
}

}  // namespace

Library* library() {
  return nagaya_task_self() < 0 ? nullptr : current_library;
}

Communicator* communicator_of(int comm) {
  Library* const current = library();
  if (current == nullptr || comm < 0 || static_cast<size_t>(comm) >= current->communicators.size())
    return nullptr;
  Communicator& found = current->communicators[static_cast<size_t>(comm)];
  return found.processes == nullptr ? nullptr : &found;
}

int status_of(int error) {
  switch (error) {
    case 0:
      return FMPL_SUCCESS;
    case -ESRCH:
      return FMPL_ERR_INIT;
    case -EINVAL:
      return FMPL_ERR_ARGUMENT;
    case -EMSGSIZE:
      return FMPL_ERR_TRUNCATE;
    case -EBUSY:
      return FMPL_ERR_INDEX;
    case -ENOBUFS:
      return FMPL_ERR_SPOOL;
    case -ENOMEM:
      return FMPL_ERR_MEMORY;
    case -EALREADY:
      return FMPL_ERR_CANCEL;
    default:
      return FMPL_ERR_NETWORK;
  }
}

}  // namespace nagaya::fmpl

using nagaya::fmpl::Communicator;
using nagaya::fmpl::communicator_of;
using nagaya::fmpl::Library;
using nagaya::fmpl::status_of;

int fmpl_init(fmpl_area* ma, fmpl_flag* fa, int count) {
  if (nagaya::fmpl::current_library != nullptr) return FMPL_ERR_INIT;
  if (ma == nullptr || fa == nullptr || count < 1) return FMPL_ERR_ARGUMENT;
  [[maybe_unused]] static const bool is_noted = nagaya::fmpl::note_exit_status();
  if (const int error = nagaya_comm_init(); error != 0) {
    if (error == -ESRCH)
      nagaya::print_error_line(
          "nagaya: FMPL: fmpl_init: this process is no task of a job: start it by nagaya run, "
          "without "
          "--separate, or by nagaya exec");
    return status_of(error);
  }
  auto made = std::make_unique<Library>();
  const int error = nagaya::fmpl::open_library(*made, ma, fa, count);
  if (error != 0) {
    nagaya_comm_finalize();
  } else {
    nagaya::fmpl::current_library = made.release();
    nagaya_comm_watch_nodes(nagaya::fmpl::end_job_on_lost_node);
  }
  return status_of(error);
}

int fmpl_finalize() {
  Library* const own = nagaya::fmpl::library();
  if (own == nullptr) return FMPL_ERR_INIT;
  for (const Communicator& one : own->communicators) nagaya::fmpl::close_teams(one);
  struct Closing {
    nagaya_areas* areas;
    int error;  // of a message that was still in the spool
  } closing{own->areas, 0};
  const auto is_closed = [](void* context) -> int {
    auto* const closing = static_cast<Closing*>(context);
    closing->error = nagaya_area_close(closing->areas);
    return closing->error != -EBUSY;
  };
  nagaya_llcl_wait(is_closed, &closing, -1);
  delete own;
  nagaya::fmpl::current_library = nullptr;
  nagaya_comm_unwatch_nodes(nagaya::fmpl::end_job_on_lost_node);
  const int error = nagaya_comm_finalize();
  return status_of(error != 0 ? error : closing.error);
}

// All keys are gathered: each process finds its communicator by itself.
int fmpl_comm_create(int* comm, int key) {
  Library* const own = nagaya::fmpl::library();
  if (own == nullptr) return FMPL_ERR_INIT;
  std::vector<int> keys(static_cast<size_t>(nagaya_comm_size()));
  *comm = FMPL_COMM_NULL;
  if (const int error = nagaya_comm_allgather(&key, sizeof key, keys.data()); error != 0)
    return status_of(error);
  const uint32_t number = nagaya::fmpl::communicators_made++;
  if (key < 0) return FMPL_SUCCESS;
  Communicator made{.processes = {}, .number = number};
  const auto has_same_key = [&](size_t rank) { return keys[rank] == key; };
  if (const int error = nagaya::fmpl::open_ranks(has_same_key, made.processes); error != 0)
    return status_of(error);
  *comm = nagaya::fmpl::add_communicator(*own, std::move(made));
  return FMPL_SUCCESS;
}

int fmpl_comm_free(int* comm) {
  if (nagaya::fmpl::library() == nullptr) return FMPL_ERR_INIT;
  Communicator* const freed = communicator_of(*comm);
  if (freed == nullptr || *comm == FMPL_COMM_WORLD) return FMPL_ERR_ARGUMENT;
  nagaya::fmpl::close_teams(*freed);
  *freed = {};
  *comm = FMPL_COMM_NULL;
  return FMPL_SUCCESS;
}

int fmpl_support_set(int comm, int support) {
  if (nagaya::fmpl::library() == nullptr) return FMPL_ERR_INIT;
  Communicator* const communicator = communicator_of(comm);
  if (communicator == nullptr) return FMPL_ERR_ARGUMENT;
  communicator->has_support = support != 0;
  return FMPL_SUCCESS;
}

int fmpl_rank(int comm) {
  const Communicator* const communicator = communicator_of(comm);
  return communicator == nullptr ? -1 : communicator->rank();
}

int fmpl_size(int comm) {
  const Communicator* const communicator = communicator_of(comm);
  return communicator == nullptr ? -1 : communicator->size();
}

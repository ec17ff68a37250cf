/* SPDX-License-Identifier: BSD-3-Clause */
/* teams.c - the processes that do a collective together, and their order.
 *
 *   communicator               its ranks
 *   intercommunicator          the first group, then the second
 *     with a root              the group that gives to the root or gets from it, then the root
 *
 * Teams are numbered: one of each kind for all processes; for each possible root, in the order of
 * the first group and the second, one of each kind; one for each persistent request. */
#include <stdlib.h>

#include "coll_nagaya.h"

#include "peers.h"

/* The first group is the one whose leader's name is lower: all processes of both see the same. */
bool coll_nagaya_is_local_group_first(struct ompi_communicator_t* comm) {
  const opal_process_name_t own = ompi_group_get_proc_name(comm->c_local_group, 0);
  const opal_process_name_t other = ompi_group_get_proc_name(comm->c_remote_group, 0);
  return own.jobid != other.jobid ? own.jobid < other.jobid : own.vpid < other.vpid;
}

uint32_t coll_nagaya_team_number(const coll_nagaya_call* call, uint32_t kind,
                                 struct ompi_communicator_t* comm) {
  if (OPAL_LIKELY(call->members == COLL_NAGAYA_ALL)) return kind;
  const bool is_own = call->root == MPI_ROOT, is_first = coll_nagaya_is_local_group_first(comm);
  int root_position = is_own ? ompi_comm_rank(comm) : call->root;
  if (is_own != is_first)
    root_position += is_first ? ompi_comm_size(comm) : ompi_comm_remote_size(comm);
  return COLL_NAGAYA_TEAM_KINDS * (1 + (uint32_t)root_position) + kind;
}

/* A part of a team: `count` ranks of a group, from `first` on. */
typedef struct part_t {
  ompi_group_t* group;
  int first, count;
} part_t;

typedef struct members_t {
  part_t parts[2];
  uint32_t rank; /* the caller's in the team */
} members_t;

static members_t members_of(struct ompi_communicator_t* comm, const coll_nagaya_call* call) {
  const bool is_inter = OMPI_COMM_IS_INTER(comm);
  const int rank = ompi_comm_rank(comm);
  const int remote_size = is_inter ? ompi_comm_remote_size(comm) : 0;
  const part_t local = {comm->c_local_group, 0, ompi_comm_size(comm)};
  const part_t remote = {comm->c_remote_group, 0, remote_size};
  if (call->members == COLL_NAGAYA_ROOTED && call->root == MPI_ROOT)
    return (members_t){{remote, {local.group, rank, 1}}, (uint32_t)remote_size};
  if (call->members == COLL_NAGAYA_ROOTED)
    return (members_t){{local, {remote.group, call->root, 1}}, (uint32_t)rank};
  if (is_inter && !coll_nagaya_is_local_group_first(comm))
    return (members_t){{remote, local}, (uint32_t)(remote_size + rank)};
  return (members_t){{local, remote}, (uint32_t)rank};
}

int coll_nagaya_open_team(struct ompi_communicator_t* comm, const coll_nagaya_call* call,
                          uint32_t number, nagaya_team** team) {
  if (OPAL_LIKELY(*team != NULL)) return OMPI_SUCCESS;
  if (number >= NAGAYA_TEAMS_WINDOWS / COLL_NAGAYA_CONTEXTS) return OMPI_ERR_OUT_OF_RESOURCE;
  const members_t members = members_of(comm, call);
  const int size = members.parts[0].count + members.parts[1].count;
  nagaya_process* const processes = malloc((size_t)size * sizeof *processes);
  if (processes == NULL) return MPI_ERR_NO_MEM;
  int error = OMPI_SUCCESS;
  nagaya_process* next = processes;
  for (int n = 0; n < 2; ++n) {
    const part_t* const part = &members.parts[n];
    for (int k = 0; k < part->count && error == OMPI_SUCCESS; ++k)
      error = nagaya_process_in(part->group, part->first + k, next++);
  }
  nagaya_processes* set = NULL;
  if (error == OMPI_SUCCESS)
    error = nagaya_mpi_error(nagaya_processes_open(processes, (uint32_t)size, members.rank, &set));
  free(processes);
  if (error != OMPI_SUCCESS) return error;
  const uint64_t context = (uint64_t)number * COLL_NAGAYA_CONTEXTS + nagaya_context_of(comm);
  error = nagaya_mpi_error(nagaya_coll_open(context, set, opal_using_threads(), team));
  nagaya_processes_close(set);
  return error;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "peers.h"

#include <stdlib.h>

#include <nagaya/match.h>
#include <nagaya/task.h>

/* Each process publishes this. */
struct address {
  uint64_t space; /* nagaya_space_identity() */
  nagaya_process process;
};

/* Processes publish and look up under this component's name. The pml that Open MPI has selected may
 * have another one, because layers before pml/nagaya put theirs there (pml/monitoring). */
static const mca_base_component_t publisher = {
    NAGAYA_PML_VERSION,
    .mca_component_name = "nagaya",
    .mca_component_major_version = OMPI_MAJOR_VERSION,
    .mca_component_minor_version = OMPI_MINOR_VERSION,
    .mca_component_release_version = OMPI_RELEASE_VERSION,
};

int nagaya_publish_self(void) {
  const struct address own = {nagaya_space_identity(), nagaya_match_self()};
  int error;
  OPAL_MODEX_SEND(error, NAGAYA_MODEX_SCOPE, &publisher, &own, sizeof own);
  return error;
}

static bool has_met_other_jobs; /* by MPI_Comm_spawn, MPI_Comm_connect */

static void print_out_of_reach(const ompi_proc_t* proc, bool is_task) {
  opal_output(0,
              "nagaya: process %s cannot get this task's messages: it is %s, or set NAGAYA_MPI=off",
              OMPI_NAME_PRINT(&proc->super.proc_name),
              is_task ? "in another space: spawn it on this task's node"
                      : "no task: start the job by `nagaya run`, or make `nagaya exec` mpirun's "
                        "fork agent (nagaya-exec(1))");
}

int nagaya_find_peer(ompi_proc_t* proc) {
  void** const known = &proc->proc_endpoints[OMPI_PROC_ENDPOINT_TAG_PML];
  if (*known == (void*)NAGAYA_OUT_OF_REACH) return OMPI_ERR_UNREACH;
  struct address* found = NULL;
  size_t bytes = 0;
  int error;
  OPAL_MODEX_RECV(error, &publisher, &proc->super.proc_name, (void**)&found, &bytes);
  const bool is_of_this_job =
      proc->super.proc_name.jobid == ompi_proc_local()->super.proc_name.jobid;
  const bool is_in_reach = error == OMPI_SUCCESS && bytes == sizeof *found &&
                           (found->space == nagaya_space_identity() || is_of_this_job);
  if (!is_in_reach) print_out_of_reach(proc, found != NULL);
  has_met_other_jobs |= !is_of_this_job;
  *known = (void*)(is_in_reach ? nagaya_word_of(found->process) : NAGAYA_OUT_OF_REACH);
  free(found);
  return is_in_reach ? OMPI_SUCCESS : OMPI_ERR_UNREACH;
}

static void for_each_of_other_jobs(ompi_group_t* group, int (*act)(int task)) {
  const nagaya_process own = nagaya_match_self();
  for (int rank = 0; rank < ompi_group_size(group); ++rank) {
    if (ompi_group_get_proc_name(group, rank).jobid == ompi_proc_local()->super.proc_name.jobid)
      continue;
    nagaya_process process;
    if (nagaya_process_in(group, rank, &process) == OMPI_SUCCESS && process.node == own.node)
      act((int)process.task);
  }
}

static void for_each_process_of_other_jobs(struct ompi_communicator_t* comm, int (*act)(int task)) {
  if (OPAL_LIKELY(!has_met_other_jobs)) return;
  for_each_of_other_jobs(comm->c_local_group, act);
  if (comm->c_remote_group != comm->c_local_group)
    for_each_of_other_jobs(comm->c_remote_group, act);
}

void nagaya_hold_other_jobs(struct ompi_communicator_t* comm) {
  for_each_process_of_other_jobs(comm, nagaya_task_hold);
}

void nagaya_release_other_jobs(struct ompi_communicator_t* comm) {
  for_each_process_of_other_jobs(comm, nagaya_task_release);
}

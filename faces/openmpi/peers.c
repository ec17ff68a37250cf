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

int nagaya_publish_self(const mca_base_component_t* pml) {
  const struct address own = {nagaya_space_identity(), nagaya_match_self()};
  int error;
  OPAL_MODEX_SEND(error, NAGAYA_EVERYWHERE, pml, &own, sizeof own);
  return error;
}

static void say_out_of_reach(const ompi_proc_t* proc, bool is_task) {
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
  OPAL_MODEX_RECV(error, &mca_pml_base_selected_component.pmlm_version, &proc->super.proc_name,
                  (void**)&found, &bytes);
  const bool is_of_this_job =
      proc->super.proc_name.jobid == ompi_proc_local()->super.proc_name.jobid;
  const bool is_in_reach = error == OMPI_SUCCESS && bytes == sizeof *found &&
                           (found->space == nagaya_space_identity() || is_of_this_job);
  if (!is_in_reach) say_out_of_reach(proc, found != NULL);
  *known = (void*)(is_in_reach ? nagaya_word_of(found->process) : NAGAYA_OUT_OF_REACH);
  free(found);
  return is_in_reach ? OMPI_SUCCESS : OMPI_ERR_UNREACH;
}

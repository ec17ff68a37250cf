/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>

#include "communicator.h"
#include "pml_nagaya.h"

#include <nagaya/comm.h>
#include <nagaya/task.h>

#include "ompi/runtime/mpiruntime.h"

/* Above Open MPI's own components (ob1 20, cm and ucx up to 51): in a space nothing is faster. */
enum { PRIORITY = 90 };

/* ---- the module -------------------------------------------------------------------------- */

static int add_comm(struct ompi_communicator_t* comm) {
  nagaya_hold_other_jobs(comm);
  return nagaya_begin_communicator(comm);
}

/* The next communicator may get the number of this one: it must find none of its teams, and none of
 * the messages that have arrived and that nobody will receive. */
static int del_comm(struct ompi_communicator_t* comm) {
  nagaya_end_communicator(comm);
  const int error = nagaya_mpi_error(nagaya_match_drop(nagaya_context_of(comm)));
  nagaya_release_other_jobs(comm);
  return error;
}

static int add_procs(ompi_proc_t** procs, size_t count) {
  const int error = mca_pml_base_pml_check_selected("nagaya", procs, count);
  for (size_t n = 0; error == OMPI_SUCCESS && n < count; ++n) {
    const int unknown = nagaya_find_peer(procs[n]);
    if (unknown != OMPI_SUCCESS) return unknown;
  }
  return error;
}

static int del_procs(ompi_proc_t** procs, size_t count) {
  nagaya_remove_procs_from_transports(procs, count);
  for (size_t n = 0; n < count; ++n) procs[n]->proc_endpoints[OMPI_PROC_ENDPOINT_TAG_PML] = NULL;
  return OMPI_SUCCESS;
}

static int enable(bool enable) {
  if (!enable) return OMPI_SUCCESS;
  const struct {
    opal_free_list_t* list;
    size_t bytes;
    opal_class_t* type;
  } lists[] = {
      {&mca_pml_base_send_requests, sizeof(pml_nagaya_send_request_t),
       OBJ_CLASS(pml_nagaya_send_request_t)},
      {&mca_pml_base_recv_requests, sizeof(pml_nagaya_receive_request_t),
       OBJ_CLASS(pml_nagaya_receive_request_t)},
  };
  for (size_t n = 0; n < 2; ++n) {
    const int error =
        opal_free_list_init(lists[n].list, lists[n].bytes, opal_cache_line_size, lists[n].type, 0,
                            opal_cache_line_size, 4, -1, 64, NULL, 0, NULL, NULL, NULL);
    if (error != OMPI_SUCCESS) return error;
  }
  const int error = pml_nagaya_init_completed_sends();
  return error == OMPI_SUCCESS ? pml_nagaya_begin_waits() : error;
}

int pml_nagaya_start(size_t count, ompi_request_t** requests) {
  for (size_t n = 0; n < count; ++n) {
    mca_pml_base_request_t* const request = (mca_pml_base_request_t*)requests[n];
    if (request == NULL || requests[n]->req_type != OMPI_REQUEST_PML) continue;
    const int error = request->req_type == MCA_PML_REQUEST_SEND
                          ? pml_nagaya_start_send((pml_nagaya_send_request_t*)request)
                          : pml_nagaya_start_receive((pml_nagaya_receive_request_t*)request);
    if (error == OMPI_SUCCESS) continue;
    requests[n]->req_complete = REQUEST_COMPLETED; /* a wait ends, and it may be started again */
    requests[n]->req_state = OMPI_REQUEST_INACTIVE;
    return error;
  }
  return OMPI_SUCCESS;
}

static int dump(struct ompi_communicator_t* comm, int verbose) {
  return OMPI_SUCCESS;
}

mca_pml_base_module_t pml_nagaya_module = {
    .pml_add_procs = add_procs,
    .pml_del_procs = del_procs,
    .pml_enable = enable,
    .pml_progress = pml_nagaya_progress,
    .pml_add_comm = add_comm,
    .pml_del_comm = del_comm,
    .pml_irecv_init = pml_nagaya_irecv_init,
    .pml_irecv = pml_nagaya_irecv,
    .pml_recv = pml_nagaya_recv,
    .pml_isend_init = pml_nagaya_isend_init,
    .pml_isend = pml_nagaya_isend,
    .pml_send = pml_nagaya_send,
    .pml_iprobe = pml_nagaya_iprobe,
    .pml_probe = pml_nagaya_probe,
    .pml_start = pml_nagaya_start,
    .pml_improbe = pml_nagaya_improbe,
    .pml_mprobe = pml_nagaya_mprobe,
    .pml_imrecv = pml_nagaya_imrecv,
    .pml_mrecv = pml_nagaya_mrecv,
    .pml_dump = dump,
    .pml_max_contextid = NAGAYA_CONTEXTS_BLACS - 1,
    .pml_max_tag = INT_MAX,
};

/* ---- the component ----------------------------------------------------------------------- */

static bool is_usable;           /* set by open(): this component has opened nagaya/match.h */
static bool has_connected_nodes; /* by nagaya_comm_init(); undone at the end */

/* Whether this is the release of Open MPI that the component was built for: others have other
 * structures. */
static bool is_our_release(void) {
  char text[MPI_MAX_LIBRARY_VERSION_STRING];
  int bytes, major = 0, minor = 0, release = 0;
  PMPI_Get_library_version(text, &bytes);
  sscanf(text, "Open MPI v%d.%d.%d", &major, &minor, &release);
  if (major == OMPI_MAJOR_VERSION && minor == OMPI_MINOR_VERSION && release == OMPI_RELEASE_VERSION)
    return true;
  opal_output(0,
              "nagaya: pml/nagaya was built for Open MPI %d.%d.%d, this is %d.%d.%d: messages take "
              "Open MPI's own transports",
              OMPI_MAJOR_VERSION, OMPI_MINOR_VERSION, OMPI_RELEASE_VERSION, major, minor, release);
  return false;
}

/* Ends the job, as Open MPI's own transports do when a connection breaks. */
static void end_job(int64_t rank, int error) {
  opal_output(0, "nagaya: the node of rank %lld cannot be reached any more: %s", (long long)rank,
              nagaya_strerror(error));
  ompi_mpi_abort(&ompi_mpi_comm_world.comm, MPI_ERR_OTHER);
}

/* Connects the nodes of a job on several nodes, and watches for lost ones. Returns whether all
 * nodes can be reached. */
static bool connect_other_nodes(void) {
  if (nagaya_is_job_on_one_node()) return true;
  has_connected_nodes = nagaya_comm_init() == 0;
  if (has_connected_nodes)
    nagaya_comm_watch_nodes(end_job);
  else
    opal_output(0, "nagaya: %s: messages take Open MPI's own transports", nagaya_error_text());
  return has_connected_nodes;
}

static int disconnect_other_nodes(void) {
  nagaya_comm_unwatch_nodes(end_job);
  if (has_connected_nodes) nagaya_comm_finalize();
  has_connected_nodes = false;
  return OMPI_SUCCESS;
}

/* Whether several threads may call, at once or by turns. Open MPI 5 uses threads only if they call
 * at once; 4.1 also for FUNNELED, and then holds locks while it calls us. (A session of Open MPI 5
 * has no level here.) */
static bool has_several_threads(void) {
  return opal_using_threads() || ompi_mpi_thread_provided >= MPI_THREAD_SERIALIZED;
}

/* A vprotocol is a layer before the chosen pml, which keeps data of its own behind the requests of
 * Open MPI's pmls: our requests are not made for that. */
static bool is_without_vprotocol(void) {
  int variable;
  const char* const* value = NULL;
  if (mca_base_var_find_by_name("vprotocol", &variable) != OPAL_SUCCESS ||
      mca_base_var_get_value(variable, &value, NULL, NULL) != OPAL_SUCCESS || value == NULL ||
      *value == NULL || **value == 0)
    return true;
  opal_output(0,
              "nagaya: vprotocol %s is made for Open MPI's own pmls: messages take Open MPI's own "
              "transports (unset OMPI_MCA_vprotocol for Nagaya's)",
              *value);
  return false;
}

/* Whether pml/nagaya can be used; the answer is the same in all processes of a job. Ordinary
 * processes, and jobs with wrong settings, keep Open MPI's own transports. */
static bool may_be_used(void) {
  if (nagaya_task_self() < 0 || !is_our_release() || !is_without_vprotocol() ||
      !connect_other_nodes())
    return false;
  const int error = nagaya_match_open(has_several_threads());
  if (error == 0) return true;
  const char* const why = error == -EINVAL ? nagaya_error_text()
                          : error == -EBUSY
                              ? "another library of the program uses nagaya/match.h, or it was "
                                "opened for one thread before"
                              : strerror(-error);
  opal_output(0, "nagaya: %s: messages take Open MPI's own transports", why);
  disconnect_other_nodes();
  return false;
}

static int number_in(const char* variable, int otherwise) {
  const char* const value = getenv(variable);
  return value != NULL ? atoi(value) : otherwise;
}

/* If a launcher without PMIx has started several processes, Open MPI takes each of them for a job
 * of its own. One of them says so, unless `nagaya exec` has found out before. (OMPI_COMM_WORLD_SIZE
 * is 1 in a job of one rank that such a process has started.) */
static void tell_of_lone_rank(void) {
  const int processes = number_in("PMI_SIZE", 1);
  if (processes <= 1 || number_in("PMI_RANK", 0) != 0 ||
      number_in("OMPI_COMM_WORLD_SIZE", processes) == 1 || getenv("NAGAYA_RANK_EXAMINED") != NULL)
    return;
  opal_output(0,
              "nagaya: the launcher of these %d processes does not speak PMIx: Open MPI takes each "
              "for a job of one rank; start them by Open MPI's mpirun, or by nagaya run",
              processes);
}

/* If the user selects no pml, or only excludes some (Debian's setting does), Open MPI considers its
 * own components only. Selects ours, as a user would. */
static int open(void) {
  char** const selection = &ompi_pml_base_framework.framework_selection;
  is_usable = may_be_used();
  if (is_usable && ompi_process_info.num_procs == 1) tell_of_lone_rank();
  const bool has_selected_one = *selection != NULL && **selection != 0 && **selection != '^';
  if (is_usable && !has_selected_one) *selection = strdup("nagaya");
  return OMPI_SUCCESS;
}

static mca_pml_base_module_t* init(int* priority, bool wants_progress_threads, bool wants_threads) {
  if (!is_usable) return NULL;
  if (nagaya_publish_self() != OMPI_SUCCESS) return NULL;
  nagaya_start_transports(wants_progress_threads, wants_threads);
  *priority = PRIORITY;
  return &pml_nagaya_module;
}

static int finalize(void) {
  pml_nagaya_end_waits();
  return disconnect_other_nodes();
}

static int leave_match(void) {
  nagaya_comm_unwatch_nodes(end_job); /* finalize() is not called if init() has failed */
  if (is_usable) nagaya_match_close();
  is_usable = false;
  return OMPI_SUCCESS;
}

mca_pml_base_component_t mca_pml_nagaya_component = {
    .pmlm_version =
        {
            NAGAYA_PML_VERSION,
            .mca_component_name = "nagaya",
            .mca_component_major_version = OMPI_MAJOR_VERSION,
            .mca_component_minor_version = OMPI_MINOR_VERSION,
            .mca_component_release_version = OMPI_RELEASE_VERSION,
            .mca_open_component = open,
            .mca_close_component = leave_match,
        },
    .pmlm_data = {.param_field = MCA_BASE_METADATA_PARAM_NONE},
    .pmlm_init = init,
    .pmlm_finalize = finalize,
};

/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "coll_nagaya.h"

/* Above Open MPI's own algorithms (tuned 30), but below the components that handle buffers of
 * devices (coll/cuda, coll/accelerator 78): these bring them to the host, and then call us. */
enum { PRIORITY = 77 };

/* ---- which operations ---------------------------------------------------------------------- */

#define FUNCTION(name) \
  { #name, offsetof(mca_coll_base_module_t, coll_##name) }
static const struct {
  const char* name;
  size_t offset;
} functions[] = {
    FUNCTION(allgather),
    FUNCTION(allgatherv),
    FUNCTION(allreduce),
    FUNCTION(alltoall),
    FUNCTION(alltoallv),
    FUNCTION(alltoallw),
    FUNCTION(barrier),
    FUNCTION(bcast),
    FUNCTION(exscan),
    FUNCTION(gather),
    FUNCTION(gatherv),
    FUNCTION(reduce),
    FUNCTION(reduce_scatter),
    FUNCTION(reduce_scatter_block),
    FUNCTION(scan),
    FUNCTION(scatter),
    FUNCTION(scatterv),
    FUNCTION(iallgather),
    FUNCTION(iallgatherv),
    FUNCTION(iallreduce),
    FUNCTION(ialltoall),
    FUNCTION(ialltoallv),
    FUNCTION(ialltoallw),
    FUNCTION(ibarrier),
    FUNCTION(ibcast),
    FUNCTION(iexscan),
    FUNCTION(igather),
    FUNCTION(igatherv),
    FUNCTION(ireduce),
    FUNCTION(ireduce_scatter),
    FUNCTION(ireduce_scatter_block),
    FUNCTION(iscan),
    FUNCTION(iscatter),
    FUNCTION(iscatterv),
    FUNCTION(allgather_init),
    FUNCTION(allgatherv_init),
    FUNCTION(allreduce_init),
    FUNCTION(alltoall_init),
    FUNCTION(alltoallv_init),
    FUNCTION(alltoallw_init),
    FUNCTION(barrier_init),
    FUNCTION(bcast_init),
    FUNCTION(exscan_init),
    FUNCTION(gather_init),
    FUNCTION(gatherv_init),
    FUNCTION(reduce_init),
    FUNCTION(reduce_scatter_init),
    FUNCTION(reduce_scatter_block_init),
    FUNCTION(scan_init),
    FUNCTION(scatter_init),
    FUNCTION(scatterv_init),
};

static bool has_word(const char* list, const char* word) {
  const size_t length = strlen(word);
  for (const char* at = list; (at = strstr(at, word)) != NULL; at += length) {
    const bool begins = at == list || at[-1] == ',';
    if (begins && (at[length] == ',' || at[length] == 0)) return true;
  }
  return false;
}

/* Whether NAGAYA_COLL (`selection`) selects the operation. Unset or "on" selects all, "off" none, a
 * list of names these, "^" before a list all others. */
static bool is_selected(const char* selection, const char* name) {
  if (selection == NULL || strcmp(selection, "on") == 0) return true;
  if (strcmp(selection, "off") == 0) return false;
  return *selection == '^' ? !has_word(selection + 1, name) : has_word(selection, name);
}

static bool is_known(const char* word, size_t length) {
  for (size_t n = 0; n < sizeof functions / sizeof *functions; ++n)
    if (strncmp(functions[n].name, word, length) == 0 && functions[n].name[length] == 0)
      return true;
  return false;
}

/* Returns whether NAGAYA_COLL (`selection`) has only words known above; prints the first other
 * one. */
static bool is_valid_selection(const char* selection) {
  if (selection == NULL || strcmp(selection, "on") == 0 || strcmp(selection, "off") == 0)
    return true;
  for (const char* word = *selection == '^' ? selection + 1 : selection;; ++word) {
    const size_t length = strcspn(word, ",");
    if (!is_known(word, length)) {
      opal_output(0,
                  "nagaya: NAGAYA_COLL=%s: \"%.*s\" is no collective (say on, off, or names as in "
                  "bcast,iallreduce): Open MPI's own algorithms do all",
                  selection, (int)length, word);
      return false;
    }
    word += length;
    if (*word == 0) return true;
  }
}

/* In an intercommunicator Open MPI's coll/inter does reductions: it reduces in each group, by our
 * functions, and exchanges the results. */
static bool is_reduction(const char* name) {
  return strstr(name, "reduce") != NULL || strstr(name, "scan") != NULL;
}

/* Open MPI takes functions that we do not have from its other components. */
static void set_functions(mca_coll_base_module_t* module, bool is_inter) {
  const char* const selection = getenv("NAGAYA_COLL");
  coll_nagaya_set_functions(module);
  for (size_t n = 0; n < sizeof functions / sizeof *functions; ++n)
    if (!is_selected(selection, functions[n].name) || (is_inter && is_reduction(functions[n].name)))
      memset((char*)module + functions[n].offset, 0, sizeof(void (*)(void)));
}

/* ---- for which communicators --------------------------------------------------------------- */

/* All processes of a communicator get one answer. Collectives progress with Nagaya's messages, so
 * the communicator must use pml/nagaya. */
static bool may_serve(struct ompi_communicator_t* comm) {
  return (OMPI_COMM_IS_INTER(comm) || ompi_comm_size(comm) >= 2) && nagaya_is_pml_of(comm) &&
         nagaya_context_of(comm) < COLL_NAGAYA_CONTEXTS;
}

/* ---- the choices made, for --mca coll_base_verbose 20 -------------------------------------- */

void coll_nagaya_print_algorithm(const coll_nagaya_call* call, const nagaya_team* team,
                                 struct ompi_communicator_t* comm) {
  static const char* const kinds[] = {"barrier",        "bcast",    "gather", "scatter",
                                      "allgather",      "alltoall", "reduce", "allreduce",
                                      "reduce_scatter", "scan",     "exscan"};
  const nagaya_collective* const what = &call->collective;
  const size_t bytes = call->op != NULL ? what->elements.count * what->elements.extent
                                        : (what->send.base != NULL ? what->send.bytes : 0);
  opal_output_verbose(COLL_NAGAYA_VERBOSITY, ompi_coll_base_framework.framework_output,
                      "coll:nagaya: communicator %u, rank %d: %s, %zu bytes%s: %s",
                      nagaya_context_of(comm), ompi_comm_rank(comm), kinds[what->kind], bytes,
                      call->send_runs != NULL || call->receive_runs != NULL ? " in runs" : "",
                      nagaya_coll_algorithm(team, what));
}

/* ---- the module ---------------------------------------------------------------------------- */

static int enable(mca_coll_base_module_t* module, struct ompi_communicator_t* comm) {
  return OMPI_SUCCESS;
}

/* Makes the table of teams, which are opened later: one of each kind for all processes, and in an
 * intercommunicator one of each kind for each root. Returns false without memory. */
static bool make_teams(struct ompi_communicator_t* comm) {
  nagaya_communicator* const own = nagaya_communicator_of(comm);
  if (own->teams != NULL) return true;
  const int roots =
      OMPI_COMM_IS_INTER(comm) ? ompi_comm_size(comm) + ompi_comm_remote_size(comm) : 0;
  const uint32_t count = COLL_NAGAYA_TEAM_KINDS * (1 + (uint32_t)roots);
  own->teams = calloc(count, sizeof(nagaya_team*));
  if (own->teams != NULL) own->teams_count = count;
  return own->teams != NULL;
}

static mca_coll_base_module_t* query(struct ompi_communicator_t* comm, int* priority) {
  if (!may_serve(comm) || !make_teams(comm)) return NULL;
  mca_coll_base_module_t* module = OBJ_NEW(mca_coll_base_module_t);
  if (module == NULL) return NULL;
  module->coll_module_enable = enable;
  set_functions(module, OMPI_COMM_IS_INTER(comm));
  *priority = PRIORITY;
  return module;
}

/* ---- the component ------------------------------------------------------------------------- */

static int init(bool wants_progress_threads, bool wants_threads) {
  return is_valid_selection(getenv("NAGAYA_COLL")) ? OMPI_SUCCESS : OMPI_ERR_BAD_PARAM;
}

const mca_coll_base_component_t mca_coll_nagaya_component = {
    .collm_version =
        {
            NAGAYA_COLL_VERSION,
            .mca_component_name = "nagaya",
            .mca_component_major_version = OMPI_MAJOR_VERSION,
            .mca_component_minor_version = OMPI_MINOR_VERSION,
            .mca_component_release_version = OMPI_RELEASE_VERSION,
        },
    .collm_data = {.param_field = MCA_BASE_METADATA_PARAM_NONE},
    .collm_init_query = init,
    .collm_comm_query = query,
};

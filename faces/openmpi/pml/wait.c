/* SPDX-License-Identifier: BSD-3-Clause */
/* wait.c - Open MPI's waits, done by Nagaya's. opal_progress() does not tell whether its caller
 * waits: a thread that calls it only yields. A thread that waits for requests, by MPI_Wait and its
 * like or within the library, comes here, and sleeps if the wait takes long.
 *
 *   MPI_Wait... ──► ompi_request_functions ──► wait.c ──► nagaya_match_wait ◄─► opal_progress
 *                                                 └─► Open MPI's own function, once there is
 *                                                     nothing to wait for any more
 *
 * Components that are not ours (windows, files, collectives) get their progress by opal_progress(),
 * which calls ours again: a nested call of either does nothing. */
#include <string.h>

#include "pml_nagaya.h"

#include "ompi/file/file.h"
#include "ompi/win/win.h"
#include "opal/mca/btl/base/base.h"

/* Polls of a wait from one opal_progress() to the next, which costs more than a poll of ours. */
enum { POLLS_PER_OPAL_PROGRESS = 64 };

static _Thread_local bool is_progressing;       /* the thread is in our progress or Open MPI's */
static _Thread_local unsigned waits_for_others; /* the thread's, for requests that are not ours */

static ompi_request_fns_t open_mpi_waits; /* Open MPI's own waits */

static bool windows_are_served; /* progress_of_windows() is called in each poll */
static void serve_windows(void);

/* ---- progress ---------------------------------------------------------------------------- */

/* Advances Nagaya's messages. Returns how much has moved. Ours yields if it finds nothing: Open
 * MPI, told so, would yield once more, and must not. */
int pml_nagaya_progress(void) {
  opal_progress_yield_when_idle = false;
  if (is_progressing) return 0;
  is_progressing = true;
  const int count = nagaya_match_progress();
  is_progressing = false;
  return count;
}

/* Whether the table has more than its first entry, MPI_WIN_NULL or MPI_FILE_NULL. */
static bool has_entries(const opal_pointer_array_t* table) {
  return table->size - table->number_free > 1;
}

/* Whether there is a window of several processes. One of this process alone, as libnagaya-mpi.so
 * makes for each window of its own, needs no answers of this task. */
static bool has_windows_with_others(void) {
  opal_pointer_array_t* const table = &ompi_mpi_windows;
  bool has_any = false;
  if (!has_entries(table)) return false;
  OPAL_THREAD_LOCK(&table->lock);
  for (int n = 1; n < table->size && !has_any; ++n) {
    const ompi_win_t* const window = table->addr[n];
    has_any = window != NULL && window->w_group != NULL && ompi_group_size(window->w_group) > 1;
  }
  OPAL_THREAD_UNLOCK(&table->lock);
  return has_any;
}

static uint64_t before_sleep(void* context) {
  const bool others_are_active =
      waits_for_others != 0 || has_windows_with_others() || has_entries(&ompi_file_f_to_c_table);
  return others_are_active ? NAGAYA_NOBODY_RINGS : UINT64_MAX;
}

/* Advances Open MPI's transports. Returns how much has moved: opal_progress() does not. */
static int progress_of_transports(void) {
  const opal_list_t* const all = &mca_btl_base_modules_initialized;
  const mca_btl_base_selected_module_t* one;
  int count = 0;
  OPAL_LIST_FOREACH(one, all, const mca_btl_base_selected_module_t) {
    const mca_btl_base_component_progress_fn_t progress = one->btl_component->btl_progress;
    const int moved = progress != NULL ? progress() : 0;
    if (moved > 0) count += moved;
  }
  return count;
}

/* Open MPI's other components may have to act on a message of ours: they do so here, before the
 * thread sleeps. */
static int progress_of_others(void* context) {
  const bool was_progressing = is_progressing;
  is_progressing = true;
  const bool has_windows = has_windows_with_others();
  if (has_windows) serve_windows();
  const int count = has_windows ? progress_of_transports() : 0;
  if (!was_progressing) opal_progress();
  is_progressing = was_progressing;
  return count;
}

/* Advances windows in each poll, because a peer may wait for each answer of this task, as to its
 * accumulates. A task that has answered stays awake for the next request. */
static int progress_of_windows(void* context) {
  return has_windows_with_others() ? progress_of_others(context) : 0;
}

/* Adds progress_of_windows() to all waits when the first window exists: no earlier poll pays. */
static void serve_windows(void) {
  static const nagaya_progress windows = {progress_of_windows, 1, before_sleep, &open_mpi_waits};
  if (!windows_are_served && !__atomic_exchange_n(&windows_are_served, true, __ATOMIC_RELAXED))
    nagaya_llcl_add_progress(&windows);
}

/* ---- waits ------------------------------------------------------------------------------- */

struct awaited {
  size_t count;
  ompi_request_t** requests;
  size_t complete; /* so many of the first ones */
  int (*are_over)(void* awaited);
};

static int is_complete(void* request) {
  return REQUEST_COMPLETE((ompi_request_t*)request);
}

static int are_all_complete(void* context) {
  struct awaited* const all = context;
  while (all->complete < all->count && REQUEST_COMPLETE(all->requests[all->complete]))
    ++all->complete;
  return all->complete == all->count;
}

/* Whether a request is complete, or none is active. */
static int is_any_complete(void* context) {
  const struct awaited* const all = context;
  bool has_active = false;
  for (size_t n = 0; n < all->count; ++n) {
    if (all->requests[n]->req_state == OMPI_REQUEST_INACTIVE) continue;
    if (REQUEST_COMPLETE(all->requests[n])) return true;
    has_active = true;
  }
  return !has_active;
}

/* Whether pml/nagaya or coll/nagaya has made it (the latter is another library: the name of its
 * class tells). */
static bool is_nagaya_request(const ompi_request_t* request) {
  return request->req_type == OMPI_REQUEST_PML ||
         (request->req_type == OMPI_REQUEST_COLL &&
          strcmp(((const opal_object_t*)request)->obj_class->cls_name, "coll_nagaya_request_t") ==
              0);
}

static bool are_nagaya_requests(size_t count, ompi_request_t** requests) {
  for (size_t n = 0; n < count; ++n)
    if (!REQUEST_COMPLETE(requests[n]) && !is_nagaya_request(requests[n])) return false;
  return true;
}

int pml_nagaya_wait_until(int (*is_over)(void* context), void* context) {
  return nagaya_mpi_error(nagaya_match_wait(is_over, context, -1));
}

int pml_nagaya_wait(ompi_request_t* request) {
  return REQUEST_COMPLETE(request) ? OMPI_SUCCESS : pml_nagaya_wait_until(is_complete, request);
}

int pml_nagaya_wait_even_without_memory(ompi_request_t* request) {
  return nagaya_mpi_error(nagaya_llcl_wait(is_complete, request, -1));
}

/* For waits for requests of other components: these need their progress in each poll. */
static int are_over_with_others(void* context) {
  struct awaited* const all = context;
  progress_of_others(NULL);
  return all->are_over(all);
}

/* Stores the error in each of our incomplete requests, where Open MPI reads it, and completes the
 * receives among them that have no message. Returns how many were incomplete. */
static size_t fail_incomplete(size_t count, ompi_request_t** requests, int error) {
  size_t failed = 0;
  for (size_t n = 0; n < count; ++n) {
    if (REQUEST_COMPLETE(requests[n]) || requests[n]->req_type != OMPI_REQUEST_PML) continue;
    requests[n]->req_status.MPI_ERROR = error;
    pml_nagaya_fail_receive(requests[n], error);
    ++failed;
  }
  return failed;
}

static int await_requests(int (*are_over)(void*), size_t count, ompi_request_t** requests) {
  struct awaited all = {count, requests, 0, are_over};
  if (are_over(&all)) return OMPI_SUCCESS;
  const bool all_ours = are_nagaya_requests(count, requests);
  waits_for_others += !all_ours;
  int (*const is_over)(void*) = all_ours ? are_over : are_over_with_others;
  int error = pml_nagaya_wait_until(is_over, &all);
  if (error != OMPI_SUCCESS && fail_incomplete(count, requests, error) == 0)
    error = nagaya_mpi_error(nagaya_llcl_wait(is_over, &all, -1));
  waits_for_others -= !all_ours;
  return error;
}

static int wait_one(ompi_request_t** request, ompi_status_public_t* status) {
  const int error = await_requests(are_all_complete, 1, request);
  if (error != OMPI_SUCCESS && !REQUEST_COMPLETE(*request)) return error;
  return open_mpi_waits.req_wait(request, status);
}

static int wait_any(size_t count, ompi_request_t** requests, int* index,
                    ompi_status_public_t* status) {
  const int error = await_requests(is_any_complete, count, requests);
  if (error != OMPI_SUCCESS) return error;
  return open_mpi_waits.req_wait_any(count, requests, index, status);
}

static int wait_all(size_t count, ompi_request_t** requests, ompi_status_public_t* statuses) {
  const int error = await_requests(are_all_complete, count, requests);
  if (error != OMPI_SUCCESS) return error;
  return open_mpi_waits.req_wait_all(count, requests, statuses);
}

static int wait_some(size_t count, ompi_request_t** requests, int* done, int* indices,
                     ompi_status_public_t* statuses) {
  const int error = await_requests(is_any_complete, count, requests);
  if (error != OMPI_SUCCESS) return error;
  return open_mpi_waits.req_wait_some(count, requests, done, indices, statuses);
}

/* ---- replaces Open MPI's waits ----------------------------------------------------------- */

int pml_nagaya_begin_waits(void) {
  static const nagaya_progress others = {progress_of_others, POLLS_PER_OPAL_PROGRESS, before_sleep,
                                         &open_mpi_waits};
  if (nagaya_llcl_add_progress(&others) != 0) return OMPI_ERR_OUT_OF_RESOURCE;
  open_mpi_waits = ompi_request_functions;
  ompi_request_functions.req_wait = wait_one;
  ompi_request_functions.req_wait_any = wait_any;
  ompi_request_functions.req_wait_all = wait_all;
  ompi_request_functions.req_wait_some = wait_some;
  return OMPI_SUCCESS;
}

void pml_nagaya_end_waits(void) {
  if (open_mpi_waits.req_wait == NULL) return;
  ompi_request_functions = open_mpi_waits;
  nagaya_llcl_remove_progress(&open_mpi_waits);
  windows_are_served = false;
  open_mpi_waits.req_wait = NULL;
}

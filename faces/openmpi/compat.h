/* SPDX-License-Identifier: BSD-3-Clause */
/* compat.h - Open MPI's internal headers, and the differences between its versions. */
#ifndef NAGAYA_OPENMPI_COMPAT_H
#define NAGAYA_OPENMPI_COMPAT_H

#include "ompi_config.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>

#if OMPI_MAJOR_VERSION >= 5
#if !__has_include(MCA_threads_mutex_base_include_HEADER)
#undef MCA_threads_base_include_HEADER
#undef MCA_threads_mutex_base_include_HEADER
#undef MCA_threads_tsd_base_include_HEADER
#define MCA_threads_base_include_HEADER "posix_threads.h"
#define MCA_threads_mutex_base_include_HEADER "posix_threads.h"
#define MCA_threads_tsd_base_include_HEADER "posix_threads.h"
#endif
#endif

/* Empties Open MPI's peruse-internal.h, which the next headers include: it includes a header that
 * Debian leaves out, and nothing here needs it. */
#define _PERUSE_INTERNAL_H_

#include "ompi/communicator/communicator.h"
#include "ompi/datatype/ompi_datatype.h"
#include "ompi/mca/pml/base/base.h"
#include "ompi/mca/pml/base/pml_base_bsend.h"
#include "ompi/mca/pml/base/pml_base_recvreq.h"
#include "ompi/mca/pml/base/pml_base_sendreq.h"
#include "ompi/mca/pml/pml.h"
#include "ompi/message/message.h"
#include "ompi/proc/proc.h"
#include "ompi/request/request.h"
#include "opal/runtime/opal_progress.h"

#if OMPI_MAJOR_VERSION >= 5
#include "ompi/mca/bml/base/base.h"
#include "ompi/runtime/ompi_rte.h"
#include "opal/mca/pmix/pmix-internal.h"
#define NAGAYA_PML_VERSION MCA_PML_BASE_VERSION_2_1_0
#define NAGAYA_COLL_VERSION MCA_COLL_BASE_VERSION_2_4_0
#define NAGAYA_MODEX_SCOPE PMIX_GLOBAL /* scope of published data: all may read */
#define ompi_process_info opal_process_info
#else
#include "ompi/mca/rte/rte.h"
#include "opal/mca/pmix/pmix.h"
#define NAGAYA_PML_VERSION MCA_PML_BASE_VERSION_2_0_0
#define NAGAYA_COLL_VERSION MCA_COLL_BASE_VERSION_2_0_0
#define NAGAYA_MODEX_SCOPE OPAL_PMIX_GLOBAL
#endif

/* Marks the symbol that Open MPI looks up in a component, the only one that is exported. */
#define NAGAYA_COMPONENT __attribute__((visibility("default")))

/* Windows of Open MPI 5 (osc/rdma) use its own transports. The pml has to start these, and to tell
 * them which processes leave. Without them everything but windows works. */
static inline void nagaya_start_transports(bool wants_progress_threads, bool wants_threads) {
#if OMPI_MAJOR_VERSION >= 5
  mca_bml_base_init(wants_progress_threads, wants_threads);
#endif
}
static inline void nagaya_remove_procs_from_transports(ompi_proc_t** procs, size_t count) {
#if OMPI_MAJOR_VERSION >= 5
  if (mca_bml.bml_del_procs != NULL) mca_bml.bml_del_procs(count, procs);
#endif
}

/* Returns the context by which messages of a communicator are matched. All of its processes have
 * the same one, because we do not set MCA_PML_BASE_FLAG_SUPPORTS_EXT_CID. */
static inline uint32_t nagaya_context_of(struct ompi_communicator_t* comm) {
#if OMPI_MAJOR_VERSION >= 5
  return comm->c_index;
#else
  return comm->c_contextid;
#endif
}

/* Whether all processes of the job run on this node. */
static inline bool nagaya_is_job_on_one_node(void) {
  return (uint32_t)ompi_process_info.num_local_peers + 1 == (uint32_t)ompi_process_info.num_procs;
}

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* compat.h - Open MPI's internal headers, and what differs between its versions. */
#ifndef NAGAYA_OPENMPI_COMPAT_H
#define NAGAYA_OPENMPI_COMPAT_H

#include "ompi_config.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>

/* The next ones include it, it includes a header that Debian leaves out, and nothing here needs it.
 */
#define _PERUSE_INTERNAL_H_

#include "ompi/communicator/communicator.h"
#include "ompi/datatype/ompi_datatype.h"
#include "ompi/mca/pml/base/base.h"
#include "ompi/mca/pml/base/pml_base_bsend.h"
#include "ompi/mca/pml/base/pml_base_recvreq.h"
#include "ompi/mca/pml/base/pml_base_sendreq.h"
#include "ompi/mca/pml/pml.h"
#include "ompi/mca/rte/rte.h"
#include "ompi/message/message.h"
#include "ompi/proc/proc.h"
#include "ompi/request/request.h"
#include "opal/mca/pmix/pmix.h"
#include "opal/runtime/opal_progress.h"

/* What messages of a communicator are matched by. */
static inline uint32_t nagaya_context_of(struct ompi_communicator_t* comm) {
  return comm->c_contextid;
}

/* Whether all processes of the job run on this node. */
static inline bool nagaya_all_are_local(void) {
  return (uint32_t)ompi_process_info.num_local_peers + 1 == (uint32_t)ompi_process_info.num_procs;
}

#endif

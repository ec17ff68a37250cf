/* SPDX-License-Identifier: BSD-3-Clause */
/* data.h - Open MPI's buffers and Nagaya's errors, translated. */
#ifndef NAGAYA_OPENMPI_DATA_H
#define NAGAYA_OPENMPI_DATA_H

#include "compat.h"

/* Whether the data of a buffer are one run of bytes; nagaya_run_start() returns where that
 * begins. */
static inline bool nagaya_is_one_run(const ompi_datatype_t* datatype, size_t count) {
  return count == 0 || opal_datatype_is_contiguous_memory_layout(&datatype->super, (int32_t)count);
}
static inline void* nagaya_run_start(const void* buffer, const ompi_datatype_t* datatype) {
  return (char*)buffer + datatype->super.true_lb;
}
static inline size_t nagaya_bytes(const ompi_datatype_t* datatype, size_t count) {
  return datatype->super.size * count;
}

/* Returns Open MPI's code for 0 or one of Nagaya's errors (a negative errno). */
static inline int nagaya_mpi_error(int error) {
  switch (error) {
    case 0:
      return OMPI_SUCCESS;
    case -ENOMEM: /* Open MPI turns OMPI_ERR_OUT_OF_RESOURCE into MPI_ERR_INTERN */
      return MPI_ERR_NO_MEM;
    case -EMSGSIZE:
      return MPI_ERR_TRUNCATE;
    default:
      return OMPI_ERR_UNREACH;
  }
}

#endif

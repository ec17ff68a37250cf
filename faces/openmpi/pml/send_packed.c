/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>

#include "send.h"

int pml_nagaya_pack(const void* buffer, size_t count, ompi_datatype_t* datatype, void* into,
                    size_t bytes) {
  opal_convertor_t convertor;
  OBJ_CONSTRUCT(&convertor, opal_convertor_t);
  opal_convertor_copy_and_prepare_for_send(ompi_mpi_local_convertor, &datatype->super, count,
                                           buffer, 0, &convertor);
  struct iovec all = {.iov_base = into, .iov_len = bytes};
  uint32_t pieces = 1;
  const int32_t error = opal_convertor_pack(&convertor, &all, &pieces, &bytes);
  OBJ_DESTRUCT(&convertor);
  return error < 0 ? OMPI_ERROR : OMPI_SUCCESS;
}

int pml_nagaya_start_packed(pml_nagaya_send_request_t* request) {
  mca_pml_base_request_t* const base = &request->super.req_base;
  void* const packed = malloc(request->send.bytes);
  if (packed == NULL) return OMPI_ERR_OUT_OF_RESOURCE;
  request->super.req_addr = packed;
  const int error = pml_nagaya_pack(base->req_addr, base->req_count, base->req_datatype, packed,
                                    request->send.bytes);
  if (error != OMPI_SUCCESS) return error;
  request->send.data = packed;
  return nagaya_mpi_error(nagaya_match_send(&request->send));
}

void pml_nagaya_free_packed(pml_nagaya_send_request_t* request) {
  if (request->super.req_addr != request->super.req_base.req_addr)
    free((void*)request->super.req_addr);
  request->super.req_addr = request->super.req_base.req_addr;
}

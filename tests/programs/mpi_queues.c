/* SPDX-License-Identifier: BSD-3-Clause */
/* Two ranks: the requests pending between them, looked for as Open MPI's library for debuggers does
 * it (ompi/debuggers/ompi_msgq_dll.c): in the free lists of the requests, field by field. */
#include <stdio.h>

#include "compat.h"
#include "opal/align.h"

enum { RECEIVE_TAG = 77, SEND_TAG = 78, COUNT = 3 };

/* A debugger's view of the pending requests of one kind. */
struct shown {
  int requests, of_the_pml, of_its_kind, matched;
  struct ompi_datatype_t* datatype;
  void* buffer;
  size_t count;
  int peer, tag;
};

static void show(const mca_pml_base_request_t* request, mca_pml_base_request_type_t kind,
                 struct shown* out) {
  if (request->req_ompi.req_state == OMPI_REQUEST_INVALID) return;
  if (request->req_comm != MPI_COMM_WORLD || request->req_tag < 0) return; /* Open MPI's own */
  if (REQUEST_COMPLETE(&request->req_ompi)) return;
  ++out->requests;
  out->of_the_pml += request->req_ompi.req_type == OMPI_REQUEST_PML;
  out->of_its_kind += request->req_type == kind;
  out->matched += request->req_pml_complete ||
                  (kind == MCA_PML_REQUEST_RECV && request->req_ompi.req_status.MPI_TAG >= 0);
  out->datatype = request->req_datatype;
  out->buffer = request->req_addr;
  out->count = request->req_count;
  out->peer = request->req_peer;
  out->tag = request->req_tag;
}

/* The first block is as large as the list was in the beginning. */
static struct shown pending(opal_free_list_t* list, mca_pml_base_request_type_t kind) {
  struct shown shown = {0};
  const size_t allocated = list->fl_num_allocated, others = list->fl_num_per_alloc;
  size_t items = allocated <= others ? allocated : (allocated - 1) % others + 1;
  const size_t stride = OPAL_ALIGN(list->fl_frag_size, list->fl_frag_alignment, size_t);
  opal_list_item_t* block;
  for (block = opal_list_get_first(&list->fl_allocations);
       block != opal_list_get_end(&list->fl_allocations); block = opal_list_get_next(block)) {
    char* at = (char*)block + sizeof(opal_free_list_item_t);
    at = OPAL_ALIGN_PTR(at, list->fl_frag_alignment, char*);
    for (size_t n = 0; n < items; ++n, at += stride)
      show((const mca_pml_base_request_t*)at, kind, &shown);
    items = others;
  }
  return shown;
}

static int check(const char* kind, struct shown shown, const void* buffer, int tag) {
  const int is_right = shown.requests == 1 && shown.of_the_pml == 1 && shown.of_its_kind == 1 &&
                       shown.matched == 0 && shown.datatype == MPI_INT && shown.buffer == buffer &&
                       shown.count == COUNT && shown.peer == 1 && shown.tag == tag;
  if (!is_right)
    printf("pending %s: %d, count %zu, peer %d, tag %d\n", kind, shown.requests, shown.count,
           shown.peer, shown.tag);
  return is_right;
}

int main(int argc, char** argv) {
  int rank, in[COUNT] = {0}, out[COUNT] = {1, 2, 3}, is_right = 1;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) {
    MPI_Request requests[3];
    MPI_Irecv(in, COUNT, MPI_INT, 1, RECEIVE_TAG, MPI_COMM_WORLD, &requests[0]);
    MPI_Issend(out, COUNT, MPI_INT, 1, SEND_TAG, MPI_COMM_WORLD, &requests[1]);
    MPI_Isend(out, COUNT, MPI_INT, 1, SEND_TAG, MPI_COMM_WORLD, &requests[2]); /* goes at once */
    is_right &= check("receive", pending(&mca_pml_base_recv_requests, MCA_PML_REQUEST_RECV), in,
                      RECEIVE_TAG);
    is_right &=
        check("send", pending(&mca_pml_base_send_requests, MCA_PML_REQUEST_SEND), out, SEND_TAG);
    MPI_Send(out, 0, MPI_INT, 1, 0, MPI_COMM_WORLD); /* rank 1 may begin */
    MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
    is_right &= pending(&mca_pml_base_recv_requests, MCA_PML_REQUEST_RECV).requests == 0 &&
                pending(&mca_pml_base_send_requests, MCA_PML_REQUEST_SEND).requests == 0;
    if (is_right) printf("two pending, then none\n");
  } else {
    MPI_Recv(in, 0, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(out, COUNT, MPI_INT, 0, RECEIVE_TAG, MPI_COMM_WORLD);
    for (int n = 0; n < 2; ++n)
      MPI_Recv(in, COUNT, MPI_INT, 0, SEND_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  MPI_Finalize();
  return is_right ? 0 : 1;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "send.h"

/* Asks the receiver to give the message back. The request is complete again when the receiver has
 * answered; at once when the receiver has ended, or when the message was matched by rendezvous.
 * Another thread may complete the request at any time: this one changes it only once it is
 * complete. */
static int ask_receiver_to_cancel(pml_nagaya_send_request_t* request) {
  ompi_request_t* const handle = &request->super.req_base.req_ompi;
  nagaya_send* const send = request->buffered != NULL ? &request->buffered->send : &request->send;
  const bool was_eager =
      send->is_synchronous == 0 && send->bytes <= nagaya_match_eager_max(send->to);
  int error = 0;
  if (!REQUEST_COMPLETE(handle)) {
    if (request->buffered != NULL) return OMPI_SUCCESS; /* cancelled before */
    error = nagaya_match_cancel_send(send);
    if (error != -EALREADY) return nagaya_mpi_error(error);
    const int failed = pml_nagaya_wait(handle);
    if (failed != OMPI_SUCCESS) return failed;
  }
  if (handle->req_status._cancelled || (request->buffered == NULL && !was_eager))
    return OMPI_SUCCESS;
  pml_nagaya_enter(&request->users);
  request->super.req_base.req_pml_complete = false;
  handle->req_complete = REQUEST_PENDING;
  if (request->buffered == NULL) send->answers = 0;
  error = nagaya_match_cancel_send(send);
  if (error != 0) pml_nagaya_end_send(request, false, 0);
  return error == -EALREADY ? OMPI_SUCCESS : nagaya_mpi_error(error);
}

int pml_nagaya_cancel_send(ompi_request_t* handle, int flag) {
  pml_nagaya_send_request_t* const request = (pml_nagaya_send_request_t*)handle;
  pml_nagaya_lock_copies(request);
  const int error = ask_receiver_to_cancel(request);
  pml_nagaya_unlock_copies(request);
  return error;
}

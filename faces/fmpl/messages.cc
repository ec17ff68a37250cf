// SPDX-License-Identifier: BSD-3-Clause
// messages.cc - FMPL's point-to-point messages.
#include <algorithm>
#include <climits>

#include "faces/fmpl/library.h"

using nagaya::fmpl::Library;
using nagaya::fmpl::library;
using nagaya::fmpl::status_of;

namespace {

static_assert(sizeof(nagaya_area_send) <= sizeof(fmpl_request));
static_assert(sizeof(nagaya_area_receive) <= sizeof(fmpl_request));

nagaya_area_send* send_of(fmpl_request* request) {
  return reinterpret_cast<nagaya_area_send*>(request);
}
nagaya_area_receive* receive_of(fmpl_request* request) {
  return reinterpret_cast<nagaya_area_receive*>(request);
}

// Makes a negative number one that is too large, which is refused as well.
uint32_t to_unsigned(int rank_or_index) {
  return static_cast<uint32_t>(rank_or_index);
}

nagaya_area_send* new_send(const void* buf, size_t size, int dst, int mai, fmpl_request* request) {
  nagaya_area_send* const send = send_of(request);
  *send = {};
  send->data = buf;
  send->bytes = size;
  send->to = to_unsigned(dst);
  send->index = to_unsigned(mai);
  return send;
}

nagaya_area_receive* new_receive(void* buf, size_t size, int src, int mai, fmpl_request* request) {
  nagaya_area_receive* const receive = receive_of(request);
  receive->buffer = buf;
  receive->capacity = size;
  receive->from = to_unsigned(src);
  receive->index = to_unsigned(mai);
  return receive;
}

// Returns the result of call(areas), or FMPL_ERR_INIT outside of fmpl_init() and fmpl_finalize().
template <class Call>
int with_areas(Call call) {
  Library* const own = library();
  return own == nullptr ? FMPL_ERR_INIT : call(own->areas);
}

}  // namespace

int fmpl_send(const void* buf, size_t size, int dst, int mai) {
  return with_areas([&](nagaya_areas* areas) {
    return status_of(nagaya_area_send_now(areas, buf, size, to_unsigned(dst), to_unsigned(mai)));
  });
}

int fmpl_recv(void* buf, size_t size, int src, int mai) {
  fmpl_request request;
  const int status = fmpl_irecv(buf, size, src, mai, &request);
  return status == FMPL_SUCCESS ? fmpl_wait_irecv(&request) : status;
}

int fmpl_isend(const void* buf, size_t size, int dst, int mai, fmpl_request* request) {
  return with_areas([&](nagaya_areas* areas) {
    return status_of(nagaya_area_start_send(areas, new_send(buf, size, dst, mai, request)));
  });
}

int fmpl_irecv(void* buf, size_t size, int src, int mai, fmpl_request* request) {
  return with_areas([&](nagaya_areas* areas) {
    return status_of(nagaya_area_start_receive(areas, new_receive(buf, size, src, mai, request)));
  });
}

int fmpl_isend_prepare(const void* buf, size_t size, int dst, int mai, fmpl_request* request) {
  return with_areas([&](nagaya_areas* areas) {
    return status_of(nagaya_area_prepare_send(areas, new_send(buf, size, dst, mai, request)));
  });
}

int fmpl_irecv_prepare(void* buf, size_t size, int src, int mai, fmpl_request* request) {
  return with_areas([&](nagaya_areas* areas) {
    return status_of(nagaya_area_prepare_receive(areas, new_receive(buf, size, src, mai, request)));
  });
}

int fmpl_isend_start(fmpl_request* request) {
  return with_areas([&](nagaya_areas* areas) {
    return status_of(nagaya_area_start_prepared_send(areas, send_of(request)));
  });
}

int fmpl_irecv_start(fmpl_request* request) {
  return with_areas([&](nagaya_areas* areas) {
    return status_of(nagaya_area_start_prepared_receive(areas, receive_of(request)));
  });
}

int fmpl_irecv_release(fmpl_request* request) {
  return with_areas([&](nagaya_areas* areas) {
    return status_of(nagaya_area_release_receive(areas, receive_of(request)));
  });
}

int fmpl_wait_isend(fmpl_request* request) {
  return with_areas([&](nagaya_areas* areas) {
    return status_of(nagaya_area_wait_send(areas, send_of(request)));
  });
}

int fmpl_wait_irecv(fmpl_request* request) {
  return with_areas([&](nagaya_areas* areas) {
    return status_of(nagaya_area_wait_receive(areas, receive_of(request)));
  });
}

int fmpl_test_isend(fmpl_request* request, int* flag) {
  return with_areas([&](nagaya_areas* areas) {
    *flag = nagaya_area_test_send(areas, send_of(request));
    return *flag ? status_of(send_of(request)->error) : FMPL_SUCCESS;
  });
}

int fmpl_test_irecv(fmpl_request* request, int* flag) {
  return with_areas([&](nagaya_areas* areas) {
    *flag = nagaya_area_test_receive(areas, receive_of(request));
    return *flag ? status_of(receive_of(request)->error) : FMPL_SUCCESS;
  });
}

int fmpl_cancel_irecv(fmpl_request* request) {
  return with_areas([&](nagaya_areas* areas) {
    return status_of(nagaya_area_cancel_receive(areas, receive_of(request)));
  });
}

int fmpl_sendbuff_set(void* buf, size_t size, int ipara) {
  return with_areas([&](nagaya_areas* areas) {
    const int error =
        nagaya_area_set_spool(areas, buf, size, static_cast<uint64_t>(std::max(ipara, 0)));
    return error == 0 ? FMPL_SUCCESS : FMPL_ERR_SPOOL;
  });
}

int fmpl_sendbuff_check(int* nsend, int* nspool) {
  return with_areas([&](nagaya_areas* areas) {
    uint32_t sent, remain;
    const int error = nagaya_area_check_spool(areas, &sent, &remain);
    *nsend = static_cast<int>(std::min<uint32_t>(sent, INT_MAX));
    *nspool = static_cast<int>(std::min<uint32_t>(remain, INT_MAX));
    return status_of(error);
  });
}

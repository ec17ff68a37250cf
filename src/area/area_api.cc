// SPDX-License-Identifier: BSD-3-Clause
// area_api.cc - the C functions of nagaya/area.h.
#include <errno.h>

#include <memory>

#include "area/areas.h"
#include "base/catch_errors.h"
#include "llcl/requests/endpoint.h"
#include "llcl/requests/processes.h"

using nagaya::area::Areas;
using nagaya::base::catch_errors;
using nagaya::llcl::Endpoint;
using nagaya::llcl::Purpose;
using nagaya::llcl::TaskActivity;

struct nagaya_areas : Areas {
  using Areas::Areas;
};

namespace {

// Calls `function` with the task's endpoint. Returns -ESRCH in a forked child, which has no
// endpoint and a mere copy of the areas.
template <class Function>
int with_endpoint(Function function) {
  Endpoint* const endpoint = Endpoint::own();
  return endpoint == nullptr ? -ESRCH : function(*endpoint);
}

// `other`: the process at the other end of the message.
template <class Message>
int wait_for(Endpoint& endpoint, nagaya_areas& areas, Purpose purpose, uint32_t other,
             Message& message) {
  if (endpoint.recorder().is_read()) [[unlikely]]
    endpoint.recorder().expect(purpose, areas.process(other));
  endpoint.wait(purpose, [&] { return areas.is_complete(message); });
  return message.error;
}

// Counts a message that goes through areas of this node: others are counted as two-sided messages.
void count_message(const Endpoint& endpoint, const nagaya_areas& areas,
                   const nagaya_area_send& send) {
  if (!areas.is_here(send.to)) return;
  count(endpoint.board(), endpoint.owner(), &TaskActivity::messages, 1);
  count(endpoint.board(), endpoint.owner(), &TaskActivity::message_bytes, send.bytes);
}

// Tries to send for as long as the spool's patience. Returns whether it was sent.
bool send_patiently(Endpoint& endpoint, nagaya_areas& areas, nagaya_area_send& send) {
  const auto is_sent = [&] { return areas.try_send_now(send); };
  return endpoint.wait_for(Purpose::kSend, is_sent, areas.spool().patience_us()) == 0;
}

}  // namespace

int nagaya_area_open(nagaya_area_cell* cells, uint64_t* flags, uint32_t count,
                     const nagaya_processes* members, uint32_t number, nagaya_areas** out) {
  Endpoint* const endpoint = Endpoint::own();
  if (endpoint == nullptr) return -ESRCH;
  if (cells == nullptr || flags == nullptr || members == nullptr || !members->set->has_caller() ||
      out == nullptr || number >> 28 != 0)
    return -EINVAL;
  return catch_errors([&] {
    auto areas = std::make_unique<nagaya_areas>(cells, flags, count, members->set, number,
                                                endpoint->waits());
    const int error = areas->open(endpoint->board(), endpoint->record());
    if (error == 0) *out = areas.release();
    return error;
  });
}

int nagaya_area_close(nagaya_areas* areas) {
  return with_endpoint([&](Endpoint&) {
    if (!areas->is_idle()) return -EBUSY;
    const int error = areas->take_spool_error();
    delete areas;
    return error;
  });
}

int nagaya_area_start_send(nagaya_areas* areas, nagaya_area_send* send) {
  return with_endpoint([&](Endpoint& endpoint) {
    if (!areas->exists(send->to, send->index)) return -EINVAL;
    count_message(endpoint, *areas, *send);
    return catch_errors([&] { return areas->start(*send); });
  });
}

int nagaya_area_start_receive(nagaya_areas* areas, nagaya_area_receive* receive) {
  return with_endpoint([&](Endpoint& endpoint) {
    if (!areas->exists(receive->from, receive->index)) return -EINVAL;
    endpoint.wait(Purpose::kReceive, [&] { return areas->is_open(receive->from); });
    return catch_errors([&] { return areas->start(*receive); });
  });
}

int nagaya_area_prepare_send(nagaya_areas* areas, nagaya_area_send* send) {
  return with_endpoint([&](Endpoint&) {
    if (!areas->exists(send->to, send->index)) return -EINVAL;
    Areas::prepare(*send);
    return 0;
  });
}

int nagaya_area_prepare_receive(nagaya_areas* areas, nagaya_area_receive* receive) {
  return with_endpoint([&](Endpoint& endpoint) {
    if (!areas->exists(receive->from, receive->index)) return -EINVAL;
    endpoint.wait(Purpose::kReceive, [&] { return areas->is_open(receive->from); });
    return areas->prepare(*receive);
  });
}

int nagaya_area_start_prepared_send(nagaya_areas* areas, nagaya_area_send* send) {
  return with_endpoint([&](Endpoint& endpoint) {
    count_message(endpoint, *areas, *send);
    return catch_errors([&] { return areas->start_prepared(*send); });
  });
}

int nagaya_area_start_prepared_receive(nagaya_areas* areas, nagaya_area_receive* receive) {
  return with_endpoint(
      [&](Endpoint&) { return catch_errors([&] { return areas->start_prepared(*receive); }); });
}

int nagaya_area_release_receive(nagaya_areas* areas, nagaya_area_receive* receive) {
  return with_endpoint([&](Endpoint&) { return areas->release(*receive); });
}

int nagaya_area_test_send(nagaya_areas* areas, nagaya_area_send* send) {
  return with_endpoint([&](Endpoint&) {
    areas->progress();
    return areas->is_complete(*send);
  });
}

int nagaya_area_test_receive(nagaya_areas* areas, nagaya_area_receive* receive) {
  return with_endpoint([&](Endpoint&) {
    areas->progress();
    return areas->is_complete(*receive);
  });
}

int nagaya_area_wait_send(nagaya_areas* areas, nagaya_area_send* send) {
  return with_endpoint([&](Endpoint& endpoint) {
    return wait_for(endpoint, *areas, Purpose::kSend, send->to, *send);
  });
}

int nagaya_area_wait_receive(nagaya_areas* areas, nagaya_area_receive* receive) {
  return with_endpoint([&](Endpoint& endpoint) {
    return wait_for(endpoint, *areas, Purpose::kReceive, receive->from, *receive);
  });
}

int nagaya_area_cancel_receive(nagaya_areas* areas, nagaya_area_receive* receive) {
  return with_endpoint([&](Endpoint&) { return areas->cancel(*receive); });
}

int nagaya_area_set_spool(nagaya_areas* areas, void* buffer, size_t bytes, uint64_t patience_us) {
  return with_endpoint([&](Endpoint&) {
    areas->progress();
    const bool is_set = areas->set_spool(buffer, bytes, patience_us);
    return is_set ? 0 : -EBUSY;
  });
}

int nagaya_area_check_spool(nagaya_areas* areas, uint32_t* sent, uint32_t* remain) {
  return with_endpoint([&](Endpoint&) {
    const uint32_t before = areas->spooled();
    areas->progress();
    *remain = areas->spooled();
    *sent = before - *remain;
    return areas->take_spool_error();
  });
}

int nagaya_area_send_now(nagaya_areas* areas, const void* data, size_t bytes, uint32_t to,
                         uint32_t index) {
  return with_endpoint([&](Endpoint& endpoint) {
    if (!areas->exists(to, index)) return -EINVAL;
    nagaya_area_send send = {};
    send.data = data;
    send.bytes = bytes;
    send.to = to;
    send.index = index;
    count_message(endpoint, *areas, send);
    if (areas->spool().is_set()) {
      if (send_patiently(endpoint, *areas, send)) return send.error;
      return catch_errors([&] { return areas->send_from_spool(send); });
    }
    if (const int error = catch_errors([&] { return areas->start(send); }); error != 0)
      return error;
    return wait_for(endpoint, *areas, Purpose::kSend, send.to, send);
  });
}

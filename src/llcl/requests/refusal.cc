// SPDX-License-Identifier: BSD-3-Clause
#include "llcl/requests/refusal.h"

namespace nagaya::llcl {

int refuse_completion(const nagaya_completion& on_complete) {
  if (on_complete.kind > NAGAYA_CALLBACK)
    return refuse(-EINVAL,
                  "on_complete: there is no kind %u: use nagaya_flag(), nagaya_counter(), "
                  "nagaya_callback(), or NAGAYA_NONE",
                  on_complete.kind);
  if (on_complete.kind == NAGAYA_CALLBACK)
    return refuse(-EINVAL, "on_complete: the function of the callback is NULL");
  const bool is_flag = on_complete.kind == NAGAYA_FLAG;
  return refuse(-EINVAL, "on_complete: the %s at %p is %s", is_flag ? "flag" : "counter",
                on_complete.data,
                on_complete.data == nullptr ? "NULL"
                : is_flag                   ? "not aligned to 4 bytes"
                                            : "not aligned to 8 bytes");
}

int refuse_local(const void* local, uint64_t bytes) {
  return refuse(-EINVAL, "%llu bytes at %p exceed the memory of this task",
                static_cast<unsigned long long>(bytes), local);
}

int refuse_task(nagaya_process process) {
  return refuse(-EINVAL, "there can be no task %u on node %u", process.task, process.node);
}

int refuse_null(const char* what) {
  return refuse(-EINVAL, "%s is NULL", what);
}

int refuse_alignment(const nagaya_remote& place, size_t bytes) {
  return refuse(-EINVAL, "offset %llu of region %#x is not aligned to %zu bytes in memory",
                static_cast<unsigned long long>(place.offset), place.region, bytes);
}

int refuse_place(const Endpoint& self, const nagaya_remote& place, uint64_t bytes) {
  const RegionMemory region = self.board().regions->find_region(place.region, place.process.task);
  if (region.address == nullptr)
    return refuse(-EINVAL,
                  "task %u of this node has no region %#x: it was not registered, or has been "
                  "deregistered, or the task has ended",
                  place.process.task, place.region);
  return refuse(-EINVAL, "%llu bytes at offset %llu exceed region %#x of task %u, which has %llu",
                static_cast<unsigned long long>(bytes),
                static_cast<unsigned long long>(place.offset), place.region, place.process.task,
                static_cast<unsigned long long>(region.bytes));
}

int refuse_node(const Endpoint& self, uint32_t node) {
  const uint32_t nodes = self.board().nodes.load(std::memory_order_relaxed);
  if (nodes <= 1)
    return refuse(-EINVAL,
                  "there is no node %u: the job has one node, or nagaya_comm_init() was not called",
                  node);
  return refuse(-EINVAL, "there is no node %u: the job has %u", node, nodes);
}

}  // namespace nagaya::llcl

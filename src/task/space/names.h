// SPDX-License-Identifier: BSD-3-Clause
// names.h - publishes addresses under names, and looks them up in other tasks.
//
// Each task has its own table of names: only the task adds to it (under its own lock), any task
// reads it. A name is never removed while its task lives; withdrawing stores a null address.
//   publish   owner      store address (release), push to a bucket (release), count, wake
//   look up   any task   walk the bucket (acquire), each link only while the owner is seen to live;
//                        sleep on `names_changed`
// Death of the publisher in mid-publish: the name is reachable or not; the host counts the end
// and wakes the waiters, who then see that the task has ended.
#pragma once

#include "task/space/space.h"

namespace nagaya::task {

// Implement nagaya_task_publish() and nagaya_task_lookup() (nagaya/task.h).
int publish_name(TaskRecord& self, const char* name, const void* address);
int look_up_name(const TaskRecord& owner, const char* name, int timeout_ms, void** address);

}  // namespace nagaya::task

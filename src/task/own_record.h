// SPDX-License-Identifier: BSD-3-Clause
// own_record.h - how a process finds out that it is a task.
#pragma once

#include "task/space.h"

namespace nagaya::task {

// The record of the calling task; nullptr outside of spaces, in a forked child of a task, and
// when the space was made by an installation of another ABI.
TaskRecord* own_record();

}  // namespace nagaya::task

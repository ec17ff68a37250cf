// SPDX-License-Identifier: BSD-3-Clause
// session_folder.h - the folder beside a job's socket in which `nagaya run` and the MPI of its
// ranks keep files. Who outlives the job removes it: the launcher, the host, or `nagaya clean`.
#pragma once

#include <filesystem>

namespace nagaya::task {

// The folder's name is the job's, and this.
inline constexpr const char* kSessionSuffix = ".session";
// A file in it that names what the job may leave in /dev/shm: a line for each beginning of a name.
inline constexpr const char* kSegmentsFile = "segments";

// Removes the folder with all that is in it, and what it names in /dev/shm; nothing if there is no
// such folder. What cannot be removed stays.
void remove_session(const std::filesystem::path& folder) noexcept;

}  // namespace nagaya::task

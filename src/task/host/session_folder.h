// SPDX-License-Identifier: BSD-3-Clause
// session_folder.h - the folder beside a job's socket in which `nagaya run` and the MPI of its
// ranks keep files. It is removed by the launcher, by the host if that one was killed, or by
// `nagaya clean`.
#pragma once

#include <filesystem>

namespace nagaya::task {

// The folder's name is the job's, and this.
inline constexpr const char* kSessionSuffix = ".session";
// A file in it that names what the job may leave in /dev/shm: a line for each beginning of a name.
inline constexpr const char* kSegmentsFile = "segments";

// Removes the folder with all that is in it, and what it names in /dev/shm; nothing if there is no
// such folder. Files that cannot be removed stay.
void remove_session(const std::filesystem::path& folder) noexcept;

}  // namespace nagaya::task

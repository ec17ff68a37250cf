// SPDX-License-Identifier: BSD-3-Clause
#include "task/host/session_folder.h"

#include <unistd.h>

#include <exception>
#include <fstream>
#include <string>

namespace nagaya::task {
namespace {

namespace fs = std::filesystem;

constexpr int kTries = 50;
constexpr useconds_t kPauseUs = 2000;

void remove_segments(const std::string& beginning) {
  if (beginning.empty()) return;
  std::error_code not_removed;  // another user's
  for (const fs::directory_entry& entry : fs::directory_iterator("/dev/shm"))
    if (entry.path().filename().string().starts_with(beginning)) fs::remove(entry, not_removed);
}

}  // namespace

void remove_session(const fs::path& folder) noexcept try {
  std::ifstream segments(folder / kSegmentsFile);
  for (std::string beginning; std::getline(segments, beginning);) remove_segments(beginning);
  // libpmix may be removing files of its own in it at this moment.
  std::error_code not_removed;
  for (int tries = 0; tries < kTries; ++tries) {
    fs::remove_all(folder, not_removed);
    if (!not_removed) return;
    ::usleep(kPauseUs);
  }
} catch (const std::exception&) {
  return;
}

}  // namespace nagaya::task

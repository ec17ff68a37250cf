// SPDX-License-Identifier: BSD-3-Clause
#include "task/host/session_folder.h"

#include <exception>
#include <fstream>
#include <string>

namespace nagaya::task {
namespace {

namespace fs = std::filesystem;

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
  fs::remove_all(folder);
} catch (const std::exception&) {
  return;
}

}  // namespace nagaya::task

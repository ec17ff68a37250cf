// SPDX-License-Identifier: BSD-3-Clause
// files.cc - opens, positions and closes files.
#include "faces/xmp/runtime/files.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "faces/xmp/runtime/executing.h"
#include "faces/xmp/runtime/job.h"
#include "faces/xmp/runtime/translated.h"
#include "xmp/xmp_io.h"

namespace nagaya::xmp {
namespace {

using Files = std::vector<std::unique_ptr<xmp_file_t>>;

// In the order in which they were opened.
Files& open_files() {
  static auto* const all = new Files;
  return *all;
}

int refuse(int error, int result) {
  errno = error;
  return result;
}

// The flags of open() for a mode of fopen(); -1: there is no such mode.
int flags_of(const char* mode) {
  std::string word = mode == nullptr ? "" : mode;
  std::erase(word, 'b');
  if (word == "r") return O_RDONLY;
  if (word == "r+") return O_RDWR;
  if (word == "w") return O_WRONLY | O_CREAT | O_TRUNC;
  if (word == "w+") return O_RDWR | O_CREAT | O_TRUNC;
  // Not O_APPEND: pwrite() would append, whatever its offset.
  if (word == "a") return O_WRONLY | O_CREAT;
  if (word == "a+") return O_RDWR | O_CREAT;
  return -1;
}

struct Opened {
  int descriptor = -1;
  int error = 0;
  int64_t bytes = 0;
};

Opened open_one(const char* name, int flags) {
  constexpr mode_t kMode = 0666;
  Opened opened;
  struct stat status {};
  opened.descriptor = open(name, flags | O_CLOEXEC, kMode);
  if (opened.descriptor < 0 || fstat(opened.descriptor, &status) != 0) opened.error = errno;
  opened.bytes = status.st_size;
  return opened;
}

// The first node creates or empties the file, before the others open it. If any node fails, all do.
Opened open_all(const char* name, int flags) {
  Opened first;
  const bool is_first = Executing::now().own_index() == 0;
  if (is_first) first = open_one(name, flags);
  const int descriptor = first.descriptor;
  nagaya_xmp_bcast("", &first, sizeof first, nullptr, nullptr, nullptr);
  Opened opened = first;
  opened.descriptor = descriptor;
  if (!is_first && first.error == 0) opened = open_one(name, flags & ~(O_CREAT | O_TRUNC));
  opened.bytes = first.bytes;
  nagaya_xmp_reduce("", NAGAYA_XMP_MAX, NAGAYA_XMP_INT, &opened.error, 1, nullptr, nullptr,
                    nullptr);
  if (opened.error != 0 && opened.descriptor >= 0) close(opened.descriptor);
  return opened;
}

// Returns the end of the file as a position of the view: behind the caller's last byte.
int64_t end_of(const xmp_file_t& file) {
  struct stat status {};
  if (fstat(file.descriptor, &status) != 0) return -1;
  const int64_t bytes = std::max<int64_t>(status.st_size - file.displacement, 0);
  if (!file.view) return bytes;
  const int64_t rest = bytes % file.view->bytes();
  int64_t position = bytes / file.view->bytes() * file.view->own_bytes();
  for (const FileRun& run : file.view->runs())
    position += std::clamp<int64_t>(rest - run.at, 0, static_cast<int64_t>(run.bytes));
  return position;
}

// Returns the position that a seek from `current` goes to; -1: errno has the reason.
int64_t position_of(const xmp_file_t& file, int64_t current, long long offset, int whence) {
  const int64_t base = whence == SEEK_SET   ? 0
                       : whence == SEEK_CUR ? current
                       : whence == SEEK_END ? end_of(file)
                                            : -1;
  int64_t position;
  if (whence == SEEK_END && base < 0) return -1;
  if (base < 0 || __builtin_add_overflow(base, offset, &position) || position < 0)
    return refuse(EINVAL, -1);
  return position;
}

int set_view(xmp_file_t* file, int64_t displacement, std::optional<FileSection> view) {
  file->view = std::move(view);
  file->displacement = displacement;
  file->position = 0;
  file->shared.store_all(displacement);
  return 0;
}

}  // namespace

void close_files() {
  for (const auto& file : open_files()) close(file->descriptor);
  open_files().clear();
}

}  // namespace nagaya::xmp

using namespace nagaya::xmp;

xmp_file_t* xmp_fopen_all(const char* fname, const char* amode) {
  Job::own().check_takes_part("");
  const int flags = flags_of(amode);
  if (fname == nullptr || flags < 0) {
    errno = EINVAL;
    return nullptr;
  }
  const Opened opened = open_all(fname, flags);
  if (opened.error != 0) {
    errno = opened.error;
    return nullptr;
  }
  auto file = std::make_unique<xmp_file_t>(Executing::now(), opened.descriptor);
  const bool appends = *amode == 'a', reads = (flags & O_ACCMODE) == O_RDWR;
  if (appends) file->first_write = opened.bytes;
  if (appends && !reads) file->position = opened.bytes;
  file->shared.store_all(file->position);
  return open_files().emplace_back(std::move(file)).get();
}

int xmp_fclose_all(xmp_file_t* fh) {
  if (fh == nullptr) return refuse(EINVAL, 1);
  const int result = close(fh->descriptor) == 0 ? 0 : 2;
  const int error = errno;
  std::erase_if(open_files(), [fh](const auto& file) { return file.get() == fh; });
  return result == 0 ? 0 : refuse(error, result);
}

int xmp_fseek(xmp_file_t* fh, long long offset, int whence) {
  if (fh == nullptr) return refuse(EINVAL, -1);
  const int64_t position = position_of(*fh, fh->position, offset, whence);
  if (position < 0) return -1;
  fh->position = position;
  return 0;
}

namespace {

// Returns the place that a seek of the shared pointer goes to; -1: errno has the reason.
int64_t shared_place(const xmp_file_t* fh, long long offset, int whence) {
  if (fh == nullptr || fh->view) return refuse(EINVAL, -1);
  const int64_t position = position_of(*fh, fh->shared.load() - fh->displacement, offset, whence);
  return position < 0 ? -1 : fh->displacement + position;
}

}  // namespace

int xmp_fseek_shared(xmp_file_t* fh, long long offset, int whence) {
  const int64_t place = shared_place(fh, offset, whence);
  if (place < 0) return -1;
  fh->shared.store(place);
  return 0;
}

int xmp_fseek_shared_all(xmp_file_t* fh, long long offset, int whence) {
  if (fh != nullptr) wait_for_all(fh->set);
  const int64_t place = shared_place(fh, offset, whence);
  if (place < 0) return -1;
  fh->shared.store_all(place);
  return 0;
}

long long xmp_ftell(xmp_file_t* fh) {
  if (fh == nullptr) return refuse(EINVAL, -1);
  size_t rest;
  return place_of(*fh, fh->position, rest);
}

long long xmp_ftell_shared(xmp_file_t* fh) {
  return fh == nullptr ? refuse(EINVAL, -1) : fh->shared.load();
}

int xmp_file_sync_all(xmp_file_t* fh) {
  if (fh == nullptr) return refuse(EINVAL, -1);
  // A pipe or a device has nothing to be synchronised.
  const int error = fdatasync(fh->descriptor) == 0 || errno == EINVAL ? 0 : errno;
  wait_for_all(fh->set);
  return error == 0 ? 0 : refuse(error, -1);
}

int xmp_file_set_view_all(xmp_file_t* fh, long long disp, xmp_desc_t desc, xmp_range_t* rp) {
  const nagaya_xmp_array_state* const array = FileSection::array_of(desc, rp);
  if (fh == nullptr || array == nullptr || disp < 0) return refuse(EINVAL, -1);
  return set_view(fh, disp, FileSection(*array, *rp));
}

int xmp_file_clear_view_all(xmp_file_t* fh, long long disp) {
  if (fh == nullptr || disp < 0) return refuse(EINVAL, -1);
  return set_view(fh, disp, std::nullopt);
}

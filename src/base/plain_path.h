// SPDX-License-Identifier: BSD-3-Clause
// plain_path.h - names of files for programs that split lists: LD_PRELOAD and Open MPI's lists of
// folders at colons, LD_PRELOAD and the agents of mpirun at blanks. None of them has a way to
// quote.
//
//   /home/me/My Projects/bin/nagaya   is read as the program /home/me/My
//   /proc/4711/fd/20/nagaya           is one word: descriptor 20 of process 4711 is the folder
//
// The second name is a link that the kernel keeps: it is good for all processes of the user on this
// node, ends with the process, however that ends, and leaves no file.
#pragma once

#include <fcntl.h>
#include <sys/prctl.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/fd.h"

namespace nagaya::base {

// Whether shells, and lists with colons or blanks, read the path as one word: letters, digits,
// bytes of UTF-8, and signs that mean nothing to them.
inline bool is_plain(std::string_view path) {
  return std::all_of(path.begin(), path.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           static_cast<unsigned char>(c) >= 0x80 ||
           std::string_view("/._-+@%=^#,").find(c) != std::string_view::npos;
  });
}

// The folders that this process keeps open for such links. Callable from any thread.
class PathLinks {
 public:
  static PathLinks& own() {
    static PathLinks links;
    return links;
  }

  // Returns the path itself if it is plain, else the link to its folder with the file's name. Valid
  // as long as this process lives, through its own exec if pass_on() was called before. Throws
  // Error -EINVAL: the file's name is not plain; errors of open(2).
  std::string plain_path(const std::filesystem::path& path) {
    if (is_plain(path.native())) return path;
    const std::string name = path.filename();
    // Other processes can open these links only if this process could be traced.
    if (!is_plain(name) || ::prctl(PR_GET_DUMPABLE) != 1)
      throw Error(-EINVAL, path.string() +
                               ": the path has blanks, colons or the like; move the "
                               "installation to a folder without");
    const std::lock_guard<std::mutex> lock(lock_);
    Fd& folder = folders_[path.parent_path()];
    if (!folder) folder = open_folder(path.parent_path());
    // /proc/self has this process's number in the namespace in which /proc is mounted.
    return "/proc/" + std::filesystem::read_symlink("/proc/self").string() + "/fd/" +
           std::to_string(folder.get()) + "/" + name;
  }

  // Sets whether the programs that this process executes in its place keep the links.
  void pass_on(bool is_kept) {
    const std::lock_guard<std::mutex> lock(lock_);
    for (const auto& [path, folder] : folders_)
      ::fcntl(folder.get(), F_SETFD, is_kept ? 0 : FD_CLOEXEC);
  }

 private:
  static Fd open_folder(const std::filesystem::path& path) {
    constexpr int kLowest = 16;  // above the numbers that shells and launchers choose themselves
    const Fd folder = checked_fd(::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC), path);
    return checked_fd(::fcntl(folder.get(), F_DUPFD_CLOEXEC, kLowest), path);
  }

  std::mutex lock_;
  std::map<std::string, Fd> folders_;
};

}  // namespace nagaya::base

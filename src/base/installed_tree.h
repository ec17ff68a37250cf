// SPDX-License-Identifier: BSD-3-Clause
// installed_tree.h - finds the other files of an installation, from the place of one of them, and
// refuses those that somebody else could have put there.
//
// The prefix is the folder of the known file without one of a few fixed endings (bin, lib, ...).
// No other folder above it is searched: /tmp/me/install may be the user's, /tmp is everybody's.
//
// The file found, each folder from the prefix down to it, and each link that leads there must
// belong to root, to the owner of the known file, or to this process's user, and nobody else may be
// able to write it. Two things are allowed: a folder with the sticky bit, whose entries only their
// owners replace; and write permission of a group that has the owner's name and no other member. An
// access control list with more writers than that counts as write permission of others.
#pragma once

#include <fnmatch.h>
#include <grp.h>
#include <pwd.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <initializer_list>
#include <string>
#include <vector>

#include "base/error.h"

namespace nagaya::base {

// Whether `group` is the private group of this user, as distributions make one for each.
inline bool is_private_group(gid_t group, uid_t user) {
  std::vector<char> user_text(16384), group_text(65536);
  passwd user_room{}, *account = nullptr;
  ::group group_room{}, *members = nullptr;
  ::getpwuid_r(user, &user_room, user_text.data(), user_text.size(), &account);
  ::getgrgid_r(group, &group_room, group_text.data(), group_text.size(), &members);
  if (account == nullptr || members == nullptr || account->pw_gid != group) return false;
  const std::string name = account->pw_name;
  if (members->gr_name != name) return false;
  for (char** member = members->gr_mem; *member != nullptr; ++member)
    if (*member != name) return false;
  return true;
}

class InstalledTree {
 public:
  using Path = std::filesystem::path;

  // `file`: a file of the installation, its links resolved. `folders`: where below a prefix it may
  // lie; the first that fits counts. A `*` stands for one name.
  InstalledTree(const Path& file, std::initializer_list<const char*> folders) : file_(file) {
    for (const char* folder : folders) {
      prefix_ = without_ending(file.parent_path(), folder);
      if (!prefix_.empty()) break;
    }
    struct stat about {};
    if (::stat(file.c_str(), &about) != 0) throw_errno(file.string());
    owner_ = about.st_uid;
  }

  // Returns the path of the file or folder at `place` below the prefix, "" when there is none.
  // Throws Error -EPERM when others than the owner and root could have put it there.
  std::string find(const Path& place) const {
    std::error_code ignored;
    if (prefix_.empty() || !std::filesystem::exists(prefix_ / place, ignored)) return "";
    check(place);
    return prefix_ / place;
  }

  // find() of a folder, which also checks its entries, and those of the folders in it, `levels`
  // levels deep.
  std::string find_all(const Path& place, int levels = 1) const {
    const std::string found = find(place);
    if (levels < 0 || found.empty() || !std::filesystem::is_directory(found)) return found;
    for (const auto& entry : std::filesystem::directory_iterator(found))
      find_all(place / entry.path().filename(), levels - 1);
    return found;
  }

 private:
  // Returns `folder` without `ending`; empty if it ends otherwise, or has nothing before it.
  static Path without_ending(Path folder, const Path& ending) {
    const std::vector<Path> names(ending.begin(), ending.end());
    for (auto name = names.rbegin(); name != names.rend(); ++name) {
      if (::fnmatch(name->c_str(), folder.filename().c_str(), 0) != 0) return {};
      folder = folder.parent_path();
    }
    return folder;
  }

  // Checks each folder and link on the way from the prefix to `place`, as the kernel would resolve
  // them.
  void check(const Path& place) const {
    constexpr int kLinksMax = 40;
    const Path wanted = prefix_ / place;
    std::vector<Path> ahead;  // the next name last
    const auto go_on_with = [&ahead](const Path& names) {
      const std::vector<Path> all(names.begin(), names.end());
      ahead.insert(ahead.end(), all.rbegin(), all.rend());
    };
    go_on_with(place);
    Path at = prefix_;
    check_one(at, wanted);
    for (int links = 0; !ahead.empty();) {
      const Path name = ahead.back();
      ahead.pop_back();
      if (name.empty() || name == ".") continue;
      if (name == "..") {
        at = at.parent_path();
        continue;
      }
      at = name.is_absolute() ? name : at / name;
      if (!check_one(at, wanted)) continue;
      if (++links > kLinksMax) throw_errno(wanted.string(), ELOOP);
      const Path target = std::filesystem::read_symlink(at);
      at = at.parent_path();
      go_on_with(target);
    }
  }

  // Refuses a file that is not trusted; returns whether `path` is a symbolic link.
  bool check_one(const Path& path, const Path& wanted) const {
    struct stat about {};
    if (::lstat(path.c_str(), &about) != 0) throw_errno(path.string());
    const uid_t trusted[] = {0, owner_, ::geteuid()};
    if (std::find(std::begin(trusted), std::end(trusted), about.st_uid) == std::end(trusted))
      refuse(path, wanted, "belongs to user " + std::to_string(about.st_uid),
             "remove it, or give it to that user");
    if (!S_ISLNK(about.st_mode) && others_may_write(path, about))
      refuse(path, wanted, "can be written by others", "use chmod go-w on it");
    return S_ISLNK(about.st_mode);
  }

  static bool others_may_write(const Path& path, const struct stat& about) {
    if (S_ISDIR(about.st_mode) && (about.st_mode & S_ISVTX) != 0) return false;
    if ((about.st_mode & S_IWOTH) != 0) return true;
    if ((about.st_mode & S_IWGRP) == 0) return false;  // then no ACL gives it either
    return !is_private_group(about.st_gid, about.st_uid) ||
           ::getxattr(path.c_str(), "system.posix_acl_access", nullptr, 0) >= 0;
  }

  [[noreturn]] void refuse(const Path& path, const Path& wanted, const std::string& cause,
                           const std::string& cure) const {
    const std::string way = path == wanted ? "it" : path.string();
    throw Error(-EPERM, wanted.string() + ": not used: " + way + " " + cause + ", and " +
                            file_.string() + " is user " + std::to_string(owner_) + "'s; " + cure);
  }

  Path file_, prefix_;
  uid_t owner_ = 0;
};

}  // namespace nagaya::base

// SPDX-License-Identifier: BSD-3-Clause
#include "base/installed_tree.h"

#include <gtest/gtest.h>

#include <fstream>

#include "temporary_folder.h"

namespace nagaya::base {
namespace {

namespace fs = std::filesystem;

constexpr uid_t kOwner = 61001, kStranger = 61002;

// An installation of user kOwner, looked at by root, below a folder of everybody's.
class Installation : public ::testing::Test {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "only root makes files of several users";
    fs::permissions(common(), fs::perms(01777));
    add("me/install/bin/nagaya");
    for (const char* folder : {"me", "me/install", "me/install/bin"}) give(folder, kOwner);
  }

  fs::path common() const { return folder_.path(); }
  fs::path prefix() const { return common() / "me/install"; }

  void give(const fs::path& place, uid_t user) const {
    ASSERT_EQ(::lchown((common() / place).c_str(), user, user), 0);
  }
  void add(const fs::path& place, uid_t user = kOwner) const {
    fs::create_directories((common() / place).parent_path());
    std::ofstream(common() / place) << "x";
    give(place, user);
  }
  void allow(const fs::path& place, unsigned mode) const {
    fs::permissions(common() / place, fs::perms(mode));
  }

  InstalledTree tree() const {
    return {prefix() / "bin/nagaya", {"bin", "lib", "libexec/nagaya", "lib/*"}};
  }
  // The error where nothing is found.
  std::string refusal(const fs::path& place) const {
    try {
      return "found: " + tree().find_all(place);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), -EPERM);
      return error.what();
    }
  }

 private:
  TemporaryFolder folder_;
};

TEST_F(Installation, IsWhereItsFileLiesAndNowhereAbove) {
  add("me/install/libexec/nagaya/host");
  add("libexec/nagaya/evil");
  add("me/libexec/nagaya/evil");
  for (const char* folder : {"me/install/libexec", "me/install/libexec/nagaya"})
    give(folder, kOwner);
  EXPECT_EQ(tree().find("libexec/nagaya/host"), prefix() / "libexec/nagaya/host");
  EXPECT_EQ(tree().find("libexec/nagaya/evil"), "");
  EXPECT_EQ(tree().find("missing"), "");
}

TEST_F(Installation, HasAPrefixForEachKnownFolder) {
  add("me/install/found");
  const char* const folders[] = {"bin", "lib", "libexec/nagaya", "lib/x86_64-linux-gnu"};
  for (const char* folder : folders) {
    add(fs::path("me/install") / folder / "object");
    const InstalledTree tree(prefix() / folder / "object",
                             {"bin", "lib", "libexec/nagaya", "lib/*"});
    EXPECT_EQ(tree.find("found"), prefix() / "found") << folder;
  }
  add("me/install/elsewhere/object");
  EXPECT_EQ(InstalledTree(prefix() / "elsewhere/object", {"bin", "lib"}).find("found"), "");
  // The first that fits counts: lib64 below a prefix that is called lib.
  add("me/lib/lib64/object");
  add("me/lib/found");
  give("me/lib", kOwner);
  EXPECT_EQ(InstalledTree(common() / "me/lib/lib64/object", {"lib64", "lib/*"}).find("found"),
            common() / "me/lib/found");
}

TEST_F(Installation, FilesAndFoldersOfAStrangerAreRefusedByName) {
  add("me/install/lib/nagaya/plugin.so");
  EXPECT_EQ(tree().find_all("lib/nagaya"), prefix() / "lib/nagaya");  // root's folders
  for (const char* place : {"me/install/lib/nagaya/plugin.so", "me/install/lib/nagaya",
                            "me/install/lib", "me/install"}) {
    give(place, kStranger);
    const std::string said = refusal("lib/nagaya");
    EXPECT_NE(said.find((common() / place).string()), std::string::npos) << said;
    EXPECT_NE(said.find("belongs to user 61002"), std::string::npos) << said;
    EXPECT_EQ(said.find('\n'), std::string::npos);
    give(place, kOwner);
    EXPECT_EQ(tree().find_all("lib/nagaya"), prefix() / "lib/nagaya");
  }
}

TEST_F(Installation, FilesAndFoldersThatOthersCanWriteAreRefusedByName) {
  add("me/install/lib/nagaya/plugin.so");
  for (const char* place :
       {"me/install/lib/nagaya/plugin.so", "me/install/lib/nagaya", "me/install/lib", "me/install"})
    for (const unsigned mode : {0777U, 0775U, 0757U, 02775U}) {
      allow(place, mode);
      give(place, kOwner);  // whose group has no name: nobody knows who is in it
      const std::string said = refusal("lib/nagaya");
      EXPECT_NE(said.find((common() / place).string()), std::string::npos) << said;
      EXPECT_NE(said.find("can be written by others"), std::string::npos) << said;
      EXPECT_NE(said.find("chmod go-w"), std::string::npos) << said;
      allow(place, 0755);
    }
  EXPECT_EQ(tree().find_all("lib/nagaya"), prefix() / "lib/nagaya");
}

TEST_F(Installation, AFolderWithTheStickyBitMayBeEverybodys) {
  add("me/install/lib/nagaya/plugin.so");
  give("me/install/lib/nagaya", kOwner);
  allow("me/install/lib", 01777);
  EXPECT_EQ(tree().find_all("lib/nagaya"), prefix() / "lib/nagaya");
  give("me/install/lib/nagaya", kStranger);
  EXPECT_NE(refusal("lib/nagaya").find("belongs to user"), std::string::npos);
}

TEST_F(Installation, TheGroupOfOneUserMayWrite) {
  // Root's own group has root's name, on every system.
  ASSERT_TRUE(is_private_group(0, 0));
  EXPECT_FALSE(is_private_group(1, 0));
  EXPECT_FALSE(is_private_group(0, 1));
  EXPECT_FALSE(is_private_group(kOwner, kOwner));
  add("me/install/lib/plugin.so", 0);
  give("me/install/lib", 0);
  allow("me/install/lib/plugin.so", 0664);
  allow("me/install/lib", 02775);
  EXPECT_EQ(tree().find_all("lib"), prefix() / "lib");
  // The mask of an access control list stands where the group's permissions do.
  const unsigned char list[] = {2,  0, 0, 0,                           // version
                                1,  0, 6, 0, 0xff, 0xff, 0xff, 0xff,   // the owner: rw
                                2,  0, 6, 0, 0x4a, 0xee, 0,    0,      // user 61002: rw
                                4,  0, 4, 0, 0xff, 0xff, 0xff, 0xff,   // the group: r
                                16, 0, 6, 0, 0xff, 0xff, 0xff, 0xff,   // the mask: rw
                                32, 0, 4, 0, 0xff, 0xff, 0xff, 0xff};  // all others: r
  if (::setxattr((prefix() / "lib/plugin.so").c_str(), "system.posix_acl_access", list, sizeof list,
                 0) != 0)
    GTEST_SKIP() << "this file system has no access control lists";
  EXPECT_NE(refusal("lib").find("can be written by others"), std::string::npos);
}

TEST_F(Installation, ALinkIsAsGoodAsAllThatItLeadsThrough) {
  add("me/real/plugin.so");
  give("me/real", kOwner);
  fs::create_symlink("../real", prefix() / "lib");
  give("me/install/lib", kOwner);
  EXPECT_EQ(tree().find_all("lib"), prefix() / "lib");
  give("me/install/lib", kStranger);
  EXPECT_NE(refusal("lib").find("belongs to user"), std::string::npos);
  give("me/install/lib", kOwner);
  allow("me/real", 0777);
  EXPECT_NE(refusal("lib").find("me/real can be written"), std::string::npos) << refusal("lib");
  allow("me/real", 0755);
  fs::create_symlink(common() / "me/real/plugin.so", prefix() / "absolute");
  give("me/install/absolute", kOwner);
  EXPECT_EQ(tree().find("absolute"), prefix() / "absolute");
  give("me/real/plugin.so", kStranger);
  EXPECT_NE(refusal("absolute").find("belongs to user"), std::string::npos);
  fs::create_symlink("nowhere", prefix() / "dangling");
  EXPECT_EQ(tree().find("dangling"), "");
  fs::create_symlink("itself", prefix() / "itself");
  EXPECT_EQ(tree().find("itself"), "");
}

}  // namespace
}  // namespace nagaya::base

// SPDX-License-Identifier: BSD-3-Clause
// Reads the programs of this system: what they need is what ld.so says.
#include "task/load/dynamic_object.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

namespace nagaya::task {
namespace {

// Returns the names of the libraries that ld.so would load, without those of the libc.
std::set<std::string> loaded_by_linker(const std::string& program) {
  FILE* const output = ::popen(("ldd " + program).c_str(), "r");
  std::string text(1 << 16, '\0');
  text.resize(std::fread(text.data(), 1, text.size(), output));
  ::pclose(output);
  std::istringstream lines(text);
  std::set<std::string> names;
  for (std::string line, name; std::getline(lines, line);)
    if (line.find("=>") != std::string::npos && std::istringstream(line) >> name &&
        !is_of_libc(name))
      names.insert(name);
  return names;
}

TEST(LibrarySearch, FindsTheLibrariesThatTheLinkerLoads) {
  for (const std::string program : {"/bin/ls", "/usr/bin/gdb", "/usr/bin/ssh", "/usr/bin/curl"}) {
    const auto object = read_dynamic_object(program);
    if (!object) continue;  // not installed
    std::set<std::string> found;
    LibrarySearch search({});
    EXPECT_FALSE(search.needs(*object, [&](const std::string& name, const std::string&) {
      if (!is_of_libc(name)) found.insert(name);
      return false;
    }));
    EXPECT_EQ(found, loaded_by_linker(program)) << program;
  }
}

TEST(LibrarySearch, LooksIntoTheFoldersOfTheEnvironment) {
  const std::string folder = std::filesystem::temp_directory_path() / "nagaya-library-search";
  std::filesystem::create_directory(folder);
  std::filesystem::copy_file("/bin/true", folder + "/libonly.so",
                             std::filesystem::copy_options::overwrite_existing);
  const auto program = read_dynamic_object("/bin/true");
  ASSERT_TRUE(program);
  EXPECT_FALSE(LibrarySearch({}).find("libonly.so", *program, *program));
  const auto found =
      LibrarySearch({"LD_LIBRARY_PATH=/nowhere:" + folder}).find("libonly.so", *program, *program);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->path, folder + "/libonly.so");
  DynamicObject user = *found;
  user.runpath = "/nowhere:$ORIGIN";
  EXPECT_TRUE(LibrarySearch({}).find("libonly.so", user, *program));
  user.runpath = "${ORIGIN}/.";
  EXPECT_TRUE(LibrarySearch({}).find("libonly.so", user, *program));
  std::filesystem::remove_all(folder);
}

TEST(DynamicObject, HasTheNamesOfItsSymbolsAndLibraries) {
  const auto env = read_dynamic_object("/usr/bin/env");
  ASSERT_TRUE(env);
  EXPECT_TRUE(env->has_name("execvp"));
  EXPECT_TRUE(env->has_name("libc.so.6"));
  EXPECT_FALSE(env->has_name("dlopen"));
  EXPECT_FALSE(env->is_static());
}

TEST(DynamicObject, IsNotReadFromOtherFiles) {
  for (const char* path : {"/etc/passwd", "/", "/dev/null", "/no/such/file", ""})
    EXPECT_FALSE(read_dynamic_object(path)) << path;
}

// Cuts a library off everywhere, and changes it: nothing is believed that is not there.
TEST(DynamicObject, IsReadFromDamagedFilesAsFarAsTheyGo) {
  std::ifstream file("/bin/true", std::ios::binary);
  const std::string whole((std::istreambuf_iterator<char>(file)), {});
  const std::string path = std::filesystem::temp_directory_path() / "nagaya-damaged-object";
  const auto read = [&](const std::string& bytes) {
    std::ofstream(path, std::ios::binary) << bytes;
    return read_dynamic_object(path);
  };
  for (size_t bytes = 0; bytes < whole.size(); bytes += 97) read(whole.substr(0, bytes));
  unsigned random = 1;
  for (int n = 0; n < 2000; ++n) {
    std::string damaged = whole;
    for (int k = 0; k < 4; ++k) {
      random = random * 1664525 + 1013904223;
      damaged[(random >> 8) % 1024] = static_cast<char>(random >> 24);
    }
    read(damaged);
  }
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace nagaya::task

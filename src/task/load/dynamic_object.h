// SPDX-License-Identifier: BSD-3-Clause
// dynamic_object.h - reads which libraries a program needs, and which names it uses, from the files
// themselves: asking ld.so takes as long as starting the program.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace nagaya::task {

// The dynamic section of a program or library.
struct DynamicObject {
  std::string path;
  std::string interpreter;  // the program's dynamic linker; "": of a library, a static program
  std::vector<std::string> needed;  // names of libraries
  std::string rpath, runpath;
  std::string strings;  // the string table: "\0name\0name\0...", with those of all symbols

  // Returns true if a symbol, or a library, has this name, or one that ends so: linkers store a
  // name that is the end of another one within it.
  bool has_name(std::string_view name) const;
  bool is_static() const { return strings.empty(); }
};

// Returns what it can read; nullopt if the file is no ELF file of this machine.
std::optional<DynamicObject> read_dynamic_object(const std::string& path);

// Returns true for the name of a library of the libc itself.
bool is_of_libc(const std::string& name);

// Finds libraries where glibc's ld.so looks for them.
class LibrarySearch {
 public:
  explicit LibrarySearch(const std::vector<std::string>& environment);

  // Returns the library `name` that `user`, an object of `program`, needs; nullopt: not found.
  std::optional<DynamicObject> find(const std::string& name, const DynamicObject& user,
                                    const DynamicObject& program);

  // Returns true if `program`, or a library that it needs, directly or not, needs a library that
  // fulfils the condition. Its path is "" where it is not found.
  bool needs(
      const DynamicObject& program,
      const std::function<bool(const std::string& name, const std::string& path)>& condition);

 private:
  std::vector<std::string> in_cache(const std::string& name);

  std::vector<std::string> folders_;  // of LD_LIBRARY_PATH
  std::optional<std::string> cache_;  // the content of /etc/ld.so.cache, once it was needed
};

}  // namespace nagaya::task

// SPDX-License-Identifier: BSD-3-Clause
#include "task/load/dynamic_object.h"

#include <elf.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstring>
#include <set>

#include "arch/arch.h"
#include "base/fd.h"

namespace nagaya::task {
namespace {

constexpr size_t kSectionMaxBytes = 1 << 20;
constexpr size_t kStringsMaxBytes = 64 << 20;
constexpr size_t kCacheMaxBytes = 64 << 20;
constexpr size_t kObjectsMax = 4096;
constexpr const char* kUsualFolders[] = {"/lib64", "/usr/lib64", "/lib", "/usr/lib"};

// Reads `count` elements at `offset` of the file. Returns none if they are not all there.
template <class Element>
std::vector<Element> read_all(const base::Fd& file, uint64_t offset, size_t count) {
  std::vector<Element> all(count);
  const auto bytes = static_cast<ssize_t>(count * sizeof(Element));
  if (::pread(file.get(), all.data(), static_cast<size_t>(bytes), static_cast<off_t>(offset)) !=
      bytes)
    return {};
  return all;
}

// Returns the program headers; none if the file is no ELF file of this machine.
std::vector<Elf64_Phdr> read_headers(const base::Fd& file) {
  const std::vector<Elf64_Ehdr> header = read_all<Elf64_Ehdr>(file, 0, 1);
  if (header.empty() || std::memcmp(header[0].e_ident, ELFMAG, SELFMAG) != 0 ||
      header[0].e_ident[EI_CLASS] != ELFCLASS64 || header[0].e_ident[EI_DATA] != ELFDATA2LSB ||
      header[0].e_machine != arch::kElfMachine || header[0].e_phentsize != sizeof(Elf64_Phdr))
    return {};
  return read_all<Elf64_Phdr>(file, header[0].e_phoff, header[0].e_phnum);
}

std::string read_strings(const base::Fd& file, const std::vector<Elf64_Phdr>& headers,
                         uint64_t address, uint64_t bytes) {
  if (bytes > kStringsMaxBytes) return "";
  for (const Elf64_Phdr& load : headers) {
    if (load.p_type != PT_LOAD || address - load.p_vaddr >= load.p_filesz) continue;
    const auto text = read_all<char>(file, load.p_offset + (address - load.p_vaddr), bytes);
    return {text.begin(), text.end()};
  }
  return "";
}

// Returns the path in the program's PT_INTERP, "" if it has none.
std::string read_interpreter(const base::Fd& file, const std::vector<Elf64_Phdr>& headers) {
  for (const Elf64_Phdr& header : headers) {
    if (header.p_type != PT_INTERP || header.p_filesz > PATH_MAX) continue;
    const auto text = read_all<char>(file, header.p_offset, header.p_filesz);
    return {text.begin(), std::find(text.begin(), text.end(), '\0')};
  }
  return "";
}

std::vector<std::string> split(const std::string& list, const char* separators) {
  std::vector<std::string> parts;
  for (size_t begin = 0; begin <= list.size();) {
    const size_t end = std::min(list.find_first_of(separators, begin), list.size());
    if (end > begin) parts.push_back(list.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

// Returns the folders of an RPATH or RUNPATH in `object`.
std::vector<std::string> folders_of(const std::string& list, const DynamicObject& object) {
  std::vector<std::string> folders = split(list, ":");
  const std::string origin = object.path.substr(0, object.path.rfind('/'));
  for (std::string& folder : folders)
    for (const std::string word : {"$ORIGIN", "${ORIGIN}"})
      for (size_t at = 0; (at = folder.find(word, at)) != std::string::npos; at += origin.size())
        folder.replace(at, word.size(), origin);
  return folders;
}

std::string read_file(const char* path) {
  const base::Fd file(::open(path, O_RDONLY | O_CLOEXEC));
  const off_t bytes = file ? ::lseek(file.get(), 0, SEEK_END) : 0;
  if (bytes <= 0 || bytes > static_cast<off_t>(kCacheMaxBytes)) return "";
  const auto text = read_all<char>(file, 0, static_cast<size_t>(bytes));
  return {text.begin(), text.end()};
}

}  // namespace

bool is_of_libc(const std::string& name) {
  constexpr const char* kBeginnings[] = {"libc.",       "libm.",  "libdl.",
                                         "libpthread.", "librt.", "ld-"};
  return std::any_of(std::begin(kBeginnings), std::end(kBeginnings),
                     [&](const char* beginning) { return name.starts_with(beginning); });
}

bool DynamicObject::has_name(std::string_view name) const {
  return strings.find(std::string(name).append(1, '\0')) != std::string::npos;
}

std::optional<DynamicObject> read_dynamic_object(const std::string& path) {
  const base::Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file) return std::nullopt;
  const std::vector<Elf64_Phdr> headers = read_headers(file);
  if (headers.empty()) return std::nullopt;
  DynamicObject object;
  object.path = path;
  object.interpreter = read_interpreter(file, headers);
  std::vector<Elf64_Dyn> section;
  for (const Elf64_Phdr& header : headers)
    if (header.p_type == PT_DYNAMIC && header.p_filesz <= kSectionMaxBytes)
      section = read_all<Elf64_Dyn>(file, header.p_offset, header.p_filesz / sizeof(Elf64_Dyn));
  uint64_t address = 0, bytes = 0;
  for (const Elf64_Dyn& entry : section) {
    if (entry.d_tag == DT_STRTAB) address = entry.d_un.d_ptr;
    if (entry.d_tag == DT_STRSZ) bytes = entry.d_un.d_val;
  }
  object.strings = read_strings(file, headers, address, bytes);
  const auto text = [&](const Elf64_Dyn& entry) {
    const uint64_t at = entry.d_un.d_val;
    return at < object.strings.size() ? std::string(object.strings.c_str() + at) : "";
  };
  for (const Elf64_Dyn& entry : section) {
    if (entry.d_tag == DT_NULL) break;
    if (entry.d_tag == DT_NEEDED) object.needed.push_back(text(entry));
    if (entry.d_tag == DT_RPATH) object.rpath = text(entry);
    if (entry.d_tag == DT_RUNPATH) object.runpath = text(entry);
  }
  return object;
}

LibrarySearch::LibrarySearch(const std::vector<std::string>& environment) {
  const std::string prefix = "LD_LIBRARY_PATH=";
  for (const std::string& variable : environment)
    if (variable.starts_with(prefix)) folders_ = split(variable.substr(prefix.size()), ":;");
}

// Returns the paths that the cache has for a library (ldconfig(8); the format: glibc's
// sysdeps/generic/dl-cache.h, struct cache_file_new).
std::vector<std::string> LibrarySearch::in_cache(const std::string& name) {
  constexpr char kMagic[] = "glibc-ld.so.cache1.1";
  constexpr size_t kHeaderBytes = 48;
  struct Entry {
    int32_t flags;
    uint32_t name, path;  // offsets
    uint32_t os_version;
    uint64_t hardware;
  };
  if (!cache_) cache_ = read_file("/etc/ld.so.cache");
  const std::string& cache = *cache_;
  const size_t begin = cache.find(kMagic);  // behind another table in caches of the older format
  std::vector<std::string> paths;
  if (begin == std::string::npos || cache.size() - begin < kHeaderBytes) return paths;
  uint32_t count;
  std::memcpy(&count, &cache[begin + sizeof kMagic - 1], sizeof count);
  count = static_cast<uint32_t>(
      std::min<size_t>(count, (cache.size() - begin - kHeaderBytes) / sizeof(Entry)));
  const auto text = [&](uint32_t offset) {
    return offset < cache.size() - begin ? cache.c_str() + begin + offset : "";
  };
  for (uint32_t n = 0; n < count; ++n) {
    Entry entry;
    std::memcpy(&entry, &cache[begin + kHeaderBytes + n * sizeof entry], sizeof entry);
    if (name == text(entry.name)) paths.emplace_back(text(entry.path));
  }
  return paths;
}

std::optional<DynamicObject> LibrarySearch::find(const std::string& name, const DynamicObject& user,
                                                 const DynamicObject& program) {
  if (name.find('/') != std::string::npos) return read_dynamic_object(name);
  std::vector<std::string> paths;
  const auto add = [&](const std::vector<std::string>& folders) {
    for (const std::string& folder : folders) paths.push_back(folder + "/" + name);
  };
  if (user.runpath.empty()) {
    add(folders_of(user.rpath, user));
    add(folders_of(program.rpath, program));
  }
  add(folders_);
  add(folders_of(user.runpath, user));
  const std::vector<std::string> cached = in_cache(name);
  paths.insert(paths.end(), cached.begin(), cached.end());
  add({std::begin(kUsualFolders), std::end(kUsualFolders)});
  for (const std::string& path : paths)
    if (auto found = read_dynamic_object(path)) return found;
  return std::nullopt;
}

bool LibrarySearch::needs(
    const DynamicObject& program,
    const std::function<bool(const std::string& name, const std::string& path)>& condition) {
  std::set<std::string> known;
  std::vector<DynamicObject> to_read{program};
  while (!to_read.empty() && known.size() < kObjectsMax) {
    const DynamicObject user = std::move(to_read.back());
    to_read.pop_back();
    for (const std::string& name : user.needed) {
      if (is_of_libc(name) || !known.insert(name).second) continue;
      auto found = find(name, user, program);
      if (condition(name, found ? found->path : "")) return true;
      if (found) to_read.push_back(std::move(*found));
    }
  }
  return false;
}

}  // namespace nagaya::task

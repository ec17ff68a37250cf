// SPDX-License-Identifier: BSD-3-Clause
#include "bootstrap/pmix_meeting.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <functional>

#include "base/error.h"
#include "bootstrap/imports.h"

namespace nagaya::bootstrap {

using base::Error;

namespace {

constexpr const char* kIsInitialized = "PMIx_Initialized";

int is_never_initialized() {
  return 0;
}

// Whether the launcher has a folder for its session, closed to other users.
bool is_own_folder(const std::string& path) {
  struct stat folder {};
  return ::stat(path.c_str(), &folder) == 0 && folder.st_uid == ::geteuid() &&
         (folder.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value != nullptr ? value : "";
}

// A launched process may run several programs, one after the other. Only the first may meet others:
// the launcher keeps the values that it has published, and its delegatee is connected for it. A
// file in the folder of the launcher's session, which is removed with that, tells the later
// programs. (Should the file outlive its launcher: no other launcher has the same addresses, whose
// hash is in its name.)
void throw_if_an_earlier_program_has_met() {
  static bool is_marked = false;  // or cannot be
  const std::string folder = variable("PMIX_SERVER_TMPDIR");
  if (is_marked || !is_own_folder(folder)) return;
  const size_t launcher =
      std::hash<std::string>{}(variable("PMIX_SERVER_URI4") + variable("PMIX_SERVER_URI3"));
  const std::string mark = folder + "/nagaya." + variable("PMIX_NAMESPACE") + "." +
                           variable("PMIX_RANK") + "." + std::to_string(launcher);
  const int file = ::open(mark.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
  if (file < 0 && errno == EEXIST) throw Error(-EEXIST, kEarlierProgram);
  if (file >= 0) ::close(file);
  is_marked = true;
}

}  // namespace

Pmix::Pmix() : library_(::dlopen("libpmix.so.2", RTLD_NOW | RTLD_LOCAL)) {
  if (library_ == nullptr)
    throw Error(-ENOTSUP, std::string("the job has several nodes and its launcher speaks PMIx, "
                                      "but libpmix cannot be loaded: ") +
                              ::dlerror());
  find(init, "PMIx_Init");
  find(finalize, "PMIx_Finalize");
  find(is_initialized, "PMIx_Initialized");
  find(put, "PMIx_Put");
  find(commit, "PMIx_Commit");
  find(fence, "PMIx_Fence");
  find(get, "PMIx_Get");
  find(name_of, "PMIx_Error_string");
}

template <class Function>
void Pmix::find(Function& function, const char* name) {
  function = reinterpret_cast<Function>(::dlsym(library_, name));
  if (function == nullptr) throw Error(-ENOTSUP, std::string("libpmix has no ") + name);
}

void Pmix::check(pmix_status_t status, const char* what) const {
  if (status != PMIX_SUCCESS) throw Error(-EPROTO, std::string(what) + ": " + name_of(status));
}

PmixMeeting::PmixMeeting() : is_hidden_(pmix_.is_initialized() == 0) {
  throw_if_an_earlier_program_has_met();
  pmix_.check(pmix_.init(&self_, nullptr, 0), "PMIx_Init");
  if (is_hidden_) bind_import(kIsInitialized, reinterpret_cast<void*>(is_never_initialized));
}

PmixMeeting::~PmixMeeting() {
  if (is_hidden_) bind_import(kIsInitialized, reinterpret_cast<void*>(pmix_.is_initialized));
  pmix_.finalize(nullptr, 0);
}

void PmixMeeting::publish(const std::string& key, const std::string& bytes) {
  pmix_value_t value{};
  value.type = PMIX_BYTE_OBJECT;
  value.data.bo.bytes = const_cast<char*>(bytes.data());
  value.data.bo.size = bytes.size();
  pmix_.check(pmix_.put(PMIX_GLOBAL, key.c_str(), &value), "PMIx_Put");
  pmix_.check(pmix_.commit(), "PMIx_Commit");
}

// Also collects the values that all processes have published.
void PmixMeeting::fence() {
  pmix_info_t info{};
  std::strncpy(info.key, PMIX_COLLECT_DATA, PMIX_MAX_KEYLEN);
  info.value.type = PMIX_BOOL;
  info.value.data.flag = true;
  pmix_.check(pmix_.fence(nullptr, 0, &info, 1), "PMIx_Fence");
}

std::string PmixMeeting::read(uint32_t rank, const std::string& key) {
  pmix_proc_t process = self_;
  process.rank = rank;
  pmix_value_t* value = nullptr;
  pmix_.check(pmix_.get(&process, key.c_str(), nullptr, 0, &value), "PMIx_Get");
  if (value->type != PMIX_BYTE_OBJECT) throw Error(-EPROTO, "PMIx_Get: not what was put");
  const std::string bytes(value->data.bo.bytes, value->data.bo.size);
  std::free(value->data.bo.bytes);
  std::free(value);
  return bytes;
}

}  // namespace nagaya::bootstrap

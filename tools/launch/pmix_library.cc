// SPDX-License-Identifier: BSD-3-Clause
#include "launch/pmix_library.h"

#include <dlfcn.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <set>
#include <string>

#include "base/error.h"

namespace nagaya::tools {
namespace {

using base::Error;

// ds21 keeps a job's data once, in files that all ranks map, at an address that each chooses.
// (shmem and shmem2 want one address for all, which tasks of one space cannot have.) A rank that
// dies while it holds a lock there stops the server: then the job has failed anyway. hash makes no
// files, but a copy in each rank. PMIx 5 has no ds21, and complains if it is named.
const char* storage(int major_version) {
  rlimit of_files{};
  ::getrlimit(RLIMIT_FSIZE, &of_files);
  return of_files.rlim_cur == RLIM_INFINITY && major_version < 5 ? "ds21,hash" : "hash";
}

// Variables that libpmix's server reads when it starts. The ranks must not inherit them.
class ServerVariables {
 public:
  explicit ServerVariables(int major_version)
      : variables_{{{"PMIX_MCA_gds", storage(major_version)},
                    // The server of PMIx 4.2 closes the connection of a process that has ended, but
                    // removes its event later. Meanwhile libevent takes a new connection of the
                    // same descriptor for one that epoll watches already: its process waits for
                    // ever. poll needs no registration.
                    {"EVENT_NOEPOLL", "1"}}} {
    for (auto& [name, value, before] : variables_) {
      if (const char* const old = std::getenv(name)) before = old;
      ::setenv(name, value, 1);
    }
  }
  ~ServerVariables() {
    for (const auto& [name, value, before] : variables_) {
      if (before)
        ::setenv(name, before->c_str(), 1);
      else
        ::unsetenv(name);
    }
  }

 private:
  struct Variable {
    const char* name;
    const char* value;
    std::optional<std::string> before = {};
  };
  std::array<Variable, 2> variables_;
};

// Threads that start meanwhile have all signals blocked. libpmix writes to connections of ranks
// that have died: SIGPIPE would end the launcher.
class BlockedSignals {
 public:
  BlockedSignals() {
    sigset_t all;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~BlockedSignals() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_;
};

std::set<int> own_descriptors() {
  std::set<int> descriptors;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd"))
    descriptors.insert(std::atoi(entry.path().filename().c_str()));
  return descriptors;
}

// libpmix's thread reads the first message of a new connection, whoever has made it, and meanwhile
// does nothing else. A connection takes over the limit from the socket that listens.
void limit_silence_of_new_connections(const std::set<int>& descriptors_before) {
  const timeval limit{10, 0};
  for (const int descriptor : own_descriptors()) {
    int listens = 0;
    socklen_t bytes = sizeof listens;
    if (!descriptors_before.contains(descriptor) &&
        ::getsockopt(descriptor, SOL_SOCKET, SO_ACCEPTCONN, &listens, &bytes) == 0 && listens != 0)
      ::setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  }
}

}  // namespace

PmixLibrary::PmixLibrary(const std::string& file)
    : library_(::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL)) {
  if (library_ == nullptr)
    throw Error(-ENOENT, std::string("libpmix cannot be loaded: ") + ::dlerror());
  find(register_nspace, "PMIx_server_register_nspace");
  find(deregister_nspace, "PMIx_server_deregister_nspace");
  find(register_client, "PMIx_server_register_client");
  find(setup_fork, "PMIx_server_setup_fork");
  find(generate_locality_string, "PMIx_server_generate_locality_string");
  find(server_init_, "PMIx_server_init");
  find(name_of_, "PMIx_Error_string");
  find(version_, "PMIx_Get_version");
}

template <class Function>
void PmixLibrary::find(Function& function, const char* name) {
  function = reinterpret_cast<Function>(::dlsym(library_, name));
  if (function == nullptr) throw Error(-ENOENT, std::string("libpmix has no ") + name);
}

int PmixLibrary::major_version() const {
  const std::string text = version_();  // "OpenPMIx 4.2.2 (...)"
  const size_t digit = text.find_first_of("0123456789");
  return digit != std::string::npos ? std::atoi(text.c_str() + digit) : 0;
}

bool PmixLibrary::uses(const void* function, const char* name) const {
  return ::dlsym(library_, name) == function;
}

void PmixLibrary::check(pmix_status_t status, const char* what) const {
  if (status != PMIX_SUCCESS && status != PMIX_OPERATION_SUCCEEDED)
    throw Error(-EPROTO, std::string(what) + ": " + name_of_(status));
}

void PmixLibrary::start_server(pmix_server_module_t* module, PmixInfo& info) const {
  const ServerVariables variables(major_version());
  const BlockedSignals blocked;
  const std::set<int> descriptors_before = own_descriptors();
  check(server_init_(module, info.data(), info.size()), "cannot start the server of PMIx");
  limit_silence_of_new_connections(descriptors_before);
}

}  // namespace nagaya::tools

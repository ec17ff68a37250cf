// SPDX-License-Identifier: BSD-3-Clause
// pmix_library.h - libpmix, opened when it is needed: the command also runs without it.
#pragma once

#include <pmix.h>
#include <pmix_server.h>

#include <string>

#include "launch/pmix_info.h"

namespace nagaya::tools {

class PmixLibrary {
 public:
  explicit PmixLibrary(const std::string& file);  // throws Error -ENOENT

  int major_version() const;
  // Whether libpmix's function `name`, of another library, is this one.
  bool uses(const void* function, const char* name) const;
  // Throws Error if `status` says that `what` has failed.
  void check(pmix_status_t status, const char* what) const;

  // Calls PMIx_server_init(). It makes threads, which run until the process ends:
  // PMIx_server_finalize() may crash after the death of a rank (4.2.2). Throws Error.
  void start_server(pmix_server_module_t* module, PmixInfo& info) const;

  decltype(&PMIx_server_register_nspace) register_nspace;
  decltype(&PMIx_server_deregister_nspace) deregister_nspace;
  decltype(&PMIx_server_register_client) register_client;
  decltype(&PMIx_server_setup_fork) setup_fork;
  decltype(&PMIx_server_generate_locality_string) generate_locality_string;

 private:
  template <class Function>
  void find(Function& function, const char* name);

  void* library_;  // stays loaded
  decltype(&PMIx_server_init) server_init_;
  decltype(&PMIx_Error_string) name_of_;
  decltype(&PMIx_Get_version) version_;
};

}  // namespace nagaya::tools

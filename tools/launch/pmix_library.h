// SPDX-License-Identifier: BSD-3-Clause
// pmix_library.h - libpmix, opened when it is needed: the command also runs without it.
#pragma once

#include <pmix.h>
#include <pmix_server.h>

namespace nagaya::tools {

class PmixLibrary {
 public:
  PmixLibrary();  // throws Error -ENOENT

  // Whether libpmix's function `name`, of another library, is this one.
  bool uses(const void* function, const char* name) const;
  int major_version() const;
  // Throws Error if `status` says that `what` has failed.
  void check(pmix_status_t status, const char* what) const;

  decltype(&PMIx_server_init) server_init;
  decltype(&PMIx_server_finalize) server_finalize;
  decltype(&PMIx_server_register_nspace) register_nspace;
  decltype(&PMIx_server_deregister_nspace) deregister_nspace;
  decltype(&PMIx_server_register_client) register_client;
  decltype(&PMIx_server_setup_fork) setup_fork;
  decltype(&PMIx_server_generate_locality_string) generate_locality_string;
  decltype(&PMIx_Error_string) name_of;
  decltype(&PMIx_Get_version) version;

 private:
  template <class Function>
  void find(Function& function, const char* name);

  void* library_;  // stays loaded: it has threads of its own
};

}  // namespace nagaya::tools

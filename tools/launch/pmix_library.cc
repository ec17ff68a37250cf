// SPDX-License-Identifier: BSD-3-Clause
#include "launch/pmix_library.h"

#include <dlfcn.h>

#include <cstdlib>
#include <string>

#include "base/error.h"

namespace nagaya::tools {

using base::Error;

PmixLibrary::PmixLibrary() : library_(::dlopen("libpmix.so.2", RTLD_NOW | RTLD_LOCAL)) {
  if (library_ == nullptr)
    throw Error(-ENOENT, std::string("libpmix cannot be loaded: ") + ::dlerror());
  find(server_init, "PMIx_server_init");
  find(server_finalize, "PMIx_server_finalize");
  find(register_nspace, "PMIx_server_register_nspace");
  find(deregister_nspace, "PMIx_server_deregister_nspace");
  find(register_client, "PMIx_server_register_client");
  find(setup_fork, "PMIx_server_setup_fork");
  find(generate_locality_string, "PMIx_server_generate_locality_string");
  find(name_of, "PMIx_Error_string");
  find(version, "PMIx_Get_version");
}

template <class Function>
void PmixLibrary::find(Function& function, const char* name) {
  function = reinterpret_cast<Function>(::dlsym(library_, name));
  if (function == nullptr) throw Error(-ENOENT, std::string("libpmix has no ") + name);
}

bool PmixLibrary::uses(const void* function, const char* name) const {
  return ::dlsym(library_, name) == function;
}

int PmixLibrary::major_version() const {
  const std::string text = version();  // "OpenPMIx 4.2.2 (...)"
  const size_t digit = text.find_first_of("0123456789");
  return digit != std::string::npos ? std::atoi(text.c_str() + digit) : 0;
}

void PmixLibrary::check(pmix_status_t status, const char* what) const {
  if (status != PMIX_SUCCESS && status != PMIX_OPERATION_SUCCEEDED)
    throw Error(-EPROTO, std::string(what) + ": " + name_of(status));
}

}  // namespace nagaya::tools

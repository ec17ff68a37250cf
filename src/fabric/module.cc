// SPDX-License-Identifier: BSD-3-Clause
#include "fabric/module.h"

#include <dlfcn.h>

#include "base/error.h"
#include "fabric/kept_signal_handlers.h"
#include "task/load/installation.h"

namespace nagaya::fabric {

std::unique_ptr<Fabric> open_libfabric(const std::string& device) {
  const KeptSignalHandlers kept;
  // Never unloaded: the Fabric's code lies in it.
  void* module = ::dlopen(task::installed_program("nagaya-fabric.so").c_str(), RTLD_NOW);
  if (module == nullptr)
    throw base::Error(-ENOENT, std::string("cannot load the fabric between nodes: ") + ::dlerror() +
                                   "; a job on several nodes needs libfabric");
  auto* create = reinterpret_cast<CreateFunction*>(::dlsym(module, kCreateFunction));
  if (create == nullptr)
    throw base::Error(-ENOENT, std::string("not a fabric module of this version: ") + ::dlerror() +
                                   "; install Nagaya again");
  return std::unique_ptr<Fabric>(create(device));
}

}  // namespace nagaya::fabric

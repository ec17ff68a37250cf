// SPDX-License-Identifier: BSD-3-Clause
// module.h - libfabric, loaded only when a job has several nodes: loading it costs start time.
#pragma once

#include <memory>
#include <string>

#include "fabric/fabric.h"

namespace nagaya::fabric {

// The one exported function of libexec/nagaya/nagaya-fabric.so. Module and host are built
// together: it may throw base::Error, as the methods of its Fabric may.
using CreateFunction = Fabric*(const std::string& device);
inline constexpr char kCreateFunction[] = "nagaya_fabric_create";

// Opens an endpoint on that network device; "": on the one that libfabric names first. Throws
// base::Error when the module, libfabric, its provider or the device is missing. Every signal keeps
// the handler that it has: libraries of providers install their own while they are loaded.
std::unique_ptr<Fabric> open_libfabric(const std::string& device = "");

}  // namespace nagaya::fabric

// SPDX-License-Identifier: BSD-3-Clause
#include "faces/mpi/environment.h"

#include <algorithm>
#include <string_view>

#include "base/error.h"
#include "base/plain_path.h"
#include "task/load/installation.h"
#include "task/load/program.h"

namespace nagaya::mpi {

Reach reach_in(const std::vector<std::string>& environment, Reach default_reach) {
  const char* const value = task::environment_value(environment, "NAGAYA_MPI");
  if (value == nullptr) return default_reach;
  const std::string_view word = value;
  if (word == "off") return Reach::kNone;
  if (word == "local") return Reach::kNode;
  if (word == "on") return Reach::kJob;
  throw base::Error(-EINVAL, std::string("NAGAYA_MPI=") + value + " is not on, local or off");
}

// Each ABI has the exact names, and what else it asks of the library (abi/*/abi.h).
bool is_known_library(std::string_view name) {
  constexpr std::string_view kBeginnings[] = {"libmpi.so.12", "libmpich.so.12", "libmpi.so.40",
                                              "libmpi_abi.so."};
  return std::any_of(std::begin(kBeginnings), std::end(kBeginnings),
                     [&](std::string_view beginning) { return name.starts_with(beginning); });
}

void preload_face(std::vector<std::string>& environment) {
  if (reach_in(environment, Reach::kNode) == Reach::kNone) return;
  const char* const verbose = task::environment_value(environment, "NAGAYA_MPI_VERBOSE");
  if (verbose != nullptr && verbose != std::string_view("0") && verbose != std::string_view("1"))
    throw base::Error(-EINVAL, std::string("NAGAYA_MPI_VERBOSE=") + verbose + " is not 0 or 1");
  const std::string face =
      base::PathLinks::own().plain_path(task::installed_library(std::string(kFaceLibrary)));
  const std::string beginning = "LD_PRELOAD=";
  const auto others =
      std::find_if(environment.begin(), environment.end(),
                   [&](const std::string& variable) { return variable.starts_with(beginning); });
  if (others == environment.end())
    environment.push_back(beginning + face);
  else
    *others += ":" + face;
}

}  // namespace nagaya::mpi

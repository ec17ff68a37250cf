// SPDX-License-Identifier: BSD-3-Clause
#include "beneath/components.h"

#include <dlfcn.h>

#include <cstdlib>
#include <string_view>

namespace nagaya::mpi {
namespace {

constexpr const char* kPathOfComponents = "OMPI_MCA_mca_base_component_path";

// Returns the release of Open MPI, "" of another MPI.
std::string open_mpi_release(void* mpi) {
  constexpr std::string_view kBeginning = "Open MPI v";
  constexpr size_t kTextMaxBytes = 8192;  // MPICH's is the longest
  using Function = int(char*, int*);
  auto* const get_version = reinterpret_cast<Function*>(::dlsym(mpi, "MPI_Get_library_version"));
  std::string text(kTextMaxBytes, '\0');
  int bytes = 0;
  if (get_version == nullptr || get_version(text.data(), &bytes) != 0 ||
      !text.starts_with(kBeginning))
    return "";
  const size_t end = text.find_first_not_of("0123456789.", kBeginning.size());
  return text.substr(kBeginning.size(), end - kBeginning.size());
}

}  // namespace

std::string release_of_components(void* mpi) {
  const char* const folders = std::getenv(kPathOfComponents);
  if (folders == nullptr) return "";
  const std::string release = open_mpi_release(mpi);
  const std::string wanted = "/ompi-" + release + ":";  // set by faces/openmpi/environment.cc
  const bool has_them = (std::string(folders) + ":").find(wanted) != std::string::npos;
  return !release.empty() && has_them ? release : "";
}

void keep_components_from_pmix(void* mpi) {
  constexpr int kFirstMajor = 5;  // Open MPI 4 passes nothing on, and PMIx 3 replaces its own path
  if (std::getenv(kPathOfComponents) == nullptr) return;
  if (std::atoi(open_mpi_release(mpi).c_str()) < kFirstMajor) return;
  ::setenv("PMIX_MCA_mca_base_component_path", "", 0);
}

}  // namespace nagaya::mpi

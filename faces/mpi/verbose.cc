// SPDX-License-Identifier: BSD-3-Clause
#include "verbose.h"

#include <cstdlib>
#include <string_view>

#include "faces/error_line.h"

namespace nagaya::mpi {

bool is_verbose() {
  static const bool is_wanted = [] {
    const char* const value = std::getenv("NAGAYA_MPI_VERBOSE");
    return value != nullptr && std::string_view(value) == "1";
  }();
  return is_wanted;
}

void tell_of_job(const std::string& text) {
  if (!is_verbose()) return;
  for (const char* const name : {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK"})
    if (const char* const rank = std::getenv(name);
        rank != nullptr && std::string_view(rank) != "0")
      return;
  tell(text);
}

void tell(const std::string& text) {
  print_error_line("nagaya: " + text);
}

}  // namespace nagaya::mpi

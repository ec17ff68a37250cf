// SPDX-License-Identifier: BSD-3-Clause
// notice.cc - what a job says about whether this library has taken the place of another BLACS.
#include "faces/blacs/notice.h"

#include <unistd.h>

#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>

#include "faces/blacs/loaded.h"
#include "faces/blacs/system.h"
#include "nagaya/task.h"

namespace nagaya::blacs {
namespace {

bool is_set_to(const char* variable, std::string_view value) {
  const char* const found = std::getenv(variable);
  return found != nullptr && found == value;
}

bool is_verbose() {
  return is_set_to("NAGAYA_MPI_VERBOSE", "1");
}

// At the exit of task 0. A program without an MPI may be a wrapper, whose program calls the BLACS.
void warn_if_unused(int status, void*) {
  static bool was_called = false;  // a dlopen() in a constructor may run the others twice
  if (std::exchange(was_called, true)) return;
  if (status != 0 || *System::called != '\0' || nagaya_task_self() != 0) return;
  const std::string other = file_of_other_blacs();
  if (!other.empty())
    return warn("nothing is replaced: this process makes its contexts in the BLACS of " + other +
                ", which is linked so that Nagaya's cannot take its place");
  const bool is_mpi_program = find_loaded_symbol("MPI_Get_version").symbol != nullptr;
  if (is_verbose() || (is_mpi_program && is_set_to("NAGAYA_BLACS", "on")))
    warn(std::string(program_invocation_name) +
         " has called no function of the BLACS by libnagaya-blacs: --blacs has changed nothing "
         "(nagaya doctor PROGRAM says whose BLACS it has)");
}

[[gnu::constructor]] void watch_exit() {
  on_exit(warn_if_unused, nullptr);
}

}  // namespace

void tell_of_use() {
  if (is_verbose()) warn("by libnagaya-blacs");
}

std::string file_of_other_blacs() {
  const LoadedSymbol contexts = find_loaded_symbol("BI_MaxNCtxt");
  const bool has_any = contexts.symbol != nullptr && *static_cast<const Int*>(contexts.symbol) > 0;
  return has_any ? contexts.file : "";
}

}  // namespace nagaya::blacs

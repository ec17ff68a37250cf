// SPDX-License-Identifier: BSD-3-Clause
// notice.cc - what a job says about whether this library has taken the place of another BLACS.
#include "faces/blacs/notice.h"

#include <dlfcn.h>

#include <cstdlib>
#include <string>
#include <string_view>

#include "faces/blacs/loaded.h"
#include "faces/blacs/system.h"
#include "nagaya/task.h"

namespace nagaya::blacs {
namespace {

constexpr char kContexts[] = "BI_MaxNCtxt";

bool is_set_to(const char* variable, std::string_view value) {
  const char* const found = std::getenv(variable);
  return found != nullptr && found == value;
}

bool is_verbose() {
  return is_set_to("NAGAYA_MPI_VERBOSE", "1");
}

// Returns the file of a global BLACS in which this process has made contexts; "": there is none.
std::string file_of_global_blacs() {
  const auto* const contexts = static_cast<const Int*>(::dlsym(RTLD_DEFAULT, kContexts));
  Dl_info place;
  return contexts != nullptr && *contexts > 0 && ::dladdr(contexts, &place) != 0 ? place.dli_fname
                                                                                 : "";
}

// At the exit of task 0, after the destructors of all libraries: a dlopen() would run their
// constructors again. A program without an MPI may be a wrapper, whose program calls the BLACS.
void warn_if_unused(int status, void*) {
  if (status != 0 || *System::called != '\0' || nagaya_task_self() != 0) return;
  const std::string other = file_of_global_blacs();
  if (!other.empty())
    return warn("nothing is replaced: this process makes its contexts in the BLACS of " + other +
                ", which is linked so that Nagaya's cannot take its place");
  const bool is_mpi_program = ::dlsym(RTLD_DEFAULT, "MPI_Get_version") != nullptr;
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
  const LoadedSymbol contexts = find_loaded_symbol(kContexts);
  const bool has_any = contexts.symbol != nullptr && *static_cast<const Int*>(contexts.symbol) > 0;
  return has_any ? contexts.file : "";
}

}  // namespace nagaya::blacs

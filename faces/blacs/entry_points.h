// SPDX-License-Identifier: BSD-3-Clause
// entry_points.h - how the functions of the BLACS are defined: each twice, for C and for Fortran.
// Outside of a space each hands its call to the BLACS that was loaded behind this library. A forked
// child of a task has no part in the job: functions that end or free something do nothing there,
// since exit handlers of the child may call them, and the others end the child.
#pragma once

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "faces/blacs/loaded.h"
#include "faces/blacs/system.h"

namespace nagaya::blacs {

template <class Function>
Function* find_next_definition(const char* name) {
  void* found = dlsym(RTLD_NEXT, name);
  if (found == nullptr) found = find_loaded_symbol(name).symbol;
  if (found != nullptr) return reinterpret_cast<Function*>(found);
  std::fprintf(
      stderr,
      "nagaya: BLACS: %s: not in one space, and there is no ScaLAPACK behind: start the job "
      "by `nagaya run` on one host, or link ScaLAPACK's library\n",
      name);
  std::exit(1);
}

// Answers a call in a forked child: returns Result() for a function that ends or frees something;
// any other ends the child.
template <class Result>
Result answer_forked_child(std::string_view name) {
  const auto has = [&](const char* word) { return name.find(word) != std::string_view::npos; };
  if (!has("exit") && !has("free")) end_child(name);
  return Result();
}

}  // namespace nagaya::blacs

// Defines the exported function `name`; the body that serves tasks follows the macro. `parameters`
// and `arguments` are those of the function, in parentheses.
#define NAGAYA_BLACS_ENTRY(result, name, parameters, arguments)                                    \
  static inline result serve_##name parameters;                                                    \
  extern "C" __attribute__((visibility("default"))) result name parameters {                       \
    if (nagaya::blacs::System::is_forked_child())                                                  \
      return nagaya::blacs::answer_forked_child<result>(#name);                                    \
    if (nagaya::blacs::System::is_served_here()) return serve_##name arguments;                    \
    static auto* const next_function = nagaya::blacs::find_next_definition<decltype(name)>(#name); \
    return next_function arguments;                                                                \
  }                                                                                                \
  static inline result serve_##name parameters

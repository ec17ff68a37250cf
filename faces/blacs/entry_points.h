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
#include <type_traits>

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

// An integer argument of a Fortran function, which is passed by its address.
struct ByAddress {
  const Int* address;

  operator Int() const { return *address; }
};
static_assert(sizeof(ByAddress) == sizeof(void*) && std::is_trivially_copyable_v<ByAddress>);

}  // namespace nagaya::blacs

// Defines the exported function `name`, which calls serve(arguments) in a task. `parameters` and
// `arguments` are those of the function, in parentheses.
#define NAGAYA_BLACS_EXPORT(result, name, parameters, arguments, serve)                            \
  extern "C" __attribute__((visibility("default"))) result name parameters {                       \
    if (nagaya::blacs::System::is_forked_child())                                                  \
      return nagaya::blacs::answer_forked_child<result>(#name);                                    \
    if (nagaya::blacs::System::is_served_here()) {                                                 \
      nagaya::blacs::System::called = #name;                                                       \
      return serve arguments;                                                                      \
    }                                                                                              \
    static auto* const next_function = nagaya::blacs::find_next_definition<decltype(name)>(#name); \
    return next_function arguments;                                                                \
  }

// Defines the exported function `name`; the body that serves tasks follows the macro.
#define NAGAYA_BLACS_ENTRY(result, name, parameters, arguments)          \
  static inline result serve_##name parameters;                          \
  NAGAYA_BLACS_EXPORT(result, name, parameters, arguments, serve_##name) \
  static inline result serve_##name parameters

// Defines the exported functions C`name`, for C, and `name`_, for Fortran; the body that serves
// tasks by either follows the macro. PARAMETERS(I, P, S, M) are the functions' parameters, in
// parentheses, of these types: I integer, P integers by their address, S letters, M matrix of T.
// With empty types they are the arguments.
#define NAGAYA_BLACS_ENTRIES(result, name, PARAMETERS, T)                                   \
  template <class I>                                                                        \
  static inline result serve_##name PARAMETERS(I, nagaya::blacs::Int*, char*, T*);          \
  NAGAYA_BLACS_EXPORT(result, C##name,                                                      \
                      PARAMETERS(nagaya::blacs::Int, nagaya::blacs::Int*, char*, T*),       \
                      PARAMETERS(, , , ), serve_##name<nagaya::blacs::Int>)                 \
  NAGAYA_BLACS_EXPORT(result, name##_,                                                      \
                      PARAMETERS(nagaya::blacs::ByAddress, nagaya::blacs::Int*, char*, T*), \
                      PARAMETERS(, , , ), serve_##name<nagaya::blacs::ByAddress>)           \
  template <class I>                                                                        \
  static inline result serve_##name PARAMETERS(I, nagaya::blacs::Int*, char*, T*)

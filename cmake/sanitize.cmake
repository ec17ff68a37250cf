# SPDX-License-Identifier: BSD-3-Clause
# NAGAYA_SANITIZE: the value of -fsanitize, for instance "address,undefined" or "thread".
#
# Only the unit tests and copies of the sources under test are built with it. A sanitizer has one
# shadow per address space, so tasks cannot have one: the host and libnagaya are never built so,
# and a tree with NAGAYA_SANITIZE builds and runs nothing but the unit tests.
include_guard(GLOBAL)
set(NAGAYA_SANITIZE "" CACHE STRING "Sanitizers of the unit tests, as of -fsanitize=")

add_library(nagaya_sanitizer INTERFACE)
if(NAGAYA_SANITIZE)
  target_compile_options(nagaya_sanitizer INTERFACE
    -fsanitize=${NAGAYA_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(nagaya_sanitizer INTERFACE -fsanitize=${NAGAYA_SANITIZE})
  if(NAGAYA_SANITIZE MATCHES "thread")
    target_compile_definitions(nagaya_sanitizer INTERFACE NAGAYA_SANITIZE_THREAD)
    # ThreadSanitizer does not know fences: no test may need one to be free of races.
    target_compile_options(nagaya_sanitizer INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-tsan>)
  endif()
  target_compile_definitions(nagaya_sanitizer INTERFACE NAGAYA_SANITIZED)
endif()

# Sets `out` to a target with the code of the static library `target`: itself, or with
# NAGAYA_SANITIZE a copy that is built with the sanitizer. `ARGN`: further link libraries that
# the copy needs in place of those of `target`.
function(nagaya_under_test out target)
  if(NOT NAGAYA_SANITIZE)
    set(${out} ${target} PARENT_SCOPE)
    return()
  endif()
  set(copy ${target}_sanitized)
  if(NOT TARGET ${copy})
    get_target_property(folder ${target} SOURCE_DIR)
    get_target_property(sources ${target} SOURCES)
    list(FILTER sources EXCLUDE REGEX "TARGET_OBJECTS")
    list(TRANSFORM sources PREPEND ${folder}/)
    add_library(${copy} STATIC ${sources})
    get_target_property(definitions ${target} COMPILE_DEFINITIONS)
    if(definitions)
      target_compile_definitions(${copy} PRIVATE ${definitions})
    endif()
    target_link_libraries(${copy} PUBLIC nagaya_base nagaya_sanitizer ${ARGN})
  endif()
  set(${out} ${copy} PARENT_SCOPE)
endfunction()

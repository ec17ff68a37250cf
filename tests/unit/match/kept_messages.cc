// SPDX-License-Identifier: BSD-3-Clause
// The leak sanitizer passes over messages that nobody has received when a test ends: the matcher of
// a task is never destroyed, so it has nothing that would free them.

extern "C" [[gnu::visibility("default")]] const char* __lsan_default_suppressions();

extern "C" const char* __lsan_default_suppressions() {
  return "leak:keep_memory_for_next\n";
}

// SPDX-License-Identifier: BSD-3-Clause
// A C++ library, loaded by a program that is not C++: exceptions cross its frames and a thread.
#include <future>
#include <stdexcept>
#include <string>
#include <typeinfo>

struct Refused : std::runtime_error {
  using std::runtime_error::runtime_error;
};

[[noreturn]] static void refuse(int depth) {
  const std::string guard(100, 'x');
  if (depth == 0) throw Refused("refused " + std::to_string(guard.size()));
  refuse(depth - 1);
}

extern "C" int catches() {
  int caught = 0;
  for (int n = 0; n < 100; ++n) {
    try {
      refuse(n);
    } catch (const std::exception& error) {
      caught += dynamic_cast<const Refused*>(&error) != nullptr;
    }
  }
  try {
    std::async(std::launch::async, refuse, 3).get();
  } catch (const Refused&) {
    caught += 1000;
  }
  return caught;
}

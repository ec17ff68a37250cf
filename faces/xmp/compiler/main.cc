// SPDX-License-Identifier: BSD-3-Clause
// xmpcc - compiles C with XcalableMP directives: translates them to calls of the runtime and runs a
// C compiler on the result.
#include <cstdio>
#include <exception>

#include "driver/driver.h"
#include "driver/process.h"

namespace {

const char* const kHelp =
    "Usage: xmpcc [options] file...\n"
    "Compiles C with XcalableMP directives (#pragma xmp). The options are those of the C\n"
    "compiler behind it; these are xmpcc's own:\n"
    "  --cc=PROGRAM  the compiler behind (else that of XMPCC_CC, else gcc or clang)\n"
    "  --check       test each access to a distributed array at run time\n"
    "  --emit-c      print the translation instead of compiling it\n"
    "  --help        print this\n"
    "  --version     print the version\n"
    "Run the program with `nagaya run -n TASKS ./program`. See xmpcc(1).\n";

}  // namespace

int main(int argc, char** argv) {
  try {
    const nagaya::xmp::CommandLine line = nagaya::xmp::parse_command_line({argv + 1, argv + argc});
    if (line.help) {
      std::fputs(kHelp, stdout);
      return 0;
    }
    if (line.version) {
      std::printf("xmpcc (nagaya) %s, XcalableMP/C 1.4\n", NAGAYA_VERSION);
      return 0;
    }
    nagaya::xmp::catch_interruptions();
    const int status = nagaya::xmp::drive(line);
    if (nagaya::xmp::is_interrupted()) nagaya::xmp::raise_interruption();
    return status;
  } catch (const std::exception& error) {
    if (nagaya::xmp::is_interrupted()) nagaya::xmp::raise_interruption();
    std::fprintf(stderr, "xmpcc: error: %s\n", error.what());
    return 1;
  }
}

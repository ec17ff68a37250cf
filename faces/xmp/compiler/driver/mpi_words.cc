// SPDX-License-Identifier: BSD-3-Clause
#include "driver/mpi_words.h"

#include <sstream>

#include "driver/process.h"

namespace nagaya::xmp {

MpiWords mpi_words() {
  const Captured answer = capture({"mpicc", "-show"});
  MpiWords found;
  if (answer.status != 0) return found;
  std::istringstream words(answer.output);
  for (std::string word; words >> word;) {
    if (word.starts_with("-I"))
      found.preprocessor.insert(found.preprocessor.end(), {"-idirafter", word.substr(2)});
    else if (word.starts_with("-L") || word.starts_with("-l") || word.starts_with("-Wl,"))
      found.linker.push_back(word);
  }
  if (!found.preprocessor.empty()) found.preprocessor.push_back("-D_XMPCC_FOUND_MPI=1");
  if (found.linker.empty()) return found;
  found.linker.insert(found.linker.begin(), "-Wl,--push-state,--as-needed");
  found.linker.push_back("-Wl,--pop-state");
  return found;
}

}  // namespace nagaya::xmp

// SPDX-License-Identifier: BSD-3-Clause
#include "pmi1_server_target.h"
#include "tool.h"

void nagaya::tools::complain(const std::string&) {}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t bytes) {
  nagaya::fuzz::ask_pmi1_server(data, bytes);
  return 0;
}

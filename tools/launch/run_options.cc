// SPDX-License-Identifier: BSD-3-Clause
#include "launch/run_options.h"

#include <fmt/core.h>

#include <cstdlib>
#include <sstream>
#include <string_view>

#include "tool.h"

namespace nagaya::tools {

std::chrono::seconds time_limit_of(const std::string& text) {
  constexpr uint64_t kSecondsMax = 1'000'000'000;  // 31 years
  uint64_t seconds = 0;
  int fields = 0;
  std::istringstream parts(text + ":");
  for (std::string part; std::getline(parts, part, ':'); ++fields) {
    const bool is_number =
        !part.empty() && part.size() < 10 && part.find_first_not_of("0123456789") == part.npos;
    seconds = is_number ? seconds * 60 + std::stoul(part) : kSecondsMax + 1;
    if (seconds > kSecondsMax) break;
  }
  if (fields > 3 || seconds == 0 || seconds > kSecondsMax)
    throw OptionError("run: --timeout " + text + ": say seconds, or M:S, or H:M:S");
  return std::chrono::seconds(seconds);
}

std::string variable_of(const std::string& text) {
  const size_t equals = text.find('=');
  if (text.empty() || equals == 0)
    throw OptionError("run: -x " + text + ": no name of a variable; say -x NAME=VALUE");
  if (equals != std::string::npos) return text;
  const char* const value = std::getenv(text.c_str());
  if (value == nullptr) complain("run: -x " + text + ": there is no such variable here");
  return value == nullptr ? "" : text + "=" + value;
}

std::string output_pattern_of(const std::string& text) {
  constexpr std::string_view kOfMpirun =
      " tag tag-detailed tag-fullname timestamp merge-stderr-to-stdout merge xml rank file dir ";
  const std::string first = text.substr(0, text.find_first_of(",:="));
  if (kOfMpirun.find(" " + first + " ") != std::string_view::npos)
    throw OptionError("run: --output " + text +
                      ": this is mpirun's; here labels are --label, and files --output NAME-%r "
                      "(./NAME, if it is called so)");
  return text;
}

void check(const std::vector<Application>& applications) {
  uint64_t ranks = 0;
  for (const Application& application : applications) {
    ranks += application.count;
    if (!application.command.empty()) continue;
    throw OptionError(
        applications.size() == 1
            ? "run: no program is named"
            : "run: no program is named before or behind \":\"; if it is an argument: "
              "nagaya run ... -- PROGRAM :");
  }
  if (ranks > kRanksMax)
    throw OptionError(fmt::format("run: {} ranks in all; {} are the most", ranks, kRanksMax));
}

}  // namespace nagaya::tools

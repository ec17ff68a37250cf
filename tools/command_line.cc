// SPDX-License-Identifier: BSD-3-Clause
#include "command_line.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>

#include "base/error.h"

namespace nagaya::tools {
namespace {

// An option of launchers for which `nagaya run` has another one.
struct LauncherOption {
  std::string_view names;  // with blanks between and around them
  const char* cure;
};

constexpr std::array kLauncherOptions{
    LauncherOption{" -host --host -H -hosts -w --nodelist ", "name the hosts by --hosts NAME,NAME"},
    LauncherOption{" -hostfile -f -machinefile --machinefile -default-hostfile --default-hostfile ",
                   "name the file of hosts by --hostfile FILE"},
    LauncherOption{" -c --n --ntasks ", "say how many tasks by -n COUNT"},
    LauncherOption{" -x -env -genv -envlist -genvlist -envall -genvall --export ",
                   "tasks get the whole environment: NAME=VALUE nagaya run ... (those on other "
                   "hosts see nagaya-run(1))"},
    LauncherOption{" -wdir --wdir -wd --wd -D --chdir ",
                   "tasks start in the working directory: cd FOLDER first"},
    LauncherOption{" -oversubscribe --oversubscribe -O --overcommit ",
                   "leave it out: there may always be more tasks than processors"},
};

std::string name_of(const std::string& word) {
  return word.substr(0, word.find('='));
}

std::string unknown_option(const CLI::App& command, const std::string& name) {
  if (command.get_parent() == nullptr)
    return name + ": no such option; nagaya --help lists those there are";
  if (command.get_name() == "exec")
    return fmt::format(
        "exec: {0}: nagaya exec has no options; those of a launcher go before it: mpirun {0} ... "
        "nagaya exec PROGRAM",
        name);
  if (command.get_name() != "run")
    return fmt::format("{0}: {1}: no such option; nagaya {0} --help lists them", command.get_name(),
                       name);
  for (const LauncherOption& option : kLauncherOptions)
    if (option.names.find(" " + name + " ") != std::string_view::npos)
      return fmt::format("run: {}: no such option; {}", name, option.cure);
  return fmt::format(
      "run: {0}: no such option; if it is mpirun's, pass it on by --launcher-arg={0}, or say "
      "mpirun {0} ... nagaya exec PROGRAM",
      name);
}

bool is_option(const std::string& word) {
  return word.size() > 1 && word[0] == '-' && word != "--";
}

// Returns true for a one-letter option with its value attached, such as "-n4".
bool has_value_attached(const CLI::App& command, const std::string& word) {
  if (word.size() < 3 || word[1] == '-' || std::isdigit(word[2]) == 0) return false;
  const CLI::Option* const option = command.get_option_no_throw(word.substr(0, 2));
  return option != nullptr && option->get_items_expected_max() > 0;
}

// Checks the options from words[at] on. Returns the index of the first word that is no option.
size_t check_options(const CLI::App& command, std::vector<std::string>& words, size_t at) {
  for (; at < words.size() && is_option(words[at]); ++at) {
    if (words[at] == "-np" && command.get_option_no_throw("--np") != nullptr) words[at] = "--np";
    if (has_value_attached(command, words[at])) continue;
    const std::string name = name_of(words[at]);
    const CLI::Option* const option = command.get_option_no_throw(name);
    if (option == nullptr) {
      if (command.get_allow_extras()) break;  // an option of the program that gets all other words
      throw base::Error(-EINVAL, unknown_option(command, name));
    }
    if (option->get_items_expected_max() > 0 && name == words[at]) ++at;
  }
  return std::min(at, words.size());
}

}  // namespace

std::vector<std::string> checked_words(const CLI::App& app, std::vector<std::string> words) {
  if (!words.empty() && words[0] == "help") {
    words.erase(words.begin());
    words.resize(std::min<size_t>(words.size(), 1));
    words.push_back("--help");
  }
  const size_t at = check_options(app, words, 0);
  if (at == words.size()) return words;
  const auto is_named = [&](const CLI::App* command) { return command->get_name() == words[at]; };
  const std::vector<const CLI::App*> named = app.get_subcommands(is_named);
  if (named.empty())
    throw base::Error(-EINVAL,
                      words[at] + ": no such subcommand; nagaya --help lists the subcommands");
  const size_t rest = check_options(*named[0], words, at + 1);
  // CLI11 would read the word after "--" as one of its own options.
  if (rest < words.size() && words[rest] == "--")
    words.erase(words.begin() + static_cast<ptrdiff_t>(rest));
  return words;
}

}  // namespace nagaya::tools

// SPDX-License-Identifier: BSD-3-Clause
#include "command_line.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <numeric>
#include <string_view>
#include <utility>
#include <vector>

#include "tool.h"

namespace nagaya::tools {
namespace {

// Options of mpirun, mpiexec and srun for which `nagaya run` has another one.
struct LauncherOptions {
  std::string_view names;  // without dashes, with blanks between and around them
  const char* cure;
};

constexpr std::array kLauncherOptions{
    LauncherOptions{" host H w nodelist ", "name the hosts by --hosts NAME,NAME"},
    LauncherOptions{" f machinefile default-hostfile ",
                    "name the file of hosts by --hostfile FILE"},
    LauncherOptions{" N nodes ppn perhost npernode pernode ntasks-per-node ",
                    "name the hosts with their numbers of ranks: --hosts a:2,b:2"},
    LauncherOptions{" n ntasks ", "say how many ranks by -n COUNT"},
    LauncherOptions{" c cpus-per-task cpus-per-proc cpus-per-rank ",
                    "say how many ranks by -n COUNT, and how many cores for each by --map-by "
                    "slot:PE=COUNT"},
    LauncherOptions{" app configfile multi-prog ",
                    "name several programs by nagaya run -n 1 a : -n 3 b"},
    LauncherOptions{" env genv envlist genvlist envall genvall export ",
                    "set a variable by -x NAME=VALUE; ranks get all others anyway"},
    LauncherOptions{" mca gmca prtemca omca ",
                    "set the parameter's variable: -x OMPI_MCA_NAME=VALUE"},
    LauncherOptions{" wd D chdir ", "start in another folder by --wdir FOLDER"},
    LauncherOptions{" oversubscribe O overcommit ",
                    "leave it out: there may always be more ranks than processors"},
    LauncherOptions{" bind-to-core ", "say --bind-to core"},
    LauncherOptions{" bind-to-socket ", "say --bind-to package"},
    LauncherOptions{" cpu-bind ", "bind ranks by --bind-to none, core, package, ..."},
    LauncherOptions{" bycore bynode byslot bysocket npersocket m distribution use-hwthread-cpus ",
                    "deal out ranks by --map-by slot, core, hwthread, package, ..."},
    LauncherOptions{" cpu-set cpu-list ",
                    "choose the processors of the job: taskset -c LIST nagaya run ..."},
    LauncherOptions{" display-map display ", "show where ranks may run by --report-bindings"},
    LauncherOptions{" tag-output prepend-rank ", "put its rank before each line by --label"},
    LauncherOptions{" output-filename outfile-pattern o ",
                    "give each rank a file by --output NAME-%r"},
    LauncherOptions{" errfile-pattern e ", "give each rank a file for errors by --error NAME-%r"},
    LauncherOptions{" merge-stderr-to-stdout ",
                    "put 2>&1 behind the command, or give each rank one file by --output NAME-%r"},
    LauncherOptions{" i input ", "say by --stdin RANK which rank reads standard input"},
    LauncherOptions{" u unbuffered ", "put stdbuf -oL before the program"},
    LauncherOptions{" t time ", "end the job after a time by --timeout SECONDS"},
    LauncherOptions{" K kill-on-bad-exit ", "leave it out: the first rank that fails ends the job"},
    LauncherOptions{" allow-run-as-root ", "leave it out: root may, too"},
    LauncherOptions{" mpi ", "leave it out: any MPI finds its rank"},
    LauncherOptions{" mem mem-per-cpu mem-per-gpu p partition J job-name G gpus gpus-per-node "
                    "gpus-per-task gres A account qos C constraint reservation exclusive ",
                    "it is Slurm's: give it to sbatch, or to srun: srun ... nagaya exec PROGRAM"},
    LauncherOptions{" v verbose ",
                    "see who carries the messages by NAGAYA_MPI_VERBOSE=1, where ranks may run by "
                    "--report-bindings"},
    LauncherOptions{" V version ", "say nagaya --version"},
};

std::string name_of(const std::string& word) {
  return word.substr(0, word.find('='));
}

// Returns how many letters have to be added, left out or replaced to make one word the other.
size_t letters_between(std::string_view one, std::string_view other) {
  std::vector<size_t> distances(other.size() + 1);  // from a beginning of `one` to each of `other`
  std::iota(distances.begin(), distances.end(), size_t{0});
  for (size_t n = 1; n <= one.size(); ++n) {
    size_t before = std::exchange(distances[0], n);
    for (size_t m = 1; m <= other.size(); ++m) {
      const size_t replaced = before + (one[n - 1] != other[m - 1]);
      before = distances[m];
      distances[m] = std::min({replaced, distances[m] + 1, distances[m - 1] + 1});
    }
  }
  return distances.back();
}

// Returns the long option of the command that `name` is misspelt for; "": it resembles none.
std::string option_like(const CLI::App& command, const std::string& name) {
  constexpr size_t kLettersMost = 2;
  if (name.size() <= 2 * kLettersMost + 2) return "";
  std::string nearest;
  size_t least = kLettersMost + 1;
  for (const CLI::Option* const option : command.get_options())
    for (const std::string& known : option->get_lnames())
      if (const size_t letters = letters_between("--" + known, name); letters < least) {
        least = letters;
        nearest = "--" + known;
      }
  return nearest;
}

// Returns "-np 4" for "-np4"; "": the word is no option with a number behind it.
std::string with_value_apart(const CLI::App& command, const std::string& word) {
  const size_t digits = word.find_last_not_of("0123456789") + 1;
  const std::string name = word.substr(0, digits);
  const bool is_known = digits < word.size() && command.get_option_no_throw("-" + name) != nullptr;
  return is_known ? name + " " + word.substr(digits) : "";
}

std::string unknown_option(const CLI::App& command, const std::string& name) {
  if (command.get_name() == kProgramBehindColon)
    return "run: " + name +
           ": behind \":\" only -n, -x and --wdir may stand before the program; all others hold "
           "for "
           "the whole job and stand before its first program";
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
  const std::string bare = name.substr(name.find_first_not_of('-'));
  for (const LauncherOptions& options : kLauncherOptions)
    if (options.names.find(" " + bare + " ") != std::string_view::npos)
      return fmt::format("run: {}: no such option; {}", name, options.cure);
  if (const std::string apart = with_value_apart(command, name); !apart.empty())
    return fmt::format("run: {}: no such option; write {}", name, apart);
  if (const std::string meant = option_like(command, name); !meant.empty())
    return fmt::format("run: {}: no such option; did you mean {}?", name, meant);
  return fmt::format(
      "run: {0}: no such option; if it is mpirun's: nagaya run --launcher mpi --launcher-arg={0} "
      "..., or mpirun {0} ... nagaya exec PROGRAM",
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

// Writes "-np" as "--np", also "-np=4".
void add_dash(const CLI::App& command, std::string& word) {
  if (word.size() > 2 && word[1] != '-' &&
      command.get_option_no_throw("-" + name_of(word)) != nullptr)
    word.insert(0, "-");
}

// Checks the options from words[at] on. Returns the index of the first word that is no option.
size_t check_options(const CLI::App& command, std::vector<std::string>& words, size_t at) {
  for (; at < words.size() && is_option(words[at]); ++at) {
    add_dash(command, words[at]);
    if (has_value_attached(command, words[at])) continue;
    const std::string name = name_of(words[at]);
    const CLI::Option* const option = command.get_option_no_throw(name);
    if (option == nullptr) {
      if (command.get_allow_extras()) break;  // an option of the program that gets all other words
      throw OptionError(unknown_option(command, name));
    }
    if (option->get_items_expected_max() > 0 && name == words[at]) ++at;
  }
  return std::min(at, words.size());
}

// Removes the word "--" at this place, which CLI11 would read itself. Returns true if it was there.
bool take_double_dash(std::vector<std::string>& words, size_t at) {
  if (at >= words.size() || words[at] != "--") return false;
  words.erase(words.begin() + static_cast<ptrdiff_t>(at));
  return true;
}

// Moves what stands behind each word ":" after words[begin] to the result.
std::vector<std::vector<std::string>> take_programs(std::vector<std::string>& words, size_t begin) {
  std::vector<std::vector<std::string>> programs;
  const auto first = std::find(words.begin() + static_cast<ptrdiff_t>(begin), words.end(), ":");
  for (auto colon = first; colon != words.end();) {
    const auto next = std::find(colon + 1, words.end(), ":");
    programs.emplace_back(colon + 1, next);
    colon = next;
  }
  words.erase(first, words.end());
  return programs;
}

}  // namespace

CheckedLine checked_line(const CLI::App& app, std::vector<std::string> words) {
  if (!words.empty() && words[0] == "help") {
    words.erase(words.begin());
    words.resize(std::min<size_t>(words.size(), 1));
    words.push_back("--help");
  }
  const size_t at = check_options(app, words, 0);
  if (at == words.size()) return {words, {}};
  const auto is_named = [&](const CLI::App* command) { return command->get_name() == words[at]; };
  const std::vector<const CLI::App*> named = app.get_subcommands(is_named);
  if (named.empty())
    throw OptionError(words[at] + ": no such subcommand; nagaya --help lists the subcommands");
  const size_t rest = check_options(*named[0], words, at + 1);
  if (take_double_dash(words, rest) || words[at] != "run") return {words, {}};
  const std::vector<std::vector<std::string>> programs = take_programs(words, rest);
  return {words, programs};
}

std::vector<std::string> checked_program(const CLI::App& command, std::vector<std::string> words) {
  take_double_dash(words, check_options(command, words, 0));
  return words;
}

}  // namespace nagaya::tools

// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <sstream>

#include "base/printable.h"
#include "command_line.h"
#include "tool.h"

namespace nagaya::tools {

void add_command(CLI::App& subcommand, std::vector<std::string>& command) {
  subcommand.prefix_command();
  subcommand.parse_complete_callback([&subcommand, &command] { command = subcommand.remaining(); });
}

namespace {

// CLI11 2.1 has no other way to name what follows the options.
class UsageWithOperands : public CLI::Formatter {
 public:
  explicit UsageWithOperands(const std::string& operands) : operands_(operands) {}
  std::string make_usage(const CLI::App*, std::string name) const override {
    return "Usage: " + name + " [OPTIONS] " + operands_ + "\n";
  }

 private:
  std::string operands_;
};

}  // namespace

void add_help(CLI::App& subcommand, const std::string& operands, const std::string& examples) {
  subcommand.formatter(std::make_shared<UsageWithOperands>(operands));
  subcommand.footer(examples);
}

void complain(const std::string& text) {
  std::fputs(("nagaya: " + base::printable(text) + "\n").c_str(),
             stderr);  // throws nothing where nobody can read it
}

int exit_code_of(int error_code) {
  return error_code == -ENOENT ? kExitNotFound : kExitCannotRun;
}

namespace {

// CLI11 calls an option by its long name, also where the short one was typed.
std::string as_typed(const std::string& message, const CLI::App& app,
                     const std::vector<std::string>& words) {
  for (const CLI::App* subcommand : app.get_subcommands())
    for (const CLI::Option* option : subcommand->get_options()) {
      const std::string name = option->get_name();
      const auto is_name = [&](const std::string& word) { return word.starts_with(name); };
      if (!option->get_snames().empty() && message.starts_with(name + ":") &&
          std::none_of(words.begin(), words.end(), is_name))
        return "-" + option->get_snames()[0] + message.substr(name.size());
    }
  return message;
}

// One line, without CLI11's second one about --help.
std::string what_is_wrong(const CLI::ParseError& error, const CLI::App& app,
                          const std::vector<std::string>& words) {
  const std::string message = as_typed(error.what(), app, words);
  return message.substr(0, message.find('\n'));
}

// Prints help or version, as CLI11 answers --help and --version.
int answer(const CLI::App& app, const CLI::ParseError& question) {
  std::ostringstream text;
  const int code = app.exit(question, text, text);
  std::fputs(text.str().c_str(), stdout);
  return code;
}

int parse_and_run(CLI::App& app, const Action& action, std::vector<std::string> words) try {
  if (words.empty()) {
    std::fputs(app.help().c_str(), stderr);
    return kExitOwnFailure;
  }
  words = checked_words(app, words);
  try {
    app.parse(std::vector(words.rbegin(), words.rend()));  // CLI11 takes them from the back
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return answer(app, error);
    complain(what_is_wrong(error, app, words));
    return kExitOwnFailure;
  }
  return action();
} catch (const std::exception& error) {
  if (std::ferror(stdout) == 0) complain(error.what());
  return kExitOwnFailure;
}

// Output may still be in this process: a full disk, or a reader that has gone, shows only now.
int written(int code) {
  errno = 0;
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return code;
  complain(std::string("cannot write to standard output: ") + std::strerror(errno));
  return kExitOwnFailure;
}

}  // namespace
}  // namespace nagaya::tools

int main(int argc, char** argv) {
  using namespace nagaya;
  CLI::App app{"Runs the processes of a parallel job in one address space.", "nagaya"};
  app.set_version_flag("--version", NAGAYA_VERSION);
  app.require_subcommand(1);
  app.footer("nagaya help SUBCOMMAND tells of one; so does its manual page, nagaya-SUBCOMMAND(1).");
  tools::Action action;
  tools::add_run(app, action);
  tools::add_exec(app, action);
  tools::add_attend(app, action);
  tools::add_ps(app, action);
  tools::add_gdb(app, action);
  tools::add_clean(app, action);
  tools::add_doctor(app, action);
  tools::add_bench(app, action);
  return tools::written(tools::parse_and_run(app, action, {argv + 1, argv + argc}));
}

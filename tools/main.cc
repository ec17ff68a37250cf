// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/core.h>

#include <algorithm>

#include "base/error.h"
#include "nagaya/task.h"
#include "tool.h"

namespace nagaya::tools {

void add_command(CLI::App& subcommand, std::vector<std::string>& command) {
  subcommand.prefix_command();
  subcommand.parse_complete_callback([&subcommand, &command] {
    command = subcommand.remaining();
    // A word before the program that looks like an option is none that the subcommand knows.
    if (!command.empty() && command[0].size() > 1 && command[0][0] == '-')
      throw CLI::ExtrasError(subcommand.get_name(), {command[0]});
  });
}

std::vector<char*> argv_of(const std::vector<std::string>& words) {
  std::vector<char*> argv;
  for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  return argv;
}

void complain(const std::string& text) {
  fmt::print(stderr, "nagaya: {}\n", text);
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
  const std::vector<std::string> unknown = app.remaining();
  if (app.get_subcommands().empty() && !unknown.empty())
    return unknown[0] + ": no such " + (unknown[0].starts_with('-') ? "option" : "subcommand");
  const std::string message = as_typed(error.what(), app, words);
  return message.substr(0, message.find('\n'));
}

}  // namespace
}  // namespace nagaya::tools

int main(int argc, char** argv) {
  using namespace nagaya;
  CLI::App app{"Runs the processes of a parallel job in one address space.", "nagaya"};
  app.set_version_flag("--version", NAGAYA_VERSION);
  app.require_subcommand(1);
  tools::Action action;
  tools::add_run(app, action);
  tools::add_exec(app, action);
  tools::add_attend(app, action);
  tools::add_ps(app, action);
  tools::add_gdb(app, action);
  tools::add_clean(app, action);
  tools::add_doctor(app, action);
  tools::add_bench(app, action);
  try {
    app.parse(argc, argv);
    return action();
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // --help and --version
    tools::complain(tools::what_is_wrong(error, app, {argv, argv + argc}));
    return tools::kExitOwnFailure;
  } catch (const base::Error& error) {
    tools::complain(error.what());
    return tools::kExitOwnFailure;
  } catch (const std::exception& error) {
    tools::complain(error.what());
    return tools::kExitOwnFailure;
  }
}

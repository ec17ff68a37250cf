// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/core.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "nagaya/task.h"
#include "tool.h"

namespace nagaya::tools {

void add_command(CLI::App& subcommand, std::vector<std::string>& command) {
  subcommand.prefix_command();
  subcommand.parse_complete_callback([&subcommand, &command] { command = subcommand.remaining(); });
}

void complain(const std::string& text) {
  fmt::print(stderr, "nagaya: {}\n", text);
}

int exit_code_of(int error_code) {
  return error_code == -ENOENT ? kExitNotFound : kExitCannotRun;
}

void end_like(int wait_status) {
  if (WIFSIGNALED(wait_status)) {
    const int signal = WTERMSIG(wait_status);
    const rlimit no_core{0, 0};  // the task has left one, if one was wanted
    ::setrlimit(RLIMIT_CORE, &no_core);
    ::signal(signal, SIG_DFL);
    sigset_t only;
    ::sigemptyset(&only);
    ::sigaddset(&only, signal);
    ::sigprocmask(SIG_UNBLOCK, &only, nullptr);
    ::raise(signal);
    ::_exit(128 + signal);
  }
  ::_exit(WEXITSTATUS(wait_status));
}

}  // namespace nagaya::tools

int main(int argc, char** argv) {
  using namespace nagaya;
  CLI::App app{"Runs the processes of a parallel job in one address space.", "nagaya"};
  app.set_version_flag("--version", NAGAYA_VERSION);
  app.require_subcommand(1);
  app.failure_message(CLI::FailureMessage::simple);
  tools::Action action;
  tools::add_run(app, action);
  tools::add_exec(app, action);
  tools::add_bench(app, action);
  try {
    app.parse(argc, argv);
    return action();
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : tools::kExitOwnFailure;
  } catch (const base::Error& error) {
    tools::complain(error.what());
    return tools::kExitOwnFailure;
  } catch (const std::exception& error) {
    tools::complain(error.what());
    return tools::kExitOwnFailure;
  }
}

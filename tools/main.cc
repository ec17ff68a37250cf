// SPDX-License-Identifier: BSD-3-Clause
// main.cc - the command line of `nagaya`. Only this file and command_line.cc use CLI11, whose
// headers take long to compile.
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <functional>
#include <memory>
#include <sstream>

#include "base/printable.h"
#include "command_line.h"
#include "subcommands.h"
#include "tool.h"

namespace nagaya::tools {

void complain(const std::string& text) {
  std::fputs(("nagaya: " + base::printable(text) + "\n").c_str(),
             stderr);  // unlike fmt::print, throws nothing if it cannot write
}

int exit_code_of(int error_code) {
  return error_code == -ENOENT ? kExitNotFound : kExitCannotRun;
}

namespace {

// The options that the command line gives to each subcommand, and the call of the one that it
// names.
struct Line {
  RunOptions run;
  Words exec;
  Words attend;
  Words execute;
  PsOptions ps;
  TopOptions top;
  TraceOptions trace;
  GdbOptions gdb;
  CleanOptions clean;
  DoctorOptions doctor;
  Words bench;
  std::function<int()> action;  // returns the exit code
};

// Prints operands in the usage line: CLI11 2.1 has no other way to name words after the options.
class UsageWithOperands : public CLI::Formatter {
 public:
  explicit UsageWithOperands(const std::string& operands) : operands_(operands) {}
  std::string make_usage(const CLI::App*, std::string name) const override {
    return "Usage: " + name + " [OPTIONS] " + operands_ + "\n";
  }

 private:
  std::string operands_;
};

// Sets the operands of the usage line, and the examples that --help shows.
void add_help(CLI::App& subcommand, const std::string& operands, const std::string& examples) {
  subcommand.formatter(std::make_shared<UsageWithOperands>(operands));
  subcommand.footer(examples);
}

// Makes the subcommand take the rest of the line, `program [arguments...]`, unchanged.
void add_command(CLI::App& subcommand, std::vector<std::string>& command) {
  subcommand.prefix_command();
  subcommand.parse_complete_callback([&subcommand, &command] { command = subcommand.remaining(); });
}

constexpr char kRunExamples[] = R"(Examples:
  nagaya run -n 4 lmp -in melt.in               an MPI program
  nagaya run -n 4 python3 program.py            Python, with or without mpi4py
  nagaya run -n 4 ./native_program              no MPI
  nagaya run -n 4 --separate lmp -in melt.in    ordinary processes: does a fault stay?
  nagaya run -n 1 ./server : -n 3 ./client      two programs in one job
  nagaya run -n 6 --hosts a:2,b:4 ./program     on two hosts)";

// The options that each program of a job has of its own.
void add_program_options(CLI::App& command, Application& application) {
  command.add_option("-n,--np", application.count, "How many ranks, 1 to 4096 (default: 1)")
      ->check(CLI::Range(1u, kRanksMax))
      ->option_text("COUNT");
  const auto add_variables = [&application](const Words& variables) {
    for (const std::string& variable : variables)
      if (const std::string text = variable_of(variable); !text.empty())
        application.environment.push_back(text);
  };
  command
      .add_option_function<Words>("-x", add_variables, "Set a variable; may be given several times")
      ->allow_extra_args(false)
      ->option_text("NAME[=VALUE]");
  command.add_option("--wdir", application.directory, "Start in this folder")
      ->option_text("FOLDER");
}

void add_processor_options(CLI::App& command, LaunchChoice& launch) {
  command
      .add_option("--bind-to", launch.binding.bind_to,
                  "none, or hwthread, core, l3cache, numa, package (default: core for up to two "
                  "ranks, numa for more, none for more ranks than cores)")
      ->option_text("WHAT");
  command
      .add_option(
          "--map-by", launch.binding.map_by,
          "Deal out ranks to slot, core, package, ... in turn; with :PE=N each gets N cores")
      ->option_text("WHAT[:PE=N]");
  command.add_flag("--report-bindings", launch.reports_bindings, "Say where each rank may run");
}

void add_stream_options(CLI::App& command, LaunchChoice& launch) {
  StreamOptions& streams = launch.streams;
  command.add_flag("-l,--label", streams.label, "Put [rank] before each line of output");
  const auto set_output = [&streams](const std::string& text) {
    streams.output = output_pattern_of(text);
  };
  command
      .add_option_function<std::string>("--output", set_output,
                                        "A file for the output of each rank, as out-%r")
      ->option_text("PATTERN");
  command.add_option("--error", streams.errors, "Another one for its standard error")
      ->option_text("PATTERN");
  command.add_option("--stdin", streams.input, "Which rank reads standard input (default: 0)")
      ->option_text("RANK|none");
  const auto set_limit = [&launch](const std::string& text) {
    launch.time_limit = time_limit_of(text);
  };
  command
      .add_option_function<std::string>("--timeout", set_limit,
                                        "End the job after this time, with exit code 124")
      ->option_text("SECONDS|H:M:S");
}

void add_launcher_options(CLI::App& command, RunOptions& options) {
  command
      .add_option("--launcher", options.launcher,
                  "auto (default): another launcher for other hosts only; none: never; mpi: the "
                  "mpirun of the program's MPI, to compare")
      ->check(CLI::IsMember({"auto", "none", "mpi"}))
      ->option_text("auto|none|mpi");
  CLI::Option* list = command.add_option(
      "--hosts", options.hosts.list, "On which hosts: names, or names:slots, with commas between");
  CLI::Option* file = command.add_option("--hostfile", options.hosts.file,
                                         "A file that names the hosts, as the launcher has it");
  list->excludes(file)->option_text("LIST");
  file->option_text("FILE");
  command
      .add_option("--launcher-arg", options.launcher_arguments,
                  "An argument for that launcher; may be given several times")
      ->allow_extra_args(false)
      ->option_text("ARGUMENT");
}

void add_run(CLI::App& app, Line& line) {
  RunOptions& options = line.run;
  Application& first = options.launch.applications.emplace_back();
  CLI::App& command =
      *app.add_subcommand("run", "Run a parallel job, its processes on each node in one space");
  add_program_options(command, first);
  command.add_flag("--separate", options.launch.separate,
                   "Run ordinary processes instead of tasks, to compare and to bisect");
  command
      .add_flag("--blacs", options.blacs,
                "Replace the BLACS of the program's ScaLAPACK by Nagaya's")
      ->excludes("--separate");
  add_processor_options(command, options.launch);
  add_stream_options(command, options.launch);
  add_launcher_options(command, options);
  add_help(command, "PROGRAM [ARGUMENT...]", kRunExamples);
  add_command(command, first.command);
  command.callback([&line] { line.action = [&line] { return run_command(line.run); }; });
}

void add_exec(CLI::App& app, Line& line) {
  CLI::App& command = *app.add_subcommand(
      "exec", "Run one process as a task of its job's space (under mpirun, srun, ...)");
  add_help(command, "PROGRAM [ARGUMENT...]", "Example:\n  mpirun -n 4 nagaya exec lmp -in melt.in");
  add_command(command, line.exec);
  command.callback([&line] { line.action = [&line] { return exec_command(line.exec); }; });
}

void add_attend(CLI::App& app, Line& line) {
  CLI::App& command = *app.add_subcommand("attend", "")->group("");
  command.add_option("words", line.attend)->group("");
  command.callback([&line] { line.action = [&line] { return attend_command(line.attend); }; });
}

void add_execute(CLI::App& app, Line& line) {
  CLI::App& command = *app.add_subcommand("execute", "")->group("");
  add_command(command, line.execute);
  command.callback([&line] { line.action = [&line] { return execute_command(line.execute); }; });
}

void add_ps(CLI::App& app, Line& line) {
  CLI::App& command = *app.add_subcommand("ps", "Show your jobs on this node and their tasks");
  command.add_flag("--json", line.ps.json, "Print all that is known as JSON");
  command.add_flag("-l,--long", line.ps.addresses, "Show the addresses of partitions too");
  command.callback([&line] { line.action = [&line] { return ps_command(line.ps); }; });
}

void add_top(CLI::App& app, Line& line) {
  CLI::App& command =
      *app.add_subcommand("top", "Show again and again what the tasks of your jobs do");
  command
      .add_option("-d,--delay", line.top.seconds, "Seconds from one look to the next (default: 1)")
      ->check(CLI::Range(0.1, 3600.0));
  command.add_option("-n,--times", line.top.times, "How often (default: until Ctrl-C)")
      ->check(CLI::Range(1, 1'000'000'000));
  command.callback([&line] { line.action = [&line] { return top_command(line.top); }; });
}

void add_trace(CLI::App& app, Line& line) {
  TraceOptions& options = line.trace;
  CLI::App& command = *app.add_subcommand(
      "trace", "Record what the tasks of a job wait for, and their messages, for Perfetto");
  command.add_option("-o,--output", options.output, "The file (default: nagaya-trace.json)")
      ->option_text("FILE");
  command
      .add_option("-s,--seconds", options.seconds,
                  "For so long (default: until Ctrl-C, or the end of the job or the command)")
      ->check(CLI::Range(0.001, 1e6))
      ->option_text("SECONDS");
  add_help(command, "[JOB | [--] COMMAND [ARGUMENT...]]",
           "Examples:\n"
           "  nagaya trace nagaya run -n 4 ./program    a job from its beginning to its end\n"
           "  nagaya trace -s 2 -o two.json             the running job, for two seconds\n"
           "  nagaya trace run-97b406a9ad89980e         one of several jobs (`nagaya ps`)");
  add_command(command, options.command);
  command.callback([&line] { line.action = [&line] { return trace_command(line.trace); }; });
}

void add_gdb(CLI::App& app, Line& line) {
  GdbOptions& options = line.gdb;
  CLI::App& command = *app.add_subcommand("gdb", "Debug one task with gdb: nagaya gdb TASK");
  command.add_option("--job", options.job, "Which job, when several run (`nagaya ps`)");
  CLI::Option* pid = command.add_option("--pid", options.pid, "The task with this pid")
                         ->check(CLI::PositiveNumber);
  command.add_option("--core", options.core, "The core file that a task has left")->excludes(pid);
  add_help(command, "TASK [ARGUMENT OF GDB...]",
           "Examples:\n  nagaya gdb 3\n  nagaya gdb --core core.1234 -ex bt");
  add_command(command, options.rest);
  command.allow_extras();  // after --pid and --core the rest may begin with an option of gdb's
  command.callback([&line] { line.action = [&line] { return gdb_command(line.gdb); }; });
}

void add_clean(CLI::App& app, Line& line) {
  CLI::App& command = *app.add_subcommand("clean", "Remove the sockets that killed jobs have left");
  command.add_flag("-n,--dry-run", line.clean.dry_run, "Only say what would be removed");
  command.callback([&line] { line.action = [&line] { return clean_command(line.clean); }; });
}

void add_doctor(CLI::App& app, Line& line) {
  CLI::App& command = *app.add_subcommand(
      "doctor", "Say what this machine allows a job, or what a program will do, and what mends it");
  command.add_option("-n,--np", line.doctor.tasks, "For a job of how many tasks (default: cores)")
      ->check(CLI::Range(1, 4096));
  command.add_flag("--json", line.doctor.json, "Print the findings as JSON");
  add_help(command, "[PROGRAM [ARGUMENT...]]",
           "Examples:\n  nagaya doctor -n 400\n  nagaya doctor python3 program.py");
  add_command(command, line.doctor.command);
  command.callback([&line] { line.action = [&line] { return doctor_command(line.doctor); }; });
}

void add_bench(CLI::App& app, Line& line) {
  CLI::App& command = *app.add_subcommand(
      "bench", "Measure against bars: `bench list | all | NAME... | report | tune`");
  command.set_help_flag();  // the driver has its own
  add_command(command, line.bench);
  command.allow_extras();
  command.callback([&line] { line.action = [&line] { return bench_command(line.bench); }; });
}

// Returns the message with options named as the user typed them: CLI11 names an option by its long
// name, even if the short one was typed.
std::string as_typed(const std::string& message, const CLI::App& app, const Words& words) {
  std::vector<const CLI::App*> commands{&app};
  for (const CLI::App* subcommand : app.get_subcommands()) commands.push_back(subcommand);
  for (const CLI::App* command : commands)
    for (const CLI::Option* option : command->get_options()) {
      const std::string name = option->get_name();
      const auto is_name = [&](const std::string& word) { return word.starts_with(name); };
      if (!option->get_snames().empty() && message.starts_with(name + ":") &&
          std::none_of(words.begin(), words.end(), is_name))
        return "-" + option->get_snames()[0] + message.substr(name.size());
    }
  return message;
}

// Returns the error in one line, without CLI11's second line about --help.
std::string what_is_wrong(const CLI::ParseError& error, const CLI::App& app, const Words& words) {
  const std::string message = as_typed(error.what(), app, words);
  if (const size_t end = message.find(": At Most 1 required but received"); end != message.npos)
    return message.substr(0, end) + " is given more than once";
  return message.substr(0, message.find('\n'));
}

// Throws OptionError for a wrong line, and CLI11's error for --help and --version.
void parse(CLI::App& app, const Words& words) try {
  app.parse(std::vector(words.rbegin(), words.rend()));  // CLI11 takes them from the back
} catch (const CLI::ParseError& error) {
  if (error.get_exit_code() == 0) throw;
  throw OptionError(what_is_wrong(error, app, words));
}

// Returns the program of these words, which stand behind ":".
Application parsed_program(const Words& words) {
  Application application;
  CLI::App command("", kProgramBehindColon);
  command.set_help_flag();
  add_program_options(command, application);
  add_command(command, application.command);
  parse(command, checked_program(command, words));
  return application;
}

// Prints help or version, as CLI11 answers --help and --version.
int answer(const CLI::App& app, const CLI::ParseError& question) {
  std::ostringstream text;
  const int code = app.exit(question, text, text);
  std::fputs(text.str().c_str(), stdout);
  return code;
}

int parse_and_run(CLI::App& app, Line& line, const Words& words) try {
  if (words.empty()) {
    std::fputs(app.help().c_str(), stderr);
    return kExitOwnFailure;
  }
  const CheckedLine checked = checked_line(app, words);
  parse(app, checked.words);
  for (const Words& program : checked.programs)
    line.run.launch.applications.push_back(parsed_program(program));
  return line.action();
} catch (const CLI::ParseError& question) {
  return answer(app, question);
} catch (const std::exception& error) {
  if (std::ferror(stdout) == 0) complain(error.what());
  return kExitOwnFailure;
}

// Flushes the output: a full disk, or a reader that has ended, shows only now. Returns `code`, or
// that of a failure.
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
  tools::Line line;
  for (const auto add : {tools::add_run, tools::add_exec, tools::add_attend, tools::add_execute,
                         tools::add_ps, tools::add_top, tools::add_trace, tools::add_gdb,
                         tools::add_clean, tools::add_doctor, tools::add_bench})
    add(app, line);
  return tools::written(tools::parse_and_run(app, line, {argv + 1, argv + argc}));
}

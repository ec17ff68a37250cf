// SPDX-License-Identifier: BSD-3-Clause
// subcommands.h - the subcommands of `nagaya`, one file each, with the options that main.cc reads
// from their command lines. Each returns the exit code, or throws base::Error.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "launch/run_options.h"

namespace nagaya::tools {

using Words = std::vector<std::string>;

int run_command(const RunOptions& options);

int exec_command(const Words& command);
int attend_command(Words words);          // `words`: the waiter's state (attendance.h)
int execute_command(const Words& words);  // `words`: the host's socket, and those of an execve

struct PsOptions {
  bool json = false;
  bool addresses = false;
};
int ps_command(const PsOptions& options);

struct TopOptions {
  double seconds = 1;  // from one look to the next
  uint64_t times = 0;  // 0: until a signal ends it
};
int top_command(const TopOptions& options);

struct TraceOptions {
  std::string output = "nagaya-trace.json";
  double seconds = 0;  // 0: until something ends it
  Words command;       // one that starts jobs, or the name of a job; empty: the running job
};
int trace_command(const TraceOptions& options);

struct GdbOptions {
  std::string job;
  int pid = 0;
  std::string core;
  Words rest;  // the task's number, unless pid or core are given; gdb's arguments
};
int gdb_command(GdbOptions options);

struct CleanOptions {
  bool dry_run = false;
};
int clean_command(const CleanOptions& options);

struct DoctorOptions {
  uint64_t tasks = 0;  // 0: as many as there are cores
  bool json = false;
  Words command;  // a program to examine, with its arguments; empty: the machine is examined
};
int doctor_command(const DoctorOptions& options);

int bench_command(const Words& arguments);

}  // namespace nagaya::tools

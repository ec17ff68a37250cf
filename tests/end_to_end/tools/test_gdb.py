# SPDX-License-Identifier: BSD-3-Clause
"""`nagaya gdb` shows one task as gdb shows an ordinary process."""
import json
import pathlib
import re
import struct
import subprocess
import time

import pytest

# A crash in task 0 only: it alone has standard input.
DEBUGGED = """\
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
static __thread int own = 7;
static volatile int* volatile nowhere = (volatile int*)8;
static void* rest(void* argument) {
  own = 9;
  for (;;) pause();
  return argument;
}
__attribute__((noinline)) int tick(int count) {
  own = 7 + count % 2;
  return own;
}
__attribute__((noinline)) int crash(int depth) {
  return depth > 0 ? crash(depth - 1) + 1 : *nowhere; /* the crash */
}
int main(int argc, char** argv) {
  pthread_t thread[2];
  char word[16] = "";
  for (int n = 0; n < 2; ++n) pthread_create(&thread[n], NULL, rest, NULL);
  if (argc > 1 && scanf("%15s", word) == 1) return crash(2);
  printf("ready\\n");
  fflush(stdout);
  for (int count = 0;; ++count) {
    tick(count);
    usleep(20000); /* between ticks */
  }
}
"""
CRASH_LINE = 1 + DEBUGGED[:DEBUGGED.index("/* the crash")].count("\n")
WAIT_LINE = 1 + DEBUGGED[:DEBUGGED.index("/* between")].count("\n")
TICK_LINE = 1 + DEBUGGED[:DEBUGGED.index("own = 7 + ")].count("\n")


@pytest.fixture(scope="module", autouse=True)
def attaching_is_allowed(user):
    """gdb on an ordinary process of the user's: where that is forbidden, nothing can be tested
    here."""
    process = user.start(["sleep", 60])
    try:
        tried = user.run(["gdb", "-nx", "--batch", "-p", process.pid, "-ex", "info registers"])
        if "rsp" not in tried.out and "sp " not in tried.out:
            pytest.skip(f"gdb cannot attach to the user's own process: {tried.err.strip()[-300:]}")
    finally:
        process.kill()
        process.wait()


@pytest.fixture(scope="module")
def debugged(user):
    folder = user.new_folder("debugged program")  # a blank in the path: gdb splits words
    source = user.new_file(folder / "debugged.c", DEBUGGED)
    subprocess.run(["cc", "-g", "-O0", "-fPIE", "-pie", "-pthread", "-o", folder / "debugged",
                    source], check=True)
    return folder / "debugged"


@pytest.fixture
def gdb(user, nagaya):
    def debug(*words, commands=()):
        expressions = [word for command in commands for word in ("-ex", command)]
        batch = ["--batch", "-nx"] if commands else []
        return user.run([nagaya, "gdb", *words, *batch, *expressions])
    return debug


@pytest.fixture
def jobs(user, nagaya):
    return lambda: json.loads(user.run([nagaya, "ps", "--json"]).out)["jobs"]


def state_of(pid):
    text = pathlib.Path("/proc", str(pid), "status").read_text()
    return re.search(r"State:\s+(\w)", text)[1], int(re.search(r"TracerPid:\s+(\d+)", text)[1])


@pytest.mark.parametrize("task", [0, 2])
def test_a_backtrace_names_functions_arguments_and_lines(nagaya, debugged, running, gdb, jobs, task):
    running([nagaya, "run", "-n", 3, debugged], ready=3)
    pid = jobs()[0]["tasks"][task]["pid"]
    shown = gdb(task, commands=["bt", "info inferiors"])
    assert shown.code == 0, shown
    assert re.search(rf"in main \(argc=1, argv=0x[0-9a-f]+\) at \S* ?\S*debugged.c:{WAIT_LINE}",
                     shown.out), shown
    assert f"process {pid}" in shown.out and str(debugged) in shown.out
    assert "nanosleep" in shown.out, "the libraries have symbols too"


def test_a_program_of_the_build_tree_is_shown(nagaya, installation, running, gdb):
    running([nagaya, "run", "-n", 2, installation.program("plain_ending"), "linger"], ready=2)
    shown = gdb(1, commands=["bt"])
    assert re.search(r"linger \(\) at .*ending\.c:\d+", shown.out), shown
    assert re.search(r"main \(.*\) at .*plain_ending\.c:\d+", shown.out), shown


def test_all_threads_of_the_task_are_listed_and_no_others(nagaya, debugged, running, gdb, jobs):
    running([nagaya, "run", "-n", 2, debugged], ready=2)
    pid = jobs()[0]["tasks"][1]["pid"]
    shown = gdb(1, commands=["info threads", "thread apply all bt"])
    threads = {int(number) for number in re.findall(r"LWP (\d+)", shown.out)}
    expected = {int(path.name) for path in pathlib.Path("/proc", str(pid), "task").iterdir()}
    assert threads == expected and len(threads) == 3, shown
    assert len(re.findall(r"in rest \(argument=0x0\) at ", shown.out)) >= 2, shown


def test_variables_and_thread_local_variables_are_those_of_the_task(nagaya, debugged, running, gdb):
    running([nagaya, "run", "-n", 2, debugged], ready=2)
    shown = gdb(1, commands=["thread apply 2 3 print own", "print nowhere"])
    assert shown.out.count("= 9") == 2, shown
    assert "0x8" in shown.out, shown


def test_a_breakpoint_stops_this_task_only_and_detaching_lets_it_run(nagaya, debugged, running, gdb,
                                                                     jobs):
    running([nagaya, "run", "-n", 2, debugged], ready=2)
    other, stopped = [task["pid"] for task in jobs()[0]["tasks"]]
    shown = gdb(1, commands=["break tick", "continue", "bt", "continue", "print count",
                             f"shell grep State: /proc/{other}/status", "finish"])
    assert re.search(rf"Breakpoint 1, tick \(count=\d+\) at .*debugged\.c:{TICK_LINE}", shown.out), \
        shown
    assert re.search(r"#1 .* in main \(argc=1", shown.out), shown
    assert re.search(r"State:\s+[RS]", shown.out), shown
    assert re.search(r"Value returned is \$\d+ = [78]", shown.out), shown
    for pid in (other, stopped):
        letter, tracer = state_of(pid)
        assert letter in "RS" and tracer == 0
    again = gdb(1, commands=["info breakpoints", "break tick", "continue", "bt 1"])
    assert "No breakpoints" in again.out and "#0  tick (count=" in again.out, again


def test_ranks_under_mpirun_are_debugged_by_their_local_rank(nagaya, mpirun, installation, running,
                                                             gdb, jobs):
    program = installation.program("mpi_ending")
    running([*mpirun, "-n", 2, nagaya, "exec", program, "linger"], ready=1)
    deadline = time.monotonic() + 20
    while len(jobs()[0]["tasks"]) < 2:
        assert time.monotonic() < deadline
        time.sleep(0.1)
    shown = gdb(0, commands=["bt"])
    assert re.search(r"main \(.*\) at .*mpi_ending\.c:\d+", shown.out), shown
    waiting = gdb(1, commands=["bt"])
    assert re.search(r"main \(.*\) at .*mpi_ending\.c:\d+", waiting.out), waiting
    assert "libmpi" in gdb(1, commands=["info sharedlibrary"]).out


def test_lammps_is_shown_in_its_library(user, nagaya, data, folder, gdb, jobs):
    script = (data / "in.melt").read_text()
    endless = user.new_file(folder / "in.endless", re.sub(r"(?m)^run\s.*", "run 100000000", script))
    job = user.start([nagaya, "run", "-n", 2, "lmp", "-in", endless, "-log", "none"], cwd=folder,
                     stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + 60
        while not (jobs() and len(jobs()[0]["tasks"]) == 2 and
                   all((task["cpu_s"] or 0) > 0.5 for task in jobs()[0]["tasks"])):
            assert time.monotonic() < deadline and job.poll() is None
            time.sleep(0.2)
        shown = gdb(1, commands=["bt"])
        assert "LAMMPS_NS::" in shown.out and "liblammps" in shown.out, shown
    finally:
        job.terminate()
        job.wait(timeout=30)


def test_a_task_is_named_by_its_pid_or_its_job_too(nagaya, debugged, running, gdb, jobs):
    running([nagaya, "run", "-n", 1, debugged], ready=1)
    first = jobs()[0]
    running([nagaya, "run", "-n", 1, debugged], ready=1)
    second, = [job for job in jobs() if job["job"] != first["job"]]
    for words in (["--job", second["job"], 0], [0, "--job", second["job"]], [0, f"--job={second['job']}"], ["--pid", second["tasks"][0]["pid"]]):
        shown = gdb(*words, commands=["info inferiors"])
        assert f"process {second['tasks'][0]['pid']}" in shown.out, shown
    refused = gdb(0)
    assert refused.code == 125 and "--job" in refused.err, refused
    assert first["job"] in refused.err and second["job"] in refused.err


def core_that_promises_headers():
    """An ELF core whose first section header says that there are 2^32 - 1 program headers."""
    header = struct.pack("<4s5B7xHHIQQQIHHHHHH", b"\x7fELF", 2, 1, 1, 0, 0, 4, 62, 1, 0, 64, 64, 0,
                         64, 56, 0xffff, 64, 1, 0)
    return header + struct.pack("<44xI16x", 0xffffffff)


def test_what_cannot_be_debugged_is_refused_in_one_line(nagaya, debugged, running, gdb, jobs):
    crafted = debugged.parent / "crafted"
    crafted.write_bytes(core_that_promises_headers())
    assert "no job of yours runs" in gdb(0).err
    launcher = running([nagaya, "run", "-n", 1, debugged], ready=1)
    pid = jobs()[0]["tasks"][0]["pid"]
    for words, expected in [([7], "no task 7"), (["x"], "by its number"), ([], "by its number"),
                            (["--pid", launcher.pid], "not a task"),
                            (["--job", "none", 0], "no job none"),
                            (["--core", debugged], "no core file"),
                            (["--core", crafted], "cut off"),
                            (["--core", "/nowhere"], "No such file")]:
        refused = gdb(*words)
        assert refused.code == 125 and expected in refused.err, refused
        assert len(refused.err.splitlines()) == 1 and refused.out == "", refused
    assert state_of(pid)[1] == 0


def test_a_task_that_is_debugged_already_is_refused(user, nagaya, debugged, running, gdb, jobs):
    running([nagaya, "run", "-n", 1, debugged], ready=1)
    pid = jobs()[0]["tasks"][0]["pid"]
    first = user.start([nagaya, "gdb", 0, "--batch", "-nx", "-ex", "shell sleep 60"],
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + 20
        while state_of(pid)[1] == 0:
            assert time.monotonic() < deadline
            time.sleep(0.05)
        refused = gdb(0)
        assert refused.code == 125 and "traced already" in refused.err, refused
        assert f"by {first.pid} (gdb)" in refused.err
    finally:
        first.kill()
        first.wait()


def test_a_core_file_shows_the_task_that_crashed(user, nagaya, debugged, folder, gdb, leftovers,
                                                    dumping):
    crashed = user.run([*dumping, nagaya, "run", "-n", 3, debugged, "crash"], stdin=b"now\n",
                       cwd=folder)
    assert crashed.code == 128 + 11, crashed
    core, = folder.glob("core*")
    try:
        shown = gdb("--core", core, commands=["bt", "info threads"])
        assert re.search(rf"#0 .* crash \(depth=0\) at .*debugged\.c:{CRASH_LINE}", shown.out), shown
        assert re.search(r"#3 .* in main \(argc=2", shown.out), shown
        assert "core of task 0" in shown.err and len(set(re.findall(r"LWP (\d+)", shown.out))) == 3
    finally:
        core.unlink()

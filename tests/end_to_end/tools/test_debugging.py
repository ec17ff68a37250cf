# SPDX-License-Identifier: BSD-3-Clause
"""Debuggers, tracers and profilers on tasks, used as docs/debugging.md says."""
import re
import shutil
import signal
import subprocess
import time

import pytest
import recipes
from leftovers import describe
from ordinary_user import pids_of

RANKS = 2
HOME_BYTES = 128 << 20  # a task's libraries lie this near to its stack
SPACE_HEAP_BYTES = 16 << 30


@pytest.fixture
def programs(user, folder):
    recipes.build("profiled", folder)
    return folder


def needs(tool):
    if shutil.which(tool) is None:
        pytest.skip(f"{tool} is not installed")


def pids_of_tasks(user, name):
    return sorted(pid for pid in pids_of(user.uid) if (describe(pid) or ("",))[0] == name)


class Waiting:
    """A job whose tasks have worked and now tick, or work on."""

    def __init__(self, user, nagaya, folder, act="wait"):
        self.user, self.folder = user, folder
        self.process = user.start([nagaya, "run", "-n", RANKS, "./hot", act], cwd=folder,
                                  stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)

    def __enter__(self):
        for _ in range(RANKS):
            assert self.process.stdout.readline() == "worked\n"
        time.sleep(0.1)
        self.tasks = pids_of_tasks(self.user, "hot")
        assert len(self.tasks) == RANKS
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise


def gdb(user, folder, *words):
    commands = [word for text in words[1:] for word in ("-ex", text)]
    return user.run(["gdb", "-nx", "-q", "-batch", *words[0], *commands], cwd=folder, timeout=120)


def symbol_commands(user, folder, subject):
    """A user's commands by hand: of the mappings that begin a file, those nearest to the stack."""
    shown = gdb(user, folder, subject, "print/x $sp", "info proc mappings").out
    stack = int(re.search(r"\$1 = (0x\w+)", shown).group(1), 16)
    commands = []
    for file in ["/hot", "/libc.so.6"]:
        bases = [int(base, 16) for base in re.findall(
            rf"(0x\w+) +0x\w+ +0x\w+ +0x0 .*{re.escape(file)} *$", shown.replace(" r-xp ", " "),
            re.MULTILINE)]
        base = min(bases, key=lambda at: abs(at - stack))
        assert abs(base - stack) < HOME_BYTES, shown
        path = re.search(rf"(/\S*{re.escape(file)}) *$", shown, re.MULTILINE).group(1)
        commands.append(f"add-symbol-file {path} -o {base:#x}")
    return commands


def test_gdb_shows_the_backtrace_of_a_task_once_it_knows_where_its_files_lie(
        user, nagaya, programs):
    needs("gdb")
    with Waiting(user, nagaya, programs) as job:
        subject = ["-p", job.tasks[0]]
        shown = gdb(user, programs, subject, *symbol_commands(user, programs, subject), "backtrace")
        for name in ["usleep", "tick", "wait_or_crash", "main"]:
            assert re.search(rf"^#\d+ .*\b{name} \(", shown.out, re.MULTILINE), shown
        assert pids_of_tasks(user, "hot") == job.tasks  # detached, all go on


def test_a_breakpoint_stops_its_own_task_only(user, nagaya, programs):
    needs("gdb")
    with Waiting(user, nagaya, programs) as job:
        subject = ["-p", job.tasks[1]]
        shown = gdb(user, programs, subject, *symbol_commands(user, programs, subject),
                    "break tick", "continue", "finish", "delete")
        assert re.search(r"Breakpoint 1, .*tick \(", shown.out), shown
        assert pids_of_tasks(user, "hot") == job.tasks


def test_the_core_file_of_a_task_shows_where_it_crashed(user, nagaya, programs, installation,
                                                        dumping):
    needs("gdb")
    ended = user.run([*dumping, nagaya, "run", "-n", RANKS, "./hot", "crash"], cwd=programs)
    assert ended.code == 128 + signal.SIGSEGV, ended
    core, = programs.glob("core*")
    assert core.stat().st_size < SPACE_HEAP_BYTES
    subject = [installation.root / "libexec" / "nagaya" / "nagaya-host", core]
    shown = gdb(user, programs, subject, *symbol_commands(user, programs, subject), "backtrace")
    assert re.search(r"^#0 .*wait_or_crash \(.*^#1 .*main \(", shown.out, re.M | re.S), shown


def test_strace_shows_the_calls_of_all_tasks(user, nagaya, programs):
    needs("strace")
    ended = user.run(["strace", "-f", "-o", "calls", nagaya, "run", "-n", RANKS, "./hot"],
                     cwd=programs)
    assert ended.code == 0 and ended.out == "worked\n" * RANKS, ended
    calls = (programs / "calls").read_text()
    assert len(set(re.findall(r'^(\d+) +write\(1, "worked', calls, re.M))) == RANKS


def test_strace_attached_to_a_task_shows_its_calls_only(user, nagaya, programs):
    needs("strace")
    with Waiting(user, nagaya, programs) as job:
        user.run(["timeout", "-s", "INT", "1", "strace", "-f", "-o", "calls", "-p", job.tasks[0]],
                 cwd=programs)
        lines = (programs / "calls").read_text().splitlines()
        assert len(lines) > 10
        assert {int(line.split()[0]) for line in lines} == {job.tasks[0]}
        assert pids_of_tasks(user, "hot") == job.tasks


def test_ltrace_shows_the_calls_of_libraries(user, nagaya, programs):
    needs("ltrace")
    ended = user.run(["ltrace", "-f", "-o", "calls", nagaya, "exec", "/bin/echo", "traced"],
                     cwd=programs)
    assert ended.code == 0 and ended.out == "traced\n", ended


def test_perf_names_the_functions_of_the_program_and_of_libc(user, nagaya, programs):
    needs("perf")
    words = ["perf", "record", "-q", "-e", "cpu-clock:u", "-F", "999", "-o", "perf.data"]
    ended = user.run([*words, nagaya, "run", "-n", RANKS, "./hot"], cwd=programs)
    if ended.code != 0 and "perf_event_paranoid" in ended.err:
        pytest.skip("the system does not let users measure")
    assert ended.code == 0 and ended.out == "worked\n" * RANKS, ended
    report = user.run(["perf", "report", "-i", "perf.data", "--stdio", "--sort", "comm,dso,sym"],
                      cwd=programs).out
    assert re.search(r"hot +hot +\[\.\] hot_function", report), report
    assert re.search(r"hot +libc\.so\.6 +\[\.\] [a-z_]+", report), report


def test_perf_measures_one_running_task(user, nagaya, programs):
    needs("perf")
    with Waiting(user, nagaya, programs, "spin") as job:
        ended = user.run(["perf", "record", "-q", "-e", "cpu-clock:u", "-F", "999", "-o", "one",
                          "-p", job.tasks[1], "sleep", "0.5"], cwd=programs)
        if ended.code != 0 and "perf_event_paranoid" in ended.err:
            pytest.skip("the system does not let users measure")
        report = user.run(["perf", "report", "-i", "one", "--stdio", "--sort", "pid,dso,sym"],
                          cwd=programs).out
        found = set(re.findall(r"(\d+):hot +hot +\[\.\] hot_function", report))
        assert found == {str(job.tasks[1])}, report
        assert pids_of_tasks(user, "hot") == job.tasks


def test_gprof_counts_the_calls_of_every_task(user, nagaya, programs):
    needs("gprof")
    ended = user.run([nagaya, "run", "-n", RANKS, "./hot-gprof"], cwd=programs,
                     env={"GMON_OUT_PREFIX": "profile"})
    assert ended.code == 0, ended
    profiles = sorted(path.name for path in programs.glob("profile.*"))
    assert len(profiles) == RANKS
    report = user.run(["gprof", "-b", "-p", "./hot-gprof", *profiles], cwd=programs).out
    assert re.search(rf"\s{20 * RANKS}\s.*sort_some", report), report


def test_gcov_adds_up_the_runs_of_all_tasks(user, nagaya, programs):
    needs("gcov-dump")
    user.own(programs / "hot-gcov-hot.gcno")
    ended = user.run([nagaya, "run", "-n", RANKS, "./hot-gcov"], cwd=programs)
    assert ended.code == 0 and ended.err == "", ended
    dump = user.run(["gcov-dump", "-l", "hot-gcov-hot.gcda"], cwd=programs).out
    assert f"runs={RANKS}" in dump, dump


def test_the_linker_tells_what_it_loads_for_a_task(user, nagaya, programs):
    env = {"LD_DEBUG": "libs", "LD_DEBUG_OUTPUT": "linker"}
    ended = user.run([nagaya, "exec", "./hot"], cwd=programs, env=env)
    assert ended.code == 0, ended
    told = [path.read_text() for path in programs.glob("linker.*")]
    assert any("initialize program: ./hot" in text for text in told)


@pytest.mark.parametrize("launch", [["run", "-n", RANKS], ["run", "--separate", "-n", RANKS]],
                         ids=["left", "separate"])
def test_valgrind_runs_the_program_in_ordinary_processes(user, nagaya, programs, launch):
    needs("valgrind")
    ended = user.run([nagaya, *launch, "valgrind", "-q", "--error-exitcode=9", "./hot", "crash"],
                     cwd=programs, timeout=200)
    assert "Invalid write of size 4" in ended.err, ended
    assert "wait_or_crash (hot.c:" in ended.err

# SPDX-License-Identifier: BSD-3-Clause
"""The list of what works: every row of docs/compatibility.md is a row here, by the same name.

A program prints as a task, alone and several at once, what it prints as an ordinary process, and
leaves nothing behind. Intended differences are in a table of their own.
"""
import dataclasses
import os
import pathlib
import re
import shutil

import pytest
import recipes

PAGE = pathlib.Path(__file__).resolve().parents[3] / "docs" / "compatibility.md"

AT_ONCE = 4


@dataclasses.dataclass
class Row:
    name: str
    build: str
    words: str  # the command, in the folder of the built programs
    env: dict = dataclasses.field(default_factory=dict)
    at_once: int = AT_ONCE


def acts(build, program, names, prefix):
    return [Row(f"{prefix}-{name}", build, f"{program} {name}") for name in names.split()]


def found_library(*names):
    """The first of these names that is installed."""
    folders = ["/usr/lib/x86_64-linux-gnu", "/usr/lib64", "/usr/lib"]
    paths = (f"{folder}/{name}" for name in names for folder in folders)
    return next(filter(os.path.exists, paths), None)


MALLOCS = {"jemalloc": ["libjemalloc.so.2"], "mimalloc": ["libmimalloc.so.2", "libmimalloc.so.3"],
           "tcmalloc": ["libtcmalloc_minimal.so.4"]}
LAYOUTS = "now lazy norelro noseparate-code execstack huge-alignment gold pack-relative".split()

ROWS = [
    *acts("memory", "./memory", "map_32bit map_fixed map_hint mremap huge_pages memfd sysv_shm"
          " sysv_refused sysv_again posix_shm userfaultfd generated_code mlock malloc", "memory"),
    *acts("processes", "./processes", "fork_exec fork_private vfork posix_spawn system_popen daemon"
          " ptrace process_vm_readv seccomp setrlimit", "processes"),
    *acts("families", "./families", "fork_while_mapping child_outlives main_thread_ends"
          " thread_executes end_from_thread children", "families"),
    *acts("self", "./self", "auxv at_base at_execfn dladdr stack_bounds exe exe_child exec_self"
          " prctl_name maps nss_iconv reservation membarrier", "self"),
    *acts("control", "./control", "stack_overflow bad_accesses setjmp makecontext timers cancel"
          " robust_mutex c11_threads many_threads detached_threads ifunc", "control"),
    *acts("events", "./events", "signalfd_timerfd_eventfd io_uring inotify scm_rights", "events"),
    *acts("loader", "./loader", "dlmopen tls initial_exec exceptions execstack many_times",
          "loading"),
    *acts("static-pie", "./static-memory", "malloc mremap map_fixed posix_shm", "static-pie"),
    *acts("static-pie", "./static-control", "c11_threads stack_overflow many_threads ifunc",
          "static-pie"),
    *acts("musl", "./musl-memory", "malloc mremap map_fixed posix_shm sysv_shm sysv_again map_32bit",
          "musl"),
    *acts("musl", "./musl-control", "c11_threads stack_overflow many_threads detached_threads"
          " robust_mutex cancel timers", "musl"),
    *acts("musl-static", "./musl-static-memory", "malloc mremap map_fixed", "musl-static-pie"),
    Row("go", "go", "./go-sums first second"),
    Row("rust", "rust", "./rust-sums"),
    Row("java", "java", "java -Xmx64m Sums.java", at_once=2),
    Row("openmp-gcc", "openmp", "./openmp-gcc"),
    Row("openmp-clang", "openmp-clang", "./openmp-clang"),
    Row("python-numpy", "python", "/usr/bin/python3 numpy_threads.py"),
    Row("perl", "scripts", "perl -MPOSIX -e print(join(',',map{$_**2}1..20),qq(\\n))"),
    Row("bash", "scripts", "bash squares.sh"),
    Row("rpath", "rpath", "found/rpath found"),
    Row("runpath", "rpath", "found/runpath found"),
    Row("rpath-absolute", "rpath", "found/absolute found"),
    Row("rpath-before-library-path", "rpath", "found/rpath", {"LD_LIBRARY_PATH": "other"}),
    Row("library-path-before-runpath", "rpath", "found/runpath", {"LD_LIBRARY_PATH": "other"}),
    Row("conda", "conda", "conda/bin/asks conda/"),
    Row("conda-exceptions", "conda", "conda/bin/loader exceptions"),
    Row("bundled-libc", "bundled", "bundled/bin/asks bundled/"),
    Row("bundled-libc-malloc", "bundled", "bundled/bin/memory malloc"),
    Row("relocated", "relocated", "moved/usr/bin/asks moved/",
        {"LD_LIBRARY_PATH": "moved/usr/lib"}),
    Row("relocated-link", "relocated", "./asks-link moved/", {"LD_LIBRARY_PATH": "moved/usr/lib"}),
    Row("relocated-script", "relocated", "moved/AppRun moved/"),
    *[Row(f"layout-{name}", "layouts", f"./memory-{name} malloc") for name in LAYOUTS],
    *[Row(f"{name}-{act}", "memory", f"./memory {act}", {"LD_PRELOAD": found_library(*libraries)})
      for name, libraries in MALLOCS.items() for act in ["malloc", "mremap"]],
    Row("preloaded-library", "preload", "./says", {"LD_PRELOAD": "./libpreloaded.so"}),
]


@dataclasses.dataclass
class Different:
    """A program that does not run in a task as in a process; `--separate` is the way round."""

    name: str
    build: str
    words: str
    inside: str  # a part of the output inside


DIFFERENT = [
    Different("sbrk", "memory", "./memory brk", "Cannot allocate memory"),
    Different("limit-as", "processes", "./processes limit_as", "16 MB: refused"),
    Different("cmdline", "self", "./self cmdline", "nagaya-host"),
    Different("exe-opened", "self", "./self exe_opened", "mark found 0"),
    Different("not-position-independent", "no-pie", "./no-pie malloc", ""),
    Different("address-sanitizer", "sanitizer", "./sanitized malloc", ""),
]


@pytest.fixture(scope="module")
def programs(user):
    """Builds into one folder of the ordinary user's, each recipe when it is first needed."""
    folder = user.new_folder("compatibility")

    def built(name):
        try:
            recipes.build(name, folder)
        except recipes.Missing as missing:
            pytest.skip(str(missing))
        return folder
    return built


def sorted_lines(text):
    return sorted(text.splitlines())


def environment_of(row):
    for name, value in row.env.items():
        if value is None:
            pytest.skip(f"{row.name}: the library for {name} is not installed")
    return row.env


def expect_nothing_left(leftovers):
    left = leftovers.after_limit()
    assert not (left.processes or left.sockets or left.segments), left


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_a_program_does_as_a_task_what_it_does_as_a_process(user, nagaya, programs, leftovers, row):
    env, folder = environment_of(row), programs(row.build)
    words = row.words.split()
    if shutil.which(words[0], path=user.environment()["PATH"]) is None and "/" not in words[0]:
        pytest.skip(f"{words[0]} is not installed")
    outside = user.run(words, cwd=folder, env=env)
    assert outside.code == 0 and outside.out, outside
    inside = user.run([nagaya, "exec", *words], cwd=folder, env=env)
    assert (inside.code, inside.out, inside.err) == (0, outside.out, outside.err), inside
    together = user.run([nagaya, "run", "-n", row.at_once, *words], cwd=folder, env=env)
    assert together.code == 0, together
    assert sorted_lines(together.out) == sorted_lines(outside.out * row.at_once), together
    expect_nothing_left(leftovers)


@pytest.mark.parametrize("row", DIFFERENT, ids=lambda row: row.name)
def test_what_a_task_cannot_do_is_possible_with_separate(user, nagaya, programs, leftovers, row):
    folder, words = programs(row.build), row.words.split()
    outside = user.run(words, cwd=folder)
    inside = user.run([nagaya, "exec", *words], cwd=folder)
    assert inside.out != outside.out and row.inside in inside.out, inside
    if not inside.out:  # refused, in one line that names the way round
        assert inside.code == 126 and "--separate" in inside.err, inside
    separate = user.run([nagaya, "run", "--separate", "-n", 2, *words], cwd=folder)
    assert separate.code == 0, separate
    assert sorted_lines(separate.out) == sorted_lines(outside.out * 2), separate
    expect_nothing_left(leftovers)


def test_the_page_lists_every_row():
    page = PAGE.read_text()
    listed = set(re.findall(r"`([\w-]+)`", page))
    names = {row.name for row in [*ROWS, *DIFFERENT]}
    assert names - listed == set()

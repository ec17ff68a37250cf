# SPDX-License-Identifier: BSD-3-Clause
"""Ranks whose MPI does not understand the launcher that started them: each would think that it is
alone, and the job would end with status 0. One line on standard error says so, and how to start it."""
import os

import pytest
from launched_ranks import (ENDINGS, LINE, MPI4PY, MPICH, OPEN_MPI, Rank, check_nothing_left,
                            check_ranks, command_of)

RANKS = 3
LAUNCHERS = {OPEN_MPI: ["mpirun.openmpi", "--oversubscribe"], MPICH: ["mpiexec.hydra"]}
OTHER = {OPEN_MPI: MPICH, MPICH: OPEN_MPI}
# Words of the line: the MPI of the program, and the launcher.
SAID = {OPEN_MPI: ["Open MPI", "libmpi.so.40"], MPICH: ["MPICH", "libmpi"]}


@pytest.fixture
def start(user, nagaya, installation):
    """Runs a program of an MPI, as tasks, by the launcher of an MPI."""
    def run(launcher, program, *words, count=RANKS):
        command = command_of(installation, program, ENDINGS if program in ENDINGS else None)
        return user.run([*LAUNCHERS[launcher], "-n", count, nagaya, "exec", *command, *words])
    return run


def lines_of(ended):
    return [line for line in ended.err.splitlines() if "nagaya: " in line]


@pytest.mark.parametrize("program", OTHER)
def test_ranks_that_do_not_understand_their_launcher_say_so_once(user, start, leftovers, program):
    ended = start(OTHER[program], program, "exit", 0)
    [line] = lines_of(ended)
    for word in (*SAID[program], f"{RANKS} ranks", f"nagaya run -n {RANKS}"):
        assert word in line, ended
    check_nothing_left(user, leftovers)


def test_so_does_an_mpi_that_an_interpreter_loads_late(user, nagaya, installation):
    python, _ = command_of(installation, MPI4PY)
    ended = user.run([*LAUNCHERS[MPICH], "-n", RANKS, nagaya, "exec", python, "-c", "import mpi4py.MPI"])
    [line] = lines_of(ended)
    assert "Open MPI" in line, line


@pytest.mark.parametrize("program", OTHER)
def test_one_rank_is_alone_under_any_launcher(start, program):
    ended = start(OTHER[program], program, "exit", 0, count=1)
    assert (ended.code, lines_of(ended)) == (0, []), ended


@pytest.mark.parametrize("program", OTHER)
def test_ranks_that_understand_their_launcher_say_nothing(start, program):
    ended = start(program, program, "exit", 0)
    assert (ended.code, lines_of(ended)) == (0, []), ended


@pytest.mark.parametrize("launcher", LAUNCHERS)
def test_programs_without_mpi_say_nothing(user, nagaya, installation, launcher):
    ended = user.run([*LAUNCHERS[launcher], "-n", RANKS, nagaya, "exec",
                      installation.program("plain_ending"), "exit", 0])
    assert (ended.code, lines_of(ended)) == (0, []), ended


@pytest.mark.parametrize("how", [[], ["--separate"]], ids=["tasks", "separate"])
@pytest.mark.parametrize("program", OTHER)
def test_nagaya_run_speaks_the_language_of_every_mpi(user, nagaya, installation, program, how):
    words = command_of(installation, program, ENDINGS)
    ended = user.run([nagaya, "run", *how, "-n", RANKS, *words, "exit", 0])
    assert (ended.code, ended.err) == (0, ""), ended


@pytest.mark.parametrize("program", OTHER)
def test_ranks_that_have_lost_their_launchers_variables_are_not_silent(user, nagaya, installation,
                                                                      program):
    """They are the ranks of the job all the same, or a line says that they are not."""
    empty = ["env", "-i", f"HOME={user.folder}", f"PATH={os.defpath}"]
    words = command_of(installation, program)
    ended = user.run([nagaya, "run", "-n", RANKS, *empty, *words, "report"])
    if not lines_of(ended):
        found = map(LINE.fullmatch, ended.out.splitlines(keepends=True))
        check_ranks(sorted(Rank(*map(int, line.groups())) for line in found), RANKS)

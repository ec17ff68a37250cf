# SPDX-License-Identifier: BSD-3-Clause
"""Ranks whose MPI does not understand the launcher that started them: each would think that it is
alone, and the job would end with status 0. One line on standard error says so, and how to start it.
The combinations that occur are in docs/bootstrap.md.
"""
import os
import re
import shutil
import subprocess

import pytest
from hidden_library import without_library
from launched_ranks import LINE, WAYS, Rank, check_ranks, command_of, wrappers_of

RANKS = 3
OPEN_MPI, MPICH, MPI4PY, NO_MPI = "Open MPI", "MPICH", "mpi4py", "no MPI"
PROGRAMS = {OPEN_MPI: "mpi_ending", MPICH: "mpich_ending", NO_MPI: "plain_ending"}
LAUNCHERS = {OPEN_MPI: "Open MPI's mpirun", MPICH: "MPICH's mpiexec (hydra)"}
PYTHON = "/usr/bin/python3"  # Debian has mpi4py for Open MPI only
IMPORTS_MPI = "import mpi4py.MPI"
LIBRARIES = {OPEN_MPI: r"/\S+/libmpi\.so\.\d+", MPICH: r"/\S+/libmpich?\.so\.\d+"}


@pytest.fixture(scope="module", autouse=True)
def both_mpis(installation):
    if not installation.has("mpich_ending") or shutil.which("mpiexec.hydra") is None:
        pytest.skip("MPICH is not installed")


@pytest.fixture
def start(user, nagaya, mpirun):
    """Runs a command as tasks, by the launcher of an MPI."""
    launchers = {OPEN_MPI: mpirun, MPICH: ["mpiexec.hydra"]}

    def run(launcher, *command, count=RANKS, env=None):
        return user.run([*launchers[launcher], "-n", count, *command], env=env)
    return run


@pytest.fixture
def command(nagaya, installation):
    def words(program):
        if program != MPI4PY:
            return [nagaya, "exec", installation.program(PROGRAMS[program]), "exit", "0"]
        if subprocess.run([PYTHON, "-c", "import mpi4py"], check=False).returncode != 0:
            pytest.skip(f"{PYTHON} has no mpi4py (Debian: python3-mpi4py)")
        return [nagaya, "exec", PYTHON, "-c", IMPORTS_MPI]
    return words


def lines_of(ended):
    return [line for line in ended.err.splitlines() if "nagaya: " in line]


def check_silent(ended):
    assert ended.code == 0 and lines_of(ended) == [], ended


# Without the exit code: jobs of one rank of Open MPI 4 that begin and end at once may fail to make their
# common folder.
def check_line(ended, mpi, launcher, cure, ranks=RANKS):
    [line] = lines_of(ended)
    said = re.search(f"uses {mpi} [(]{LIBRARIES[mpi]}[)], but (.+) has started it, .*: each of the "
                     rf"{ranks} ranks is alone in a job of one rank; start them by (\S.*), or by "
                     f"nagaya run -n {ranks}$", line)
    assert said and said.group(1) == launcher and cure in said.group(2), line


@pytest.mark.parametrize("launcher, program, mpi", [
    (OPEN_MPI, MPICH, MPICH), (MPICH, OPEN_MPI, OPEN_MPI), (MPICH, MPI4PY, OPEN_MPI)])
def test_ranks_that_do_not_understand_their_launcher_say_so_once(start, command, leftovers, launcher,
                                                                program, mpi):
    ended = start(launcher, *command(program))
    check_line(ended, mpi, LAUNCHERS[launcher], "/mpirun")
    left = leftovers.after_limit()
    assert not (left.processes or left.sockets), left


@pytest.fixture(scope="module")
def wrappers(user):
    return wrappers_of(user)


@pytest.mark.parametrize("way", WAYS[1:])
def test_behind_wrappers_they_say_so_once(start, command, wrappers, way):
    nagaya, word, *alone = command(MPICH)
    ended = start(OPEN_MPI, nagaya, word, *wrappers[way], *alone)
    check_line(ended, MPICH, LAUNCHERS[OPEN_MPI], "/mpirun")


@pytest.mark.parametrize("launcher, program", [
    (OPEN_MPI, OPEN_MPI), (OPEN_MPI, MPI4PY), (OPEN_MPI, NO_MPI), (MPICH, MPICH), (MPICH, NO_MPI)])
def test_ranks_that_understand_their_launcher_say_nothing(start, command, launcher, program):
    check_silent(start(launcher, *command(program)))


@pytest.mark.parametrize("launcher, program", [(OPEN_MPI, MPICH), (MPICH, OPEN_MPI)])
def test_one_rank_is_alone_under_any_launcher(start, command, launcher, program):
    check_silent(start(launcher, *command(program), count=1))


def test_processes_that_are_spawned_say_nothing(start, nagaya, installation):
    spawning = ["--mca", "orte_fork_agent", f"{nagaya} exec", installation.program("mpi_ending")]
    ended = start(OPEN_MPI, *spawning, "spawn", 1, count=2)
    assert "spawned: 3 ranks, sum 3" in ended.out, ended
    check_silent(ended)


def test_a_program_that_a_rank_starts_for_itself_says_nothing(start, nagaya, installation):
    alone = f"{installation.program('mpich_ending')} exit 0"
    check_silent(start(OPEN_MPI, nagaya, "exec", installation.program("mpi_ending"), "run", alone))


# Variables of a job step of two ranks, of which one is on this node. They are enough for `nagaya exec`;
# the MPI finds no Slurm behind them, and the rank is alone in any case.
STEP = {"SLURM_JOB_ID": "1", "SLURM_STEP_ID": "0", "SLURM_LOCALID": "0", "SLURM_NODEID": "0",
        "SLURM_STEP_TASKS_PER_NODE": "1", "SLURM_STEP_NUM_TASKS": "2", "OMPI_MCA_ess": "singleton"}


@pytest.mark.parametrize("program, cure", [(MPICH, "srun --mpi=pmi2"), (OPEN_MPI, "srun --mpi=pmix")])
def test_ranks_of_srun_without_the_right_option_say_so(user, command, program, cure):
    check_line(user.run(command(program), env=STEP), program, "srun", cure, ranks=2)


@pytest.mark.parametrize("program, variable", [(MPICH, "I_MPI_PMI_LIBRARY"), (OPEN_MPI, "PMI_PORT")])
def test_ranks_of_srun_with_the_right_option_say_nothing(user, command, open_mpi, program, variable):
    if program == OPEN_MPI and open_mpi >= 5:
        pytest.skip("Open MPI 5 speaks PMIx only")
    check_silent(user.run(command(program), env={**STEP, variable: ""}))


def test_only_the_first_rank_of_a_node_says_so(user, command):
    """Hydra's variables of the second rank."""
    ended = user.run(command(OPEN_MPI), env={"PMI_RANK": "1", "PMI_SIZE": "2", "MPI_LOCALRANKID": "1",
                                             "MPI_LOCALNRANKS": "2"})
    check_silent(ended)


def test_an_mpi_that_is_loaded_late_says_so_through_our_components(start, nagaya, installation,
                                                                  needs_components):
    [library] = re.findall(r"libmpi\.so\.\d+", subprocess.run(
        ["ldd", installation.program("mpi_ending")], capture_output=True, text=True,
        check=True).stdout)[:1]
    program = [nagaya, "exec", installation.program("late_mpi"), library]
    [line] = lines_of(start(MPICH, *program, env={"NAGAYA_MPI": "on"}))
    assert f"these {RANKS} processes" in line and "for a job of one rank" in line, line
    check_silent(start(OPEN_MPI, *program, env={"NAGAYA_MPI": "on"}))


def test_our_components_do_not_say_it_again(start, command, needs_components):
    ended = start(MPICH, *command(OPEN_MPI), env={"NAGAYA_MPI": "on"})
    check_line(ended, OPEN_MPI, LAUNCHERS[MPICH], "/mpirun")


def test_a_launcher_that_is_not_known_is_told_of(user, command):
    variables = {"PMIX_NAMESPACE": "prterun-here-1@1", "PMIX_RANK": "1"}  # prterun of PRRTE
    [line] = lines_of(user.run(command(NO_MPI), env=variables))
    assert "alone in a space of its own" in line, line
    check_silent(user.run(command(NO_MPI), env={**variables, "PMIX_RANK": "0"}))


def test_two_launchers_one_inside_the_other_are_told_of(start, command, mpirun):
    [line] = lines_of(start(MPICH, *mpirun, "-n", 2, *command(NO_MPI), count=2))
    assert "two launchers" in line and "PMI_RANK" in line, line


@pytest.mark.parametrize("launcher", LAUNCHERS)
def test_a_launcher_that_starts_nagaya_run_several_times_is_told_of(start, nagaya, installation,
                                                                   launcher):
    program = installation.program("sharing")
    [line] = lines_of(start(launcher, nagaya, "run", "-n", 2, program))
    assert f"{LAUNCHERS[launcher]} has started nagaya run {RANKS} times" in line, line
    check_silent(start(launcher, nagaya, "run", "-n", 2, program, count=1))
    script = f"{nagaya} run -n 2 {program}; exit 0"  # a rank that starts a job on purpose
    check_silent(start(launcher, "sh", "-c", script))


@pytest.mark.parametrize("how", [[], ["--separate"]], ids=["tasks", "separate"])
@pytest.mark.parametrize("program", [OPEN_MPI, MPICH])
def test_nagaya_run_speaks_the_language_of_every_mpi(user, nagaya, installation, program, how):
    words = installation.program(PROGRAMS[program])
    ended = user.run([nagaya, "run", *how, "-n", RANKS, words, "exit", 0])
    assert (ended.code, ended.err) == (0, ""), ended


@pytest.mark.parametrize("program, count, lines", [(OPEN_MPI, 2, 1), (OPEN_MPI, 1, 0), (MPICH, 2, 0)])
def test_without_libpmix_nagaya_run_says_that_open_mpi_needs_it(user, nagaya, installation, program,
                                                               count, lines):
    before = without_library(user, "libpmix.so.2")
    words = [nagaya, "run", "-n", count, installation.program(PROGRAMS[program]), "exit", 0]
    told = [line for line in lines_of(user.run([*before, *words])) if "libpmix.so.2" in line]
    assert len(told) == lines, told


@pytest.mark.parametrize("program", [OPEN_MPI, MPICH])
def test_ranks_that_have_lost_their_launchers_variables_are_not_silent(user, nagaya, installation,
                                                                      program):
    """They are the ranks of the job all the same, or a line says that they are not."""
    empty = ["env", "-i", f"HOME={user.folder}", f"PATH={os.defpath}"]
    ended = user.run([nagaya, "run", "-n", RANKS, *empty, *command_of(installation, program), "report"])
    if not lines_of(ended):
        found = map(LINE.fullmatch, ended.out.splitlines(keepends=True))
        check_ranks(sorted(Rank(*map(int, line.groups())) for line in found), RANKS)

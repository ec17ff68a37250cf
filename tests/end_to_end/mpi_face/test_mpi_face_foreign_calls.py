# SPDX-License-Identifier: BSD-3-Clause
"""Calls that wait in the MPI beneath: our messages move meanwhile, and its own while we wait."""
import os
import re
import shutil
import signal
import subprocess

import pytest

RUN_LIMIT_S = 120
PAIRS = 15 * 8  # calls that wait in the MPI beneath, and in the face
PROGRAM = "mpi_face_foreign_calls"


@pytest.fixture
def words(nagaya, installation):
    if not installation.has(PROGRAM):
        pytest.skip("MPICH's compiler is not installed (Debian: libmpich-dev)")
    return lambda *arguments: [nagaya, "run", "-n", 2, installation.program(PROGRAM), *arguments]


@pytest.fixture
def environment(installation):
    return {"LD_PRELOAD": installation.root / "lib" / "libnagaya-mpi.so"}


@pytest.fixture
def run(user, words, environment, folder):
    def run_job(*arguments):
        ended = user.run(words(*arguments), cwd=folder, env=environment, timeout=RUN_LIMIT_S)
        assert ended.code == 0, ended
        assert ended.out.endswith(f"{arguments[0]}: all passed\n"), ended
        return ended
    return run_job


@pytest.mark.parametrize("level", [0, 3])
def test_each_foreign_call_ends_beside_each_call_that_needs_its_process(run, level):
    """Rank 0 joins the foreign call of rank 1 only after a call of ours has ended that needs rank 1."""
    assert run("pairs", level).err.count(" against ") == PAIRS


def test_many_communicators_are_made_and_freed(run):
    run("communicators", 2_000)


@pytest.mark.full
def test_ten_thousand_communicators_are_made_and_freed(run):
    run("communicators", 10_000)


def test_a_long_foreign_call_and_a_wait_after_it_take_no_processor_time(run):
    beneath_s, ours_s = map(float, re.findall(r"[\d.]+(?= s )", run("idle", 2).out))
    assert beneath_s < 0.1, "the completer sleeps"
    assert ours_s < 0.3, "a wait after foreign calls sleeps"


def test_a_foreign_call_that_is_left_by_a_jump_is_over(run):
    run("jump")


def test_a_programs_operation_runs_in_its_own_thread(run):
    run("operation")


def test_a_callback_of_the_mpi_beneath_sends_and_receives(run):
    run("attribute")


def test_threads_duplicate_communicators_while_others_wait(run):
    """A duplication that has ended is freed while another thread tests all pending ones."""
    run("duplicates")


def test_the_job_ends_when_a_rank_in_a_foreign_call_is_killed(user, words, environment, folder):
    job = user.start(words("killed"), cwd=folder, env=environment, stdout=subprocess.PIPE)
    pid = int(job.stdout.readline())
    os.kill(pid, signal.SIGKILL)
    assert job.wait(timeout=30) != 0


@pytest.mark.parametrize("task", [0, 1])
def test_a_world_with_a_rank_that_is_no_task_is_not_ours(user, nagaya, installation, environment, folder, task):
    """It would not take part in a collective that the face adds."""
    launcher = shutil.which("mpiexec.mpich")
    if launcher is None:
        pytest.skip("MPICH's launcher is not installed (Debian: mpich)")
    program = [installation.program(PROGRAM), "communicators", 20]
    preload = f"LD_PRELOAD={environment['LD_PRELOAD']}"
    ranks = [["env", preload, nagaya, "exec", *program], program]
    words = [launcher, "-n", 1, *ranks[task], ":", "-n", 1, *ranks[1 - task]]
    ended = user.run(words, cwd=folder, timeout=RUN_LIMIT_S)
    assert ended.code == 0, ended

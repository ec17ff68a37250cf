# SPDX-License-Identifier: BSD-3-Clause
"""A rank of an MPI job whose messages go through pml/nagaya is killed: at the steps of a post, and at
random moments. The job ends soon, says so once, and leaves nothing."""
import os
import random
import signal
import subprocess
import time

import pytest
from conftest import FULL
from stopped_job import StoppedJob

RANKS = 4
TRAFFIC_S = 60
END_LIMIT_S = 5
START_LIMIT_S = 20
TICK_S = 0.01
ROUNDS = 200 if FULL else 10
pytestmark = pytest.mark.usefixtures("needs_components")


@pytest.fixture
def launch(nagaya, mpirun):
    return ["env", "NAGAYA_MPI=on", "OMPI_MCA_pml=nagaya", *mpirun, "--bind-to", "none",
            "--mca", "mpi_yield_when_idle", "1", "-n", RANKS, nagaya, "exec"]


@pytest.fixture
def command(launch, installation):
    return [*launch, installation.program("mpi_traffic"), TRAFFIC_S, 1, 1]


def check(code, said, took_s, leftovers):
    what = f"code {code} after {took_s:.1f} s\n{said}"
    assert code not in (None, 0), what
    # That a process was killed is the launcher's to say.
    assert len([line for line in said.splitlines() if line.startswith("nagaya")]) <= 1, what
    left = leftovers.after_limit()
    assert not (left.processes or left.sockets or left.segments), (what, left)


@pytest.mark.parametrize("step", ["post.reserved:2000", "post.ready:2000", "post.reserved:20000"])
def test_a_rank_that_dies_in_a_message_ends_the_job(user, command, leftovers, step):
    job = StoppedJob(user, leftovers, command, step)
    os.kill(job.of_role("task")[0], signal.SIGKILL)
    check(*job.end(END_LIMIT_S), leftovers)


@pytest.mark.parametrize("step", ["line.posted:5", "line.left:5", "line.posted:500", "line.left:500"])
def test_a_rank_that_dies_in_a_collective_ends_the_job(user, launch, installation, leftovers, step):
    endless = [installation.program("mpi_collectives"), 1_000_000, 1]
    job = StoppedJob(user, leftovers, [*launch, *endless], step)
    os.kill(job.of_role("task")[0], signal.SIGKILL)
    check(*job.end(END_LIMIT_S), leftovers)


def await_tasks(job, leftovers):
    """The pids of the ranks, once all have begun."""
    deadline = time.monotonic() + START_LIMIT_S
    while True:
        tasks = [pid for pid, (name, program) in leftovers.now().processes.items()
                 if program == "nagaya-host" and name == "mpi_traffic"]
        if len(tasks) == RANKS:
            return tasks
        assert job.poll() is None and time.monotonic() < deadline, "the job has not begun"
        time.sleep(TICK_S)


@pytest.mark.parametrize("tenth", range(10))
def test_a_rank_that_dies_at_any_moment_ends_the_job(user, command, leftovers, tenth):
    """Seeded: the number of a failing round repeats its choices."""
    for number in range(tenth, ROUNDS, 10):
        chance = random.Random(number)
        job = user.start(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                         stderr=subprocess.PIPE, text=True)
        tasks = await_tasks(job, leftovers)
        time.sleep(chance.uniform(0, 2))
        started = time.monotonic()
        os.kill(chance.choice(tasks), signal.SIGKILL)
        try:
            said = job.communicate(timeout=END_LIMIT_S)[1]
        except subprocess.TimeoutExpired:
            os.killpg(job.pid, signal.SIGKILL)
            raise
        check(job.returncode, said, time.monotonic() - started, leftovers)

# SPDX-License-Identifier: BSD-3-Clause
"""A rank of an MPI job whose messages go through pml/nagaya is killed: at the steps of a post, at
random moments, and while it does nothing but collectives of one kind. The job ends soon, says so
once, and leaves nothing."""
import os
import random
import signal
import subprocess
import time

import pytest
from conftest import FULL
from hosts import SHARED_PROCESSORS
from stopped_job import StoppedJob

RANKS = 4
TRAFFIC_S = 60
END_LIMIT_S = 20  # far more than it takes, also on a loaded machine
START_LIMIT_S = 20
TICK_S = 0.01
ROUNDS = 200 if FULL else 10
pytestmark = pytest.mark.usefixtures("needs_components")


@pytest.fixture
def launch(nagaya, mpirun):
    # Open MPI's own segments are mpirun's to remove. It forgets them at times when ranks are killed
    # in MPI_Init; nothing here needs them.
    return ["env", "NAGAYA_MPI=on", "OMPI_MCA_pml=nagaya", *mpirun, "--bind-to", "none",
            "--mca", "mpi_yield_when_idle", "1", "--mca", "btl", "^vader",
            "-n", RANKS, nagaya, "exec"]


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


@pytest.mark.parametrize("step", ["post.reserved:2000", "post.ready:2000", "post.reserved:8000"])
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


def await_tasks(job, leftovers, is_name):
    """The pids of the ranks and their names, once all have begun."""
    deadline = time.monotonic() + START_LIMIT_S
    while True:
        tasks = {pid: name for pid, (name, program) in leftovers.now().processes.items()
                 if program == "nagaya-host" and is_name(name)}
        if len(tasks) == RANKS:
            return tasks
        assert job.poll() is None and time.monotonic() < deadline, "the job has not begun"
        time.sleep(TICK_S)


def start_quietly(user, words, **options):
    return user.start(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                      stderr=subprocess.PIPE, text=True, **options)


def kill_and_check(job, pid, leftovers):
    started = time.monotonic()
    os.kill(pid, signal.SIGKILL)
    try:
        said = job.communicate(timeout=END_LIMIT_S)[1]
    except subprocess.TimeoutExpired:
        os.killpg(job.pid, signal.SIGKILL)
        raise
    check(job.returncode, said, time.monotonic() - started, leftovers)


@pytest.mark.parametrize("tenth", range(10))
def test_a_rank_that_dies_at_any_moment_ends_the_job(user, command, leftovers, tenth):
    """Seeded: the number of a failing round repeats its choices."""
    for number in range(tenth, ROUNDS, 10):
        chance = random.Random(number)
        job = start_quietly(user, command)
        tasks = await_tasks(job, leftovers, "mpi_traffic".__eq__)
        time.sleep(chance.uniform(0, 2))
        kill_and_check(job, chance.choice(list(tasks)), leftovers)


# ---- one kind of collective --------------------------------------------------------------------

KINDS = ("barrier bcast gather gatherv scatter scatterv allgather allgatherv alltoall alltoallv "
         "alltoallw reduce allreduce reduce_scatter reduce_scatter_block scan exscan").split()
WAYS = [(), ("long",), ("later",), ("long", "later")]
# Each kind in one way, and all ways; or all kinds in all ways.
LOOPS = [(kind, way) for number, kind in enumerate(KINDS)
         for way in (WAYS if FULL else [WAYS[number % 4]])]
ROOT, LEADER, MEMBER = 0, 2, 3  # of two hosts with two ranks each
# Between hosts: down a tree, from each rank itself, among leaders, and with a part for each member;
# or all kinds, the way and the rank that dies by turns.
HOSTS_LOOPS = [(kind, WAYS[number % 4], (ROOT, LEADER, MEMBER)[number % 3])
               for number, kind in enumerate(KINDS)] \
    if FULL else [("bcast", ("long",), LEADER), ("alltoallv", ("long",), MEMBER),
                  ("allreduce", (), LEADER), ("reduce_scatter", ("long",), MEMBER)]


def kill_in_loop(job, rank, leftovers):
    tasks = await_tasks(job, leftovers, lambda name: name.startswith("rank "))
    [pid] = [pid for pid, name in tasks.items() if name == f"rank {rank}"]
    time.sleep(random.Random(rank).uniform(0, 0.1))
    kill_and_check(job, pid, leftovers)


def in_words(value):
    return "-".join(value) or "short" if isinstance(value, tuple) else None


@pytest.mark.parametrize("kind, way", LOOPS, ids=in_words)
def test_a_rank_that_dies_amid_collectives_ends_the_job(user, launch, installation, leftovers, kind,
                                                        way):
    rank = LOOPS.index((kind, way)) // 3 % RANKS
    loop = [installation.program("mpi_collective_loop"), kind, *way]
    kill_in_loop(start_quietly(user, [*launch, *loop]), rank, leftovers)


@pytest.mark.parametrize("kind, way, rank", HOSTS_LOOPS, ids=in_words)
def test_a_rank_that_dies_amid_collectives_of_two_hosts_ends_the_job(
        hosts, front, nagaya, installation, leftovers, kind, way, rank):
    names = ",".join(f"{name}:{RANKS // 2}" for name in hosts.names[:2])
    words = [nagaya, "run", "-n", RANKS, "--hosts", names,
             installation.program("mpi_collective_loop"), kind, *way]
    environment = {"NAGAYA_MPI": "on", "OMPI_MCA_pml": "nagaya", **SHARED_PROCESSORS}
    kill_in_loop(start_quietly(front, words, env=environment), rank, leftovers)

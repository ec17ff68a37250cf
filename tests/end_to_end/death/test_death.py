# SPDX-License-Identifier: BSD-3-Clause
"""Task, proxy, host or reaper is killed at every step of start, join, spawn, reap and exit. The job ends
soon, its exit code says so, one message says why, nothing is left, and another job of the node
goes on."""
import random
import shutil
import signal
import subprocess

import pytest
from conftest import FULL
from stopped_job import StoppedJob, kill_process, stop_points

RANKS = 2
END_LIMIT_S = 20  # far more than it takes, also on a loaded machine
ROLES = ["proxy", "host", "reaper", "task"]
ROUNDS, ROUNDS_FULL = 120, 2000

# The tasks stay, but for the steps that a task's end brings about.
ENDING_STEPS = {"client.ended", "host.reaped", "host.end-marked", "host.end-told", "host.leaving"}
# Steps after which the job may have succeeded, whoever is killed.
LATE_STEPS = {"client.ended", "host.end-told", "host.leaving"}


def act_until(stop_point):
    return ["exit", "0"] if stop_point in ENDING_STEPS else ["linger"]


@pytest.fixture(scope="module")
def bystander(user, nagaya, installation):
    """Another job of the same user on the same node."""
    process = user.start([nagaya, "run", "-n", "2", installation.program("plain_ending"), "signal"],
                         stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
    assert [process.stdout.readline() for _ in range(2)] == ["ready\n"] * 2
    yield process
    assert process.poll() is None, "the other job has not gone on"
    process.send_signal(signal.SIGUSR1)
    assert process.communicate(timeout=30)[0].split() == ["signalled"] * 2
    assert process.returncode == 0


@pytest.fixture(scope="module")
def launchers(nagaya, mpirun):
    found = {"mpirun": [*mpirun, "--bind-to", "none", "-n", RANKS, nagaya, "exec"],
             "nagaya run": [nagaya, "run", "-n", RANKS]}
    hydra = shutil.which("mpiexec.hydra")
    if hydra:
        found["hydra"] = [hydra, "-n", RANKS, nagaya, "exec"]
    return found


@pytest.fixture
def kill_at(user, installation, launchers, bystander, leftovers):
    """Kills a process of `role` when a job has reached `stop_point`; False when the job has none."""
    def kill(launcher, stop_point, role, chance):
        command = [*launchers[launcher], installation.program("plain_ending"),
                   *act_until(stop_point)]
        job = StoppedJob(user, leftovers, command, stop_point)
        victims = job.of_role(role)
        found = bool(victims)
        if victims:
            if not kill_process(victims[0] if chance is None else chance.choice(victims)):
                victims = []  # only one of the job's processes has stopped: this one went on
        elif stop_point not in ENDING_STEPS:
            job.process.terminate()
        if role in ("host", "reaper") and job.recovers(RANKS):
            job.process.terminate()  # it has a new host, and nothing was lost: no task existed
            victims = []
        check_end(job, launcher, stop_point, role, killed=bool(victims))
        assert bystander.poll() is None
        left = leftovers.after_limit()
        assert not (left.processes or left.sockets or left.segments), (launcher, stop_point, role, left)
        return found
    return kill


def check_end(job, launcher, stop_point, role, killed):
    code, said, took_s = job.end(END_LIMIT_S)
    what = f"{launcher}, {role} killed at {stop_point}: code {code} after {took_s:.1f} s\n{said}"
    assert code is not None, what
    if not killed:
        return
    lines = [line for line in said.splitlines() if line.startswith("nagaya")]
    assert len(lines) <= 1, what
    # At these steps tasks end by themselves: the signal may have come too late to matter.
    by_itself = role == "task" and stop_point in ENDING_STEPS
    if (stop_point in LATE_STEPS or by_itself) and code == 0:
        assert not lines, what
        return
    assert code != 0, what
    # The launcher reports a proxy or task that was killed.
    assert lines or role not in ("host", "reaper"), what


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("stop_point", stop_points())
def test_a_death_at_each_step_ends_the_job_and_nothing_else(kill_at, stop_point, role):
    if not kill_at("hydra", stop_point, role, chance=None):
        pytest.skip(f"no {role} is alive at {stop_point}")


@pytest.mark.parametrize("tenth", range(10))
def test_deaths_at_random_steps_under_random_launchers(kill_at, launchers, tenth):
    """Seeded: the number of a failing round repeats it."""
    for number in range(tenth, ROUNDS_FULL if FULL else ROUNDS, 10):
        chance = random.Random(number)
        kill_at(chance.choice(sorted(launchers)), chance.choice(stop_points()),
                chance.choice(ROLES), chance)


@pytest.mark.parametrize("launcher", ["nagaya run", "hydra"])
@pytest.mark.parametrize("step", ["post.reserved", "post.ready", "bell.rung"])
def test_a_task_that_dies_in_a_post_ends_the_job(user, installation, launchers, bystander,
                                                 leftovers, launcher, step):
    """The steps of mailboxes and bells that a task of a single node comes by; every task stops."""
    # Until it is reached: nobody's bell is rung while nobody sleeps.
    command = [*launchers[launcher], installation.program("mixed_operations"),
               "operations=100000000"]
    job = StoppedJob(user, leftovers, command, step)
    kill_process(job.of_role("task")[0])
    check_end(job, launcher, step, "task", killed=True)
    assert bystander.poll() is None
    left = leftovers.after_limit()
    assert not (left.processes or left.sockets or left.segments), left


def test_a_task_that_dies_with_a_lock_of_accumulates_holds_nobody_up(user, installation, leftovers):
    ended = user.run([installation.program("accumulate_death")])
    assert (ended.code, ended.err) == (0, ""), ended
    left = leftovers.after_limit()
    assert not (left.processes or left.sockets or left.segments), left

# SPDX-License-Identifier: BSD-3-Clause
"""Something happens to a task, a host process or a link while all kinds of requests go between four
hosts. Every request that was accepted is completed once, with success or an error (the program
counts); nobody waits for ever; the job ends with at most one message and leaves nothing behind.

Rounds are numbered: the number is the seed of all that is random in it."""
import dataclasses
import os
import random
import select
import signal
import subprocess
import time

import pytest
from conftest import FULL
from hosts import SHARED_PROCESSORS, Hosts
from leftovers import describe
from stopped_job import state_of

TASKS, HOSTS = 8, 4
ROUNDS, ROUNDS_FULL = 3, 100
TRAFFIC_S = 4
START_LIMIT_S = 20
RESULT_LIMIT_S = 40  # traffic, the fault, and twice what it takes to notice it
END_LIMIT_S = 20
NODE_LOST_S = 5  # options.h: fail_after_ms
TICK_S = 0.05
ERRORS_MAX = 65536


@dataclasses.dataclass
class Job:
    hosts: Hosts
    process: subprocess.Popen
    results: object  # a folder

    def on(self, number, is_wanted):
        return [pid for pid in self.hosts.pids_on(number) if is_wanted(describe(pid))]

    def tasks_on(self, number):
        return self.on(number, lambda about: about and about[0].startswith("mixed"))

    def host_process_on(self, number):
        [host] = self.on(number, lambda about: about == ("nagaya-host", "nagaya-host"))
        return host

    def has_said(self, rank, word):
        """Has the task come to a line that begins with the word?"""
        path = self.results / str(rank)
        return path.exists() and any(line.startswith(word)
                                     for line in path.read_text().splitlines())

    def await_said(self, word, limit_s, ranks=range(TASKS)):
        deadline = time.monotonic() + limit_s
        while not all(self.has_said(rank, word) for rank in ranks):
            assert time.monotonic() < deadline and self.process.poll() is None, self.all_said()
            time.sleep(TICK_S)

    def await_stopped(self, limit_s):
        """The one task that has stopped itself."""
        deadline = time.monotonic() + limit_s
        while time.monotonic() < deadline:
            stopped = [pid for number in range(HOSTS) for pid in self.tasks_on(number)
                       if state_of(pid) == "T"]
            if stopped:
                return stopped[0]
            time.sleep(0.05)
        pytest.fail(f"no task has stopped: {self.all_said()}")

    def all_said(self):
        said = {path.name: path.read_text() for path in sorted(self.results.iterdir())}
        errors = self.process.stderr.fileno()  # which others may hold, too
        if select.select([errors], [], [], 0)[0]:
            said["job"] = os.read(errors, ERRORS_MAX)
        return said


# ---- the faults, on host `number` -------------------------------------------------------------

def kill_a_task(job, number, chance):
    os.kill(chance.choice(job.tasks_on(number)), signal.SIGKILL)


def kill_the_host_process(job, number, chance):
    os.kill(job.host_process_on(number), signal.SIGKILL)


def cut_the_link(job, number, chance):
    job.hosts.cut(number)


def stop_a_task(job, number, chance):
    stop_for(chance.uniform(0.05, 0.6) * NODE_LOST_S, chance.choice(job.tasks_on(number)))


def pause_the_link(job, number, chance):
    job.hosts.cut(number)
    time.sleep(chance.uniform(0.1, 0.3) * NODE_LOST_S)
    job.hosts.mend(number)


def stop_for(seconds, pid):
    os.kill(pid, signal.SIGSTOP)
    time.sleep(seconds)
    os.kill(pid, signal.SIGCONT)


def stop_the_host_process_for_short(job, number, chance):
    stop_for(chance.uniform(0.05, 0.6) * NODE_LOST_S, job.host_process_on(number))


def stop_the_host_process_for_long(job, number, chance):
    stop_for(chance.uniform(1.3, 2) * NODE_LOST_S, job.host_process_on(number))


ENDS, LOST, GOES_ON = "the job ends", "others are lost", "the job goes on"
FAULTS = {kill_a_task: ENDS, kill_the_host_process: ENDS, cut_the_link: LOST,
          stop_the_host_process_for_long: LOST, pause_the_link: GOES_ON,
          stop_the_host_process_for_short: GOES_ON, stop_a_task: GOES_ON}


# ---- jobs ------------------------------------------------------------------------------------

@pytest.fixture(scope="module")
def hosts_of_four(root_only, user):
    made = Hosts(user, HOSTS)
    yield made
    made.leave()


@pytest.fixture
def start(user, hosts_of_four, installation):
    """Starts a job that says in files how it goes; ends it after the test."""
    jobs = []

    def begin(launcher, *settings):
        results = user.new_folder("results")
        words = [*launcher, installation.program("mixed_operations"), f"results={results}",
                 "threads=2", *settings]
        process = hosts_of_four.user_on(0).start(words, env=SHARED_PROCESSORS, text=True,
                                                 stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                                 stderr=subprocess.PIPE)
        jobs.append(Job(hosts_of_four, process, results))
        return jobs[-1]
    yield begin
    for job in jobs:  # others may still hold its output
        job.process.kill()
        job.process.wait()
    for number in range(HOSTS):
        hosts_of_four.mend(number)


def expect_bad_end(job):
    """The launcher ends, and not well. Nagaya has said one thing at most."""
    try:
        said = job.process.communicate(timeout=END_LIMIT_S)
    except subprocess.TimeoutExpired:
        pytest.fail(f"the job has not ended: {job.all_said()}")
    lines = [line for text in said for line in text.splitlines() if line.startswith("nagaya")]
    assert job.process.returncode != 0 and len(lines) <= 1, (job.process.returncode, said)
    return lines


def expect_results(job, word):
    job.await_said(word, limit_s=RESULT_LIMIT_S)
    (job.results / "end").touch()


# ---- rounds -----------------------------------------------------------------------------------

@pytest.mark.parametrize("seed", range(ROUNDS_FULL if FULL else ROUNDS))
def test_a_fault_leaves_no_request_without_its_completion(start, hosts_of_four, nagaya, leftovers,
                                                         seed):
    chance = random.Random(seed)
    fault, number = list(FAULTS)[seed % len(FAULTS)], chance.randrange(HOSTS)
    print(f"round {seed}: {fault.__name__}, host{number}")
    job = start([nagaya, "run", "--hosts", ",".join(hosts_of_four.names), "-n", TASKS],
                f"seed={seed}", "faults=1", f"seconds={TRAFFIC_S}", "operations=1000000000")
    job.await_said("started", limit_s=START_LIMIT_S)
    time.sleep(chance.uniform(0, TRAFFIC_S / 2))
    fault(job, number, chance)
    if FAULTS[fault] == LOST:
        expect_results(job, "lost")
        job.hosts.mend(number)  # for the launcher's sake
    if FAULTS[fault] == GOES_ON:
        expect_results(job, "verified")
        assert job.process.wait(END_LIMIT_S) == 0, job.all_said()
    else:
        said = expect_bad_end(job)
        # The death of a task is reported by the launcher alone.
        assert said or fault != kill_the_host_process
    left = leftovers.after_limit()
    assert not left.processes, left


# ---- steps of requests ------------------------------------------------------------------------

STOPPED_RANK = 2
# Where it stops, and how many operations each thread of the others then completes. Behind a message
# that is not complete 255 others find room (docs/mailbox.md), so these are few. The collectives of
# the beginning, in which all wait for all, ring a few bells, too.
STEPS = {"lane.written:300": 5000, "lane.published:300": 5000, "lane.marked:300": 5000,
         "bell.rung:50": 10000, "post.ready": 5000, "post.reserved": 200}


@pytest.mark.parametrize("step", STEPS)
def test_a_task_that_stops_in_a_request_delays_no_other(start, hosts_of_four, nagaya, mpirun,
                                                        leftovers, step):
    """And when it is killed there, the job ends."""
    # It goes on until it comes there: how often a bell is rung, for instance, depends on how often
    # the delegatee sleeps.
    script = f'if [ $OMPI_COMM_WORLD_RANK = {STOPPED_RANK} ]; then ' \
             f'export NAGAYA_STOP_AT={step}; set -- "$@" operations=1000000000; fi; ' \
             'export NAGAYA_NOTIFICATION=kernel; ' \
             f'exec {nagaya} exec "$@"'  # a delegatee that sleeps has its bell rung
    names = ",".join(f"{name}:{TASKS // HOSTS}" for name in hosts_of_four.names)
    job = start([*mpirun, "-n", TASKS, "--host", names, "sh", "-c", script, "sh"],
                f"operations={STEPS[step]}", f"spared={STOPPED_RANK}")
    others = [rank for rank in range(TASKS) if rank != STOPPED_RANK]
    job.await_said("operations done", limit_s=START_LIMIT_S, ranks=others)
    os.kill(job.await_stopped(limit_s=START_LIMIT_S), signal.SIGKILL)
    expect_bad_end(job)
    left = leftovers.after_limit()
    assert not left.processes, left


# ---- a long accumulate ------------------------------------------------------------------------

REQUESTER, TARGET = 0, 1  # numbers of hosts, and ranks


@pytest.mark.parametrize("victim", [REQUESTER, TARGET], ids=["requester", "target"])
def test_a_node_that_dies_between_the_read_of_operands_and_the_answer_ends_the_job(
        hosts_of_four, nagaya, mpirun, installation, leftovers, victim):
    """The target's host reads the operands that the requester lends, and stops there."""
    script = f'[ $OMPI_COMM_WORLD_RANK = {REQUESTER} ] || ' \
             f'export NAGAYA_STOP_AT=operands.read:9; exec {nagaya} exec "$@"'
    names = ",".join(f"{name}:1" for name in hosts_of_four.names[:2])
    process = hosts_of_four.user_on(REQUESTER).start(
        [*mpirun, "-n", 2, "--host", names, "sh", "-c", script, "sh",
         installation.program("lent_accumulates")],
        env=SHARED_PROCESSORS, text=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE)
    job = Job(hosts_of_four, process, None)
    try:
        target = await_stopped_host(job, TARGET)
        killed = time.monotonic()
        os.kill(job.host_process_on(victim), signal.SIGKILL)
        if victim != TARGET:
            os.kill(target, signal.SIGCONT)
        said = process.communicate(timeout=END_LIMIT_S)[1]
        assert process.returncode != 0 and time.monotonic() - killed < NODE_LOST_S, said
    finally:
        process.kill()
        process.wait()
    left = leftovers.after_limit()
    assert not left.processes, left


def await_stopped_host(job, number):
    deadline = time.monotonic() + START_LIMIT_S
    while time.monotonic() < deadline and job.process.poll() is None:
        for host in job.on(number, lambda about: about == ("nagaya-host", "nagaya-host")):
            if state_of(host) == "T":
                return host
        time.sleep(TICK_S)
    pytest.fail("no host has stopped")

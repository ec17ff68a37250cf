# SPDX-License-Identifier: BSD-3-Clause
"""Jobs whose key a test knows, so that it can join them as their own proxies do."""
import functools
import os
import pathlib
import signal
import socket
import struct
import subprocess
import time

import pytest
from join_protocol import FRAME, REFUSED, STAMP, FalseHost, JoiningClient, frame, hello
from leftovers import describe
from ordinary_user import pids_of

SECRET = os.urandom(16).hex()
RANDOM_OF_MPIRUN = f"{SECRET[:16]}-{SECRET[16:]}"


def rank_environment(tasks=1, rank=0):
    """Returns the environment that Open MPI's mpirun gives to its ranks; always that of the same
    mpirun."""
    return {"OMPI_MCA_orte_precondition_transports": RANDOM_OF_MPIRUN,
            "PMIX_NAMESPACE": "namespace", "OMPI_COMM_WORLD_LOCAL_SIZE": str(tasks),
            "OMPI_COMM_WORLD_LOCAL_RANK": str(rank)}


@functools.cache
def learned_key(user, nagaya, program):
    """Returns the key that `nagaya exec` sends to the host of that mpirun's job; a false host reads
    it."""
    job = KnownJob(user, nagaya, program, tasks=1)
    assert job.end() == [AS_IT_SHOULD]
    assert settles(lambda: not job.socket.exists())
    heard = []

    def listen(connection):
        heard.append(connection.recv(FRAME.size + len(hello(bytes(16))), socket.MSG_WAITALL))
        connection.sendall(frame(REFUSED, struct.pack("<qQ", -1, 0)))

    with FalseHost(user, job.socket, listen):
        user.run([nagaya, "exec", program, "exit", "0"], env=rank_environment())
    start = FRAME.size + STAMP.size
    return heard[0][start:start + 16]


def settles(condition, limit_s=20):
    deadline = time.monotonic() + limit_s
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.02)
    return condition()


AS_IT_SHOULD = (0, "signalled\n", "")


class KnownJob:
    """Tasks that `nagaya exec` started, as ranks of an mpirun whose secret the test knows. Each
    says "ready" and waits for SIGUSR1, with which it ends as it should."""

    def __init__(self, user, nagaya, program, tasks=2, prefix=()):
        self.user = user
        self.program = program
        self.words = (nagaya, program)
        before = self.sockets()
        self.proxies = [user.start([*prefix, nagaya, "exec", program, "signal"],
                                   env=rank_environment(tasks, rank), stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
                        for rank in range(tasks)]
        self.ready = [proxy.stdout.readline().strip() for proxy in self.proxies]
        assert self.ready == ["ready"] * tasks, [proxy.communicate() for proxy in self.proxies]
        [self.socket] = [user.socket_folder / name for name in self.sockets() - before]
        self.host = self.find_host()
        time.sleep(0.1)  # the host may still hold what it passed to the last task
        self.descriptors = self.host_descriptors()

    @property
    def key(self):
        return learned_key(self.user, *self.words)

    def sockets(self):
        folder = self.user.socket_folder
        return {path.name for path in folder.glob("*.sock")} if folder.exists() else set()

    def find_host(self):
        [host] = [pid for pid in pids_of(self.user.uid)
                  if describe(pid) == ("nagaya-host", "nagaya-host")]
        return host

    def connect(self, **options):
        return JoiningClient(self.user, self.socket, **options)

    def tasks(self):
        """Returns the pids of the tasks: the host's siblings."""
        reaper = pathlib.Path(f"/proc/{self.host}/stat").read_text().rsplit(")", 1)[1].split()[1]
        children = pathlib.Path(f"/proc/{reaper}/task/{reaper}/children").read_text().split()
        return [int(pid) for pid in children if int(pid) != self.host]

    def host_descriptors(self):
        return len(os.listdir(f"/proc/{self.host}/fd"))

    def is_undisturbed(self, programs=0):
        """Returns true if the host and the tasks live, and the host has closed all descriptors of the
        stranger, except the files of `programs` other programs."""
        return (settles(lambda: self.host_descriptors() <= self.descriptors + programs)
                and all(proxy.poll() is None for proxy in self.proxies))

    def end(self):
        """Sends SIGUSR1. Returns (exit code, output, errors) of each task."""
        time.sleep(0.05)  # "ready" is said just before the wait begins
        for proxy in self.proxies:
            os.killpg(proxy.pid, signal.SIGUSR1)  # as launchers do
        outputs = [proxy.communicate(timeout=20) for proxy in self.proxies]
        return [(proxy.returncode, *output) for proxy, output in zip(self.proxies, outputs)]

    def kill(self):
        for proxy in self.proxies:
            proxy.kill()
            proxy.communicate()


@pytest.fixture
def job(user, nagaya, installation):
    program = installation.program("plain_ending")
    learned_key(user, nagaya, program)  # by a job of its own
    running = KnownJob(user, nagaya, program)
    yield running
    running.kill()

# SPDX-License-Identifier: BSD-3-Clause
"""Sockets whose host is gone or is none: `nagaya exec` trusts nothing that it hears there."""
import fcntl
import os
import select
import shutil
import signal
import socket
import struct
import subprocess

import pytest
from join_protocol import REFUSED, STARTED, WELCOME, FalseHost, frame
from known_job import AS_IT_SHOULD, KnownJob, rank_environment, settles
from refusals import OWN_FAILURE, expect_refusal

HELD_UP_US = 1_000_000


def test_a_stale_socket_is_replaced(user, nagaya, installation, leftovers):
    program = installation.program("plain_ending")
    job = KnownJob(user, nagaya, program)
    # One of them that sees the others die would remove the socket.
    os.kill(job.host, signal.SIGSTOP)
    for proxy in job.proxies:
        proxy.kill()
        proxy.wait()
    os.kill(job.host, signal.SIGKILL)
    job.kill()
    assert job.socket.exists()
    ended = user.run([nagaya, "exec", program, "exit", "5"], env=rank_environment(), timeout=20)
    assert (ended.code, ended.err) == (5, ""), ended
    left = leftovers.after_limit()
    assert not (left.processes or left.sockets), left


def test_a_host_dies_whose_folder_was_removed(user, nagaya, installation, leftovers):
    job = KnownJob(user, nagaya, installation.program("plain_ending"))
    shutil.rmtree(user.socket_folder)
    os.kill(job.host, signal.SIGKILL)
    for proxy in job.proxies:
        _, said = proxy.communicate(timeout=20)
        assert proxy.returncode == -signal.SIGKILL
        assert said == "nagaya: the host of the job has died, and its tasks with it\n"
    left = leftovers.after_limit()
    assert not (left.processes or left.sockets), left


def refusal(code, message):
    return struct.pack("<qQ", code, len(message)) + message


FALSE_HOSTS = {
    "closes at once": (lambda one: one.shutdown(socket.SHUT_RDWR), ["refuses"]),
    "talks garbage": (lambda one: one.sendall(b"\xa5" * 4096), ["malformed"]),
    "announces too much": (lambda one: one.sendall(frame(WELCOME, size=1 << 31)), ["malformed"]),
    "refuses without a text": (lambda one: one.sendall(frame(REFUSED, b"\xff" * 5)), ["malformed"]),
    "is of another version": (lambda one: one.sendall(frame(REFUSED, refusal(-71, b"other versions"))),
                              ["other versions"]),
    "answers what was not asked": (lambda one: one.sendall(frame(STARTED, bytes(8))), ["malformed"]),
    "says nothing": (lambda one: None, ["answer"]),
    "says half an answer": (lambda one: one.sendall(frame(WELCOME, bytes(16))[:20]), ["answer"]),
}


@pytest.mark.parametrize("what", FALSE_HOSTS)
def test_a_false_host_is_not_trusted(user, nagaya, installation, leftovers, what):
    act, words = FALSE_HOSTS[what]
    program = installation.program("plain_ending")
    job = KnownJob(user, nagaya, program, tasks=1)
    assert job.end() == [AS_IT_SHOULD]
    assert not leftovers.after_limit().sockets
    with FalseHost(user, job.socket, act):
        ended = user.run([nagaya, "exec", program, "exit", "5"], env=rank_environment(), timeout=20)
    expect_refusal(ended, leftovers, OWN_FAILURE, *words)


def test_a_host_that_cannot_start_is_said_at_once(user, installation, leftovers):
    copy = installation.copied_to(user.new_folder("without_host"))
    host = copy / "libexec/nagaya/nagaya-host"
    host.unlink()
    host.write_text("#!/bin/sh\nexit 3\n")
    host.chmod(0o755)
    ended = user.run([copy / "bin/nagaya", "exec", "true"])
    expect_refusal(ended, leftovers, OWN_FAILURE, "died while it started", "nagaya doctor")


def test_a_proxy_that_finds_its_host_dead_says_so_before_another_can_end(user, nagaya, installation,
                                                                        leftovers):
    """Seen under hydra: one proxy, still greeting, removed the dead host's socket; another found
    none, took the death for told and ended; so hydra killed the first before it had spoken. strace
    holds the first one up where it has let go of the folder."""
    program = installation.program("plain_ending")
    job = KnownJob(user, nagaya, program, tasks=1)
    assert job.end() == [AS_IT_SHOULD]

    def die(connection):
        host.listener.shutdown(socket.SHUT_RDWR)
        connection.shutdown(socket.SHUT_RDWR)

    slow = ["strace", "-D", "-qq", "-o", "/dev/null", "-e", "trace=flock",
            "-e", f"inject=flock:delay_exit={HELD_UP_US}:when=2"]
    with FalseHost(user, job.socket, die) as host:
        proxy = user.start([*slow, nagaya, "exec", program], env=rank_environment(),
                           stderr=subprocess.PIPE, text=True)
        assert settles(lambda: not job.socket.exists())
        folder = os.open(user.socket_folder, os.O_RDONLY)
        fcntl.flock(folder, fcntl.LOCK_EX)  # as another proxy does before it ends
        has_spoken = select.select([proxy.stderr], [], [], 0)[0]
        os.close(folder)
    _, said = proxy.communicate(timeout=20)
    assert said.startswith("nagaya: the host of the job has died"), said
    assert has_spoken
    assert proxy.returncode == -signal.SIGKILL
    left = leftovers.after_limit()
    assert not (left.processes or left.sockets), left

# SPDX-License-Identifier: BSD-3-Clause
"""Clients that speak the join protocol wrongly, or not at all: their connections end, and the job
whose host they have troubled goes on undisturbed."""
import contextlib
import os
import struct
import subprocess
import time

import pytest
from join_protocol import (COMMUNICATION, FOLLOW, HELLO, LAUNCH, LEFT, REFUSED, SIGNAL, STARTED,
                           WAITED, WELCOME, JoiningClient, frame, hello, launch, processor_s,
                           stamp, text)
from known_job import (AS_IT_SHOULD, KnownJob, job,  # noqa: F401 (job is a fixture)
                       rank_environment, settles)


def expect_undisturbed(job, leftovers):
    assert job.is_undisturbed(), (job.descriptors, job.host_descriptors())
    assert job.end() == [AS_IT_SHOULD] * len(job.proxies)
    left = leftovers.after_limit()
    assert not (left.processes or left.sockets), left


NO_KEY = bytes(16)
# Sent instead of a greeting; the connection is ended.
NO_GREETING = {
    "garbage": bytes(n * 7919 % 251 for n in range(8192)),
    "zeros": bytes(4096),
    "another magic": frame(HELLO, hello(NO_KEY), magic=0x12345678),
    "a huge length": frame(HELLO, size=0xffffffff),
    "a length above the limit": frame(HELLO, size=(16 << 20) + 1),
    "an unknown type": frame(99),
    "the largest type": frame(0xffffffff),
    "a launch first": frame(LAUNCH, launch("/bin/true")),
    "a signal first": frame(SIGNAL, struct.pack("<Ii", 0, 9)),
    "waited first": frame(WAITED, struct.pack("<I", 0)),
    "a stranger that claims to follow a task": frame(FOLLOW, stamp()),
    "a stranger of another version that claims it": frame(FOLLOW, stamp(major_off=1)),
    "half a claim": frame(FOLLOW, stamp()[:-1]),
    "a rank's communication first": frame(COMMUNICATION, struct.pack("<iI", 0, 1)),
    "a program that has left first": frame(LEFT, text("/bin/true") + text("reason")),
    "a word of hosts": frame(WELCOME, stamp()),
    "a short greeting": frame(HELLO, hello(NO_KEY)[:-1]),
    "a long greeting": frame(HELLO, hello(NO_KEY) + b"\0"),
    "an empty greeting": frame(HELLO),
    "a wrong key": frame(HELLO, hello(NO_KEY)),
    "a wrong key and version": frame(HELLO, hello(NO_KEY, head=stamp(major_off=1))),
    "descriptors that are missing": frame(HELLO, hello(NO_KEY), descriptors=5),
    "too many descriptors": frame(HELLO, hello(NO_KEY), descriptors=0xffffffff),
}


@pytest.mark.parametrize("what", NO_GREETING)
def test_who_does_not_greet_is_dropped(job, leftovers, what):
    with job.connect() as client:
        client.send(NO_GREETING[what])
        assert client.hear() is None
    expect_undisturbed(job, leftovers)


@pytest.mark.parametrize("head", [stamp(major_off=1), stamp(magic_off=1), stamp(size=8)])
def test_another_version_is_told_so(job, leftovers, head):
    with job.connect() as client:
        code, message = client.greet(job.key, head=head).refusal
        assert code < 0 and "version" in message
        assert client.hear() is None
    expect_undisturbed(job, leftovers)


LAUNCH_OF_TRUE = launch("/bin/true", numbers=())
# Sent after a right greeting; the connection is ended.
MALFORMED = {
    "a second greeting": frame(HELLO, hello(NO_KEY)),
    "a word of hosts": frame(STARTED, bytes(8)),
    "an empty launch": frame(LAUNCH),
    "half a launch": frame(LAUNCH, LAUNCH_OF_TRUE[:len(LAUNCH_OF_TRUE) // 2]),
    "a launch and more": frame(LAUNCH, LAUNCH_OF_TRUE + b"\0"),
    "a text of endless length": frame(LAUNCH, struct.pack("<Q", (1 << 64) - 1) + LAUNCH_OF_TRUE[8:]),
    "a text with a NUL": frame(LAUNCH, launch("/bin/tr\0e", numbers=())),
    "endless arguments": frame(LAUNCH, launch("a", numbers=())[:27] + b"\xff" * 64),
    "a processor mask too large": frame(LAUNCH, launch("/bin/true", numbers=(), cpu_mask_bytes=4096)),
    "descending numbers": frame(LAUNCH, launch("/bin/true", numbers=(2, 1))),
    "negative numbers": frame(LAUNCH, launch("/bin/true", numbers=(-1, 1))),
    "a rank beyond all": frame(LAUNCH, launch("/bin/true", numbers=(), stands_for=4096)),
    "a rank below all": frame(LAUNCH, launch("/bin/true", numbers=(), stands_for=-2)),
    "a claim to follow a task": frame(FOLLOW, stamp()),
    "the communication of a rank beyond all": frame(COMMUNICATION, struct.pack("<iI", 4096, 1)),
    "the communication of a rank below all": frame(COMMUNICATION, struct.pack("<iI", -1, 0)),
    "a creator's program that has left": frame(LEFT, text("/bin/true") + text("reason")),
    "half a program that has left": frame(LEFT, text("/bin/true")),
    "a short signal": frame(SIGNAL, b"\0"),
    "a long waited": frame(WAITED, bytes(5)),
}


@pytest.mark.parametrize("what", MALFORMED)
def test_a_malformed_message_ends_the_connection(job, leftovers, what):
    with job.connect() as client:
        assert client.greet(job.key).kind == WELCOME
        client.send(MALFORMED[what])
        code, message = client.hear().refusal
        assert code < 0 and message.startswith("the host of the job: "), message
        assert client.hear() is None
    expect_undisturbed(job, leftovers)


# Well-formed and impossible: the launch is refused, or the task ends in its first steps.
IMPOSSIBLE = {
    "no descriptors": dict(numbers=(0, 1, 2)),
    "another memory policy": dict(policy=12345),
    "an empty stack": dict(stack_bytes=0),
    "a stack of all memory": dict(stack_bytes=(1 << 64) - 4096),
    "a number outside": dict(wanted=1 << 40),
    "a group that is not ours": dict(group=1),
    "a descriptor above the limit": dict(numbers=(0x7fffffff,)),
}


@pytest.mark.parametrize("what", IMPOSSIBLE)
def test_an_impossible_launch_disturbs_nobody(job, leftovers, what):
    about = dict(IMPOSSIBLE[what])
    descriptors = [0] if what == "a descriptor above the limit" else []
    with job.connect() as client:
        client.greet(job.key)
        answer = client.start(job.program, ["exit", "0"], descriptors, **about)
        assert answer is not None and answer.kind in (STARTED, REFUSED)
        if answer.kind == STARTED:
            assert client.hear() is not None  # how it ended
    expect_undisturbed(job, leftovers)


def test_a_client_reaches_its_own_tasks_only(job, leftovers):
    with job.connect() as client:
        client.greet(job.key)
        assert len(job.tasks()) == 2
        for pid in (0, 1, -1, job.proxies[0].pid, job.host, *job.tasks()):
            client.say(SIGNAL, struct.pack("<ii", pid, 9))
        for number in (0, 1, 2, 191, 192, 4096, 0xffffffff):
            client.say(WAITED, struct.pack("<I", number))
        assert client.start(job.program, ["exit", "0"]).kind == STARTED
        assert client.hear() is not None
    expect_undisturbed(job, leftovers)


@pytest.mark.parametrize("count", [253, 254, 700])
def test_any_number_of_descriptors_is_passed(job, installation, folder, user, leftovers, count):
    """Only 253 fit into one message of the kernel."""
    output = open(user.new_file(folder / "out", b""), "r+b")
    with job.connect() as client, output:
        client.greet(job.key)
        input_ = os.open("/dev/null", os.O_RDONLY)
        answer = client.start(job.program, ["signal"], [input_, *[output.fileno()] * (count - 1)])
        assert answer.kind == STARTED, answer
        _, pid = struct.unpack("<Ii", answer.payload)
        assert settles(lambda: (folder / "out").read_text() == "ready\n")
        assert sorted(map(int, os.listdir(f"/proc/{pid}/fd"))) == list(range(count))
        os.kill(pid, 9)
        client.hear()
        os.close(input_)
    expect_undisturbed(job, leftovers)


def test_descriptors_that_nobody_announced_are_closed(job, leftovers):
    with job.connect() as client:
        client.greet(job.key)
        for _ in range(5):
            client.send(frame(SIGNAL, struct.pack("<Ii", 99, 0)), [0] * 253)
        answer = client.start(job.program, ["exit", "0"])
        assert answer.kind == STARTED, answer
        client.hear()
        assert job.host_descriptors() <= job.descriptors + 1
    expect_undisturbed(job, leftovers)


def test_who_connects_and_stalls_is_dropped(job, leftovers):
    beginnings = [b"", b"N", frame(HELLO, hello(NO_KEY))[:30]]
    with contextlib.ExitStack() as connected:
        clients = [connected.enter_context(job.connect()) for _ in beginnings]
        for client, said in zip(clients, beginnings):
            client.send(said)
        before = processor_s(job.host)
        assert all(client.hear() is None for client in clients)  # within the limit of the socket
        assert processor_s(job.host) - before < 1
    expect_undisturbed(job, leftovers)


@pytest.mark.parametrize("how", ["known job", "run"])
def test_a_stalling_client_does_not_delay_the_end(user, nagaya, installation, leftovers, how):
    program = installation.program("plain_ending")
    if how == "known job":
        job = KnownJob(user, nagaya, program)
        with job.connect():
            assert job.end() == [AS_IT_SHOULD] * 2
            assert not leftovers.after_limit().processes
        return
    process = user.start([nagaya, "run", "-n", 2, program, "signal"], stdin=subprocess.DEVNULL,
                         stdout=subprocess.PIPE, text=True)
    assert [process.stdout.readline() for _ in range(2)] == ["ready\n"] * 2
    [path] = user.socket_folder.glob("run-*.sock")
    with JoiningClient(user, path):
        time.sleep(0.1)
        process.send_signal(10)
        start = time.monotonic()
        process.communicate(timeout=20)
        assert process.returncode == 0 and time.monotonic() - start < 3


def test_a_client_that_never_reads_is_dropped(job, leftovers):
    with job.connect() as client:
        client.greet(job.key)
        with pytest.raises((BrokenPipeError, ConnectionResetError)):
            for _ in range(60000):
                client.send(frame(LAUNCH, LAUNCH_OF_TRUE))
    expect_undisturbed(job, leftovers)


def test_the_host_is_quiet_when_its_descriptors_are_used_up(user, nagaya, installation, leftovers):
    job = KnownJob(user, nagaya, installation.program("plain_ending"),
                   prefix=["prlimit", "--nofile=40:40"])
    clients = [job.connect() for _ in range(60)]
    try:
        time.sleep(0.5)
        before = processor_s(job.host)
        time.sleep(1)
        assert processor_s(job.host) - before < 0.3
    finally:
        for client in clients:
            client.socket.close()
    expect_undisturbed(job, leftovers)


def test_who_passes_more_descriptors_than_the_host_may_have_is_told_so(user, nagaya, installation,
                                                                       leftovers):
    """The host has the limit of its first client."""
    program = installation.program("plain_ending")
    job = KnownJob(user, nagaya, program, prefix=["prlimit", "--nofile=40:40"])
    opened = "[os.dup2(0, n) for n in range(3, 60)];"
    launcher = f"import os, sys; {opened} os.execv(sys.argv[1], sys.argv[1:])"
    ended = user.run(["/usr/bin/python3", "-c", launcher, nagaya, "exec", program, "exit", "5"],
                     env=rank_environment(tasks=2))
    assert ended.code == 125 and ended.out == "", ended
    assert len(ended.err.splitlines()) == 1, ended
    assert "too many open descriptors" in ended.err and "RLIMIT_NOFILE" in ended.err, ended
    expect_undisturbed(job, leftovers)


def test_who_passes_so_many_descriptors_that_the_host_hangs_up_before_the_last_is_told_so(
        user, nagaya, installation, leftovers):
    """Only 253 fit into one message of the kernel: the client is still sending then."""
    job = KnownJob(user, nagaya, installation.program("plain_ending"),
                   prefix=["prlimit", "--nofile=40:40"])
    opened = "[os.dup2(0, n) for n in range(3, 900)];"
    launcher = f"import os, sys; {opened} os.execv(sys.argv[1], sys.argv[1:])"
    ended = user.run(["/usr/bin/python3", "-c", launcher, nagaya, "exec", job.program, "exit", "5"],
                     env=rank_environment(tasks=2))
    assert ended.code == 125 and ended.out == "", ended
    assert "too many open descriptors" in ended.err, ended
    expect_undisturbed(job, leftovers)

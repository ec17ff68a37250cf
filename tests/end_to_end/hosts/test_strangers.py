# SPDX-License-Identifier: BSD-3-Clause
"""A program of another user reaches the delegatees of a job that exchanges checked data between two
hosts. It changes no byte and breaks no link; the messages that it sent are counted."""
import copy
import json
import re
import time

import pytest
from hosts import SHARED_PROCESSORS, Hosts, address_of
from ordinary_user import OrdinaryUser

TRAFFIC_S = 12
ATTACK_S = 5
LIMIT_S = 60
EACH = 2  # tasks on each host


@pytest.fixture(scope="module")
def two_hosts(root_only, user):
    made = Hosts(user, 2)
    yield made
    made.leave()


@pytest.fixture(scope="module")
def stranger(root_only, user, two_hosts):
    """Another ordinary user on the first host."""
    other = OrdinaryUser(not_of=[user])
    there = copy.copy(other)
    there.prefix = [*two_hosts.enter(two_hosts.first_processes[0], "--ipc", "--pid"),
                    *other.prefix]
    yield there
    other.leave()


@pytest.fixture
def job(two_hosts, user, nagaya, installation):
    """Checks in the end that all memory holds what it must, and that no node was lost."""
    log = user.new_folder("log") / "hosts.log"
    results = user.new_folder("results")
    names = ",".join(f"{name}:{EACH}" for name in two_hosts.names)
    words = [nagaya, "run", "-n", 2 * EACH, "--hosts", names, installation.program("mixed_operations"), f"results={results}", "threads=1",
             f"seconds={TRAFFIC_S}", "operations=1000000000"]
    front = two_hosts.user_on(0)
    process = front.start(words, env={**SHARED_PROCESSORS, "NAGAYA_LOG": str(log)})
    process.log, process.results = log, results
    yield process
    process.kill()
    process.wait()


def delegatee_ports(hosts, number):
    """The TCP ports at which host processes of the user listen there."""
    listed = hosts.user_on(number).run(["ss", "-Hltnp"]).out
    return [int(port) for port in re.findall(r":(\d+)\s+\S+\s+users:\(\(\"nagaya-host", listed)]


def await_ports(hosts, process):
    deadline = time.monotonic() + LIMIT_S
    while True:
        ports = [delegatee_ports(hosts, number) for number in range(2)]
        if all(ports):
            return [each[0] for each in ports]
        assert time.monotonic() < deadline and process.poll() is None, ports
        time.sleep(0.1)


def await_results(job):
    """The tasks' results; then tells the tasks to end."""
    deadline = time.monotonic() + LIMIT_S
    while True:
        said = [path.read_text() for path in job.results.iterdir()]
        over = [text for text in said if "verified" in text or "lost" in text or "line" in text]
        if len(over) == 2 * EACH or time.monotonic() > deadline:
            (job.results / "end").touch()
            return said
        time.sleep(0.1)


def refused(hosts, nagaya, number):
    answer = json.loads(hosts.user_on(number).run([nagaya, "ps", "--json"]).out)
    return answer["jobs"][0]["refused_messages"]


def test_strangers_change_no_byte_and_break_no_link(two_hosts, stranger, job, nagaya,
                                                    installation):
    ports = await_ports(two_hosts, job)
    for number, port in enumerate(ports):
        words = [installation.program("stranger"), address_of(number), port, ATTACK_S]
        ended = stranger.run(words, timeout=LIMIT_S)
        assert ended.code == 0, ended
        assert "read by" not in ended.out, ended
        sent = int(re.search(r"sent (\d+)", ended.out).group(1))
        assert sent > 100, ended
        counted = refused(two_hosts, nagaya, number)
        assert sent // 2 < counted <= sent, (counted, sent)  # messages cut to nothing have no bytes
        shown = two_hosts.user_on(number).run([nagaya, "ps"])
        refused_since = int(re.search(r"refused (\d+) messages", shown.out).group(1))
        assert counted <= refused_since <= sent, shown  # the last ones may be under way yet
    said = await_results(job)
    assert job.wait(timeout=LIMIT_S) == 0, said
    assert len(said) == 2 * EACH and all("verified" in text for text in said), said
    lines = job.log.read_text().splitlines()
    hosts = {re.search(r" nagaya-host (\d+): job \S+: refused \d+ messages", line).group(1)
             for line in lines}
    assert len(hosts) == 2, lines


def test_a_log_that_cannot_be_written_is_an_error(user, nagaya):
    ended = user.run([nagaya, "run", "-n", "1", "true"], env={"NAGAYA_LOG": "/proc/no/such/file"})
    assert ended.code == 125, ended
    assert "NAGAYA_LOG=/proc/no/such/file" in ended.err and len(ended.err.splitlines()) == 1, ended

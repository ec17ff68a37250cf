# SPDX-License-Identifier: BSD-3-Clause
"""One loop waits: a wait of Nagaya's in an MPI program delivers MPI's messages, waits for long sleep,
wake at once, and serve the windows of Open MPI meanwhile."""
import re

import pytest
from conftest import FULL
from hosts import SHARED_PROCESSORS

RUN_LIMIT_S = 120
IDLE_S = 60 if FULL else 1
WAYS = ["recv", "wait", "waitall", "waitany", "waitsome", "probe", "bcast"]
pytestmark = pytest.mark.usefixtures("needs_components")


@pytest.fixture
def run(user, nagaya, installation, folder):
    def run_job(ranks, *arguments, **variables):
        environment = {"NAGAYA_MPI": "on", "OMPI_MCA_pml": "nagaya", **variables}
        ended = user.run([nagaya, "run", "-n", ranks, installation.program("mpi_waits"), *arguments],
                         cwd=folder, env=environment, timeout=RUN_LIMIT_S)
        assert ended.code == 0, ended
        return ended.out
    return run_job


@pytest.fixture
def run_on_two_hosts(hosts, front, nagaya, installation, folder):
    def run_job(per_host, *arguments):
        names = ",".join(f"{name}:{per_host}" for name in hosts.names[:2])
        words = [nagaya, "run", "-n", 2 * per_host, "--hosts", names,
                 installation.program("mpi_waits"), *arguments]
        environment = {"NAGAYA_MPI": "on", "OMPI_MCA_pml": "nagaya", **SHARED_PROCESSORS}
        ended = front.run(words, cwd=folder, env=environment, timeout=RUN_LIMIT_S)
        assert ended.code == 0, ended
        return ended.out
    return run_job


@pytest.mark.parametrize("kind, rounds", [("word", 100), ("full", 10)])
@pytest.mark.parametrize("ranks, threads", [(2, 1), (16, 1), (2, 4)])
def test_a_wait_for_a_word_delivers_the_message_that_precedes_it(run, kind, rounds, ranks, threads):
    """The sender raises the word once its synchronous send is complete; also behind more messages
    than a mailbox holds."""
    assert run(ranks, kind, rounds, threads) == f"{kind} among {ranks}\n"


@pytest.mark.parametrize("kind, rounds", [("word", 50), ("full", 5)])
@pytest.mark.parametrize("per_host, threads", [(1, 1), (4, 1), (1, 3)])
def test_a_wait_for_a_word_of_another_node_does_too(run_on_two_hosts, kind, rounds, per_host,
                                                    threads):
    assert run_on_two_hosts(per_host, kind, rounds, threads) == f"{kind} among {2 * per_host}\n"


def check_idle(said):
    """It slept, in naps that became long; and a message ended one. A second has some 30 naps, a further one
    fewer than ten."""
    sleeps, slept_s = map(float, re.findall(r"[\d.]+(?= times| s)", said))
    assert 25 <= sleeps <= 50 + 20 * slept_s, said
    assert said.endswith("awake at once\n"), said


@pytest.mark.parametrize("way", WAYS)
def test_a_wait_for_long_sleeps_in_long_naps_and_ends_at_once(run, way):
    check_idle(run(2, "idle", IDLE_S, way))


def test_a_window_of_ours_keeps_no_wait_from_sleeping(run):
    """Open MPI has a window for it, too, but one of a single process."""
    check_idle(run(2, "idle-with-window", IDLE_S, "recv"))


def test_a_wait_for_long_for_another_node_does_too(run_on_two_hosts):
    check_idle(run_on_two_hosts(1, "idle", IDLE_S, "recv"))


def test_a_wait_answers_the_accumulates_of_a_window_without_a_sleep_before_each(run):
    [sleeps] = re.findall(r"slept (\d+) times", run(2, "window", 50, 1))
    assert int(sleeps) < 25, sleeps

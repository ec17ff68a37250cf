# SPDX-License-Identifier: BSD-3-Clause
"""One loop waits: a wait of Nagaya's in an MPI program delivers MPI's messages, waits for long sleep,
wake at once, and serve the windows of Open MPI meanwhile."""
import re

import pytest
from conftest import FULL
from hosts import SHARED_PROCESSORS

RUN_LIMIT_S = 120
IDLE_S = 60 if FULL else 2
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


def used_and_late_s(said):
    return [float(number) for number in re.findall(r"[\d.]+(?= s)", said)]


@pytest.mark.parametrize("way", WAYS)
def test_a_wait_for_long_costs_next_to_nothing_and_ends_at_once(run, way):
    used_s, late_s = used_and_late_s(run(2, "idle", IDLE_S, way))
    assert used_s < 0.01 * IDLE_S + 0.06, used_s  # three times 20,000 looks come before the sleep
    assert late_s < 0.001, late_s


def test_a_wait_for_long_for_another_node_does_too(run_on_two_hosts):
    used_s, late_s = used_and_late_s(run_on_two_hosts(1, "idle", IDLE_S, "recv"))
    assert used_s < 0.01 * IDLE_S + 0.06, used_s
    assert late_s < 0.005, late_s


def test_a_wait_answers_the_accumulates_of_a_window_at_once(run):
    took_s, = re.findall(r"[\d.]+(?= s)", run(2, "window", 1000, 1))
    assert float(took_s) < 0.5, took_s  # one sleep of a millisecond before each makes it 1 s at least

# SPDX-License-Identifier: BSD-3-Clause
"""Programs that use nagaya/llcl.h and nagaya/comm.h, on one node and on several."""
import subprocess
import time

import pytest
from hosts import HOSTS, SHARED_PROCESSORS, Hosts

ACTS = ["spinning_on_a_callback", "every_size", "atomics_of_many_threads", "every_operation",
        "notified_writes", "every_piece", "fences", "prepared_requests", "prepared_atomics", "words",
        "accumulates", "accumulates_to_any_process",
        "messages", "all_flood_all_and_every_handler_answers", "answers_to_a_deaf_process_have_an_end",
        "a_thread_ends_before_its_requests", "threads_ask_for_the_last_time_as_they_end",
        "more_threads_than_lanes",
        "a_forked_child_ends_before_the_requests", "a_process_ends_before_its_requests",
        "no_thread_for_a_handler", "misuse", "misuse_of_pieces_and_notifications",
        "every_allgather", "wild_pointer"]
OPEN_MPI, HYDRA = ["mpirun.openmpi", "--oversubscribe"], ["mpiexec.hydra"]


@pytest.mark.parametrize("tasks", [1, 2, 5])
@pytest.mark.parametrize("act", ACTS)
def test_requests_keep_what_the_header_promises(user, nagaya, installation, leftovers, act, tasks):
    ended = user.run([nagaya, "run", "-n", tasks, installation.program("requests"), act])
    assert (ended.code, ended.err) == (0, ""), ended
    left = leftovers.after_limit()
    assert not (left.processes or left.sockets or left.segments), left


def test_eight_tasks_whose_handlers_answer_all_others_finish(user, nagaya, installation):
    act = "all_flood_all_and_every_handler_answers"
    ended = user.run([nagaya, "run", "-n", 8, installation.program("requests"), act])
    assert (ended.code, ended.err) == (0, ""), ended


def test_a_message_to_a_handler_that_nobody_has_named_is_told_by_its_receiver(user, nagaya,
                                                                              installation):
    act = "a_message_to_a_handler_that_nobody_has_named"
    ended = user.run([nagaya, "run", "-n", 2, installation.program("requests"), act])
    lines = sorted(line.split(":")[1].strip() for line in ended.err.splitlines())
    assert ended.code == 0 and lines == [
        f"task {left} of node 0 has sent a message to handler 77, which task {1 - left} has not named"
        for left in range(2)], ended


@pytest.mark.parametrize("launcher", [OPEN_MPI, HYDRA], ids=["mpirun", "hydra"])
def test_the_example_finds_its_ranks_by_every_launcher(user, nagaya, installation, launcher):
    ended = user.run([*launcher, "-n", 4, nagaya, "exec", installation.program("ring")])
    assert (ended.code, ended.out) == (0, "4 processes on 1 nodes, 4 counted\n"), ended


@pytest.fixture
def on_hosts(hosts, nagaya):
    """The words that start a job with `tasks` tasks on each host."""
    return [nagaya, "run", "--hosts", ",".join(hosts.names), "-n"]


@pytest.mark.parametrize("act", ACTS)
def test_requests_to_other_nodes_keep_what_the_header_promises(hosts, front, on_hosts, installation,
                                                              leftovers, act):
    """Two hosts have two tasks each: some neighbours are on the own node."""
    ended = front.run([*on_hosts, HOSTS + 2, installation.program("requests"), act],
                      env=SHARED_PROCESSORS)
    assert ended.code == 0, ended
    left = leftovers.after_limit()
    assert not left.processes, left


def test_the_example_counts_the_processes_of_all_nodes(front, on_hosts, installation):
    ended = front.run([*on_hosts, 2 * HOSTS, installation.program("ring")], env=SHARED_PROCESSORS)
    assert ended.code == 0, ended
    assert ended.out == f"{2 * HOSTS} processes on {HOSTS} nodes, {2 * HOSTS} counted\n"


def test_the_user_chooses_the_provider_of_the_network(front, on_hosts, installation):
    refused = front.run([*on_hosts, HOSTS, installation.program("ring")],
                        env={**SHARED_PROCESSORS, "FI_PROVIDER": "nonsense"})
    assert refused.code != 0 and "nonsense" in refused.err, refused


LOST_LIMIT_S, TICK_S = 20, 0.1


def test_a_cut_link_is_an_error_at_every_process_that_is_left(root_only, user, nagaya,
                                                             installation, folder):
    """Two tasks on the first host, two on the second, which is cut off, and one on the third."""
    hosts = Hosts(user, HOSTS)
    try:
        job = hosts.user_on(0).start(
            [nagaya, "run", "--hosts", ",".join(hosts.names), "-n", HOSTS + 2,
             installation.program("requests"), "until_a_node_is_lost"],
            cwd=folder, env=SHARED_PROCESSORS, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            text=True)
        assert [job.stdout.readline() for _ in range(HOSTS + 2)] == ["ready\n"] * (HOSTS + 2)
        hosts.cut(1)
        deadline = time.monotonic() + LOST_LIMIT_S
        said = []
        while said != ["unreachable"] * 3:
            assert time.monotonic() < deadline, said
            time.sleep(TICK_S)
            said = [path.read_text() for path in folder.glob("lost.host[02].*")]
    finally:
        hosts.leave()
        job.communicate()


def test_outside_of_a_space_the_example_says_what_to_do(user, installation):
    ended = user.run([installation.program("ring")])
    assert ended.code == 1 and "nagaya run" in ended.err, ended


def test_a_process_that_does_not_come_ends_the_job(user, nagaya, installation, leftovers):
    """The others of its job wait for it in nagaya_comm_init."""
    script = f'[ $OMPI_COMM_WORLD_RANK = 0 ] && exec {nagaya} exec false; ' \
             f'exec {nagaya} exec {installation.program("ring")}'
    ended = user.run([*OPEN_MPI, "-n", 3, "sh", "-c", script])
    assert ended.code == 1, ended
    left = leftovers.after_limit()
    assert not (left.processes or left.sockets), left

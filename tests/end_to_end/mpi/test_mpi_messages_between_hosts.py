# SPDX-License-Identifier: BSD-3-Clause
"""Open MPI's messages through pml/nagaya among the ranks of several hosts: local ones and those of
other nodes are matched in one place."""
import json
import re
import subprocess
import time

import pytest
from hosts import HOSTS, SHARED_PROCESSORS

RUN_LIMIT_S = 240
MIB = 1 << 20


@pytest.fixture
def start(hosts, front, nagaya, folder, needs_components):
    def run_job(words, hosts_count=HOSTS, per_host=2, code=0, **variables):
        names = ",".join(f"{name}:{per_host}" for name in hosts.names[:hosts_count])
        environment = {"NAGAYA_MPI": "on", **SHARED_PROCESSORS, **variables}
        ended = front.run([nagaya, "run", "-n", hosts_count * per_host, "--hosts", names, *words],
                          cwd=folder, env=environment, timeout=RUN_LIMIT_S)
        assert ended.code == code, ended
        return ended
    return run_job


@pytest.fixture
def run(start):
    """A job that could not use pml/nagaya would fail."""
    return lambda *words, **variables: start(*words, OMPI_MCA_pml="nagaya", **variables).out


@pytest.mark.parametrize("hosts_count, per_host", [(2, 1), (3, 2), (2, 4)])
def test_every_mode_of_sending_and_receiving(run, installation, hosts_count, per_host):
    out = run([installation.program("mpi_modes")], hosts_count, per_host)
    assert out == f"every mode among {hosts_count * per_host}\n"


@pytest.mark.parametrize("eager_bytes", ["0", "4096"])
def test_every_derived_type_into_every_other(run, installation, eager_bytes):
    """The two ranks of a host, whose partners are on the other."""
    out = run([installation.program("mpi_types")], 2, 2, NAGAYA_EAGER_BYTES=eager_bytes)
    assert out == "every type among 4\n"


@pytest.mark.parametrize("eager_bytes", ["0", "4096"])
def test_unmatched_sends_are_cancelled(run, installation, eager_bytes):
    out = run([installation.program("mpi_modes"), "cancels"], 3, 1, NAGAYA_EAGER_BYTES=eager_bytes)
    assert out == "every mode among 3\n"


@pytest.mark.parametrize("eager_bytes", ["0", "64", "1048576"])
def test_every_mode_with_every_message_by_rendezvous_or_none(run, installation, eager_bytes):
    out = run([installation.program("mpi_modes")], 3, 1, NAGAYA_EAGER_BYTES=eager_bytes)
    assert out == "every mode among 3\n"


def test_proofs_may_cover_whole_batches(run, installation):
    out = run([installation.program("mpi_modes")], 2, 1, NAGAYA_PROOF="batch")
    assert out == "every mode among 2\n"


@pytest.mark.parametrize("kind, count", [("turns", 5000), ("many", 70_000)])
def test_messages_keep_their_order(run, installation, kind, count):
    """Of two threads that send by turns, and of more sends at once than a node has regions."""
    assert run([installation.program("mpi_order"), kind, count], 2, 1) == f"{kind} in order among 2\n"


def test_a_receiver_that_does_not_look_costs_its_node_little_and_delays_nobody(
        hosts, front, nagaya, installation, folder, needs_components):
    """Rank 0 on the first host sends 256 MiB to rank 1 on the second, and talks to rank 2 there."""
    asleep_s = 6
    words = [nagaya, "run", "-n", 3, "--hosts", f"{hosts.names[0]}:1,{hosts.names[1]}:2",
             installation.program("mpi_slow_receiver"), asleep_s]
    job = front.start(words, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                      env={"NAGAYA_MPI": "on", "OMPI_MCA_pml": "nagaya", **SHARED_PROCESSORS})
    seen = []
    try:
        while job.poll() is None:
            said = hosts.user_on(1).run([nagaya, "ps", "--json"])
            jobs = json.loads(said.out)["jobs"] if said.code == 0 else []
            seen += [one["pss_bytes"] for one in jobs if one["pss_bytes"]]
            time.sleep(0.3)
        out, err = job.communicate(timeout=RUN_LIMIT_S)
    finally:
        job.kill()
    assert job.returncode == 0, (out, err)
    # The budget of a node, messages under way, cells and buffers of 100,000 and 4,096 messages.
    assert max(seen) - min(seen[:1]) < 96 * MIB, [round(one / MIB) for one in seen]
    assert float(re.search(rb"longest exchange ([0-9.]+) s", out).group(1)) < asleep_s / 3, out


def test_a_job_spawned_on_another_host_is_refused_by_one_line(hosts, front, nagaya, installation,
                                                              needs_components, open_mpi):
    if open_mpi >= 5:
        pytest.skip("mpirun itself crashes, without Nagaya too (docs/bugs.md, PMIx)")
    names = f"{hosts.names[0]}:1,{hosts.names[1]}:1"
    ended = front.run([nagaya, "run", "-n", 1, "--hosts", names, installation.program("mpi_ending"),
                       "spawn", 1], env={"NAGAYA_MPI": "on", **SHARED_PROCESSORS},
                      timeout=RUN_LIMIT_S)
    ours = [line for line in ended.err.splitlines() if "nagaya: " in line]
    assert ended.code != 0 and ended.out == "" and 1 <= len(ours) <= 2, ended  # the child, too
    assert "in another space: spawn it on this task's node" in ours[0], ended


def test_without_a_network_open_mpi_keeps_its_own_transports(start, installation):
    ended = start([installation.program("mpi_modes")], 2, 1, FI_PROVIDER="nothing")
    assert ended.out == "every mode among 2\n"
    lines = [line for line in ended.err.splitlines() if "Open MPI's own transports" in line]
    assert len(lines) == 2 and all("FI_PROVIDER" in line for line in lines), ended


@pytest.mark.parametrize("hosts_count, per_host, rounds", [(2, 1, 100), (3, 1, 60), (3, 3, 60),
                                                           (2, 4, 40)])
def test_random_collectives_give_what_the_reference_gives(run, installation, hosts_count, per_host,
                                                          rounds):
    """The world and random communicators of it, whose ranks are on the hosts in any order."""
    out = run([installation.program("mpi_collectives"), rounds, 5], hosts_count, per_host)
    assert out == f"{rounds} rounds among {hosts_count * per_host}\n"


@pytest.mark.parametrize("hosts_count, per_host, what", [(3, 1, "random"), (2, 2, "random"),
                                                         (2, 3, "accept")])
def test_collectives_between_two_groups_give_what_each_rank_must_get(run, installation, hosts_count,
                                                                     per_host, what):
    out = run([installation.program("mpi_intercommunicators"), what, 5], hosts_count, per_host)
    assert out == f"{what} among {hosts_count * per_host}\n"


def test_collectives_of_several_threads_have_communicators_of_their_own(run, installation):
    out = run([installation.program("mpi_collectives"), "threads", 30, 1], 2, 2)
    assert out == "30 rounds among 4\n"


@pytest.mark.parametrize("what", ["idup", "freed", "orders", "varied", "bottom", "truncated"])
def test_objects_of_collectives_are_made_and_freed_as_mpi_allows(run, installation, what):
    assert run([installation.program("mpi_collective_objects"), what], 2, 2) == f"{what} among 4\n"


@pytest.mark.full
def test_a_node_may_reduce_more_elements_than_an_int_counts(hosts, front, nagaya, installation,
                                                            needs_components):
    """Rank 0 on the first host; in 9 GiB."""
    names = f"{hosts.names[0]}:1,{hosts.names[1]}:2"
    ended = front.run([nagaya, "run", "-n", 3, "--hosts", names,
                       installation.program("mpi_collective_objects"), "billions"],
                      env={"NAGAYA_MPI": "on", **SHARED_PROCESSORS}, timeout=RUN_LIMIT_S)
    assert ended.out == "billions among 3\n", ended


def test_without_memory_a_collective_ends_with_an_error(run, installation):
    """And the program ends the job, because other ranks wait."""
    run([installation.program("mpi_no_memory"), "collective"], 2, 2, code=7)


def test_with_local_messages_only_collectives_are_left_to_open_mpi(start, installation):
    """But not to its coll/han: an allgather of that is wrong in Open MPI 5.0.7 (docs/bugs.md)."""
    out = start([installation.program("mpi_collectives"), "mild", 60, 3], 2, 2,
                NAGAYA_MPI="local", OMPI_MCA_coll="^han").out
    assert out == "60 rounds among 4\n"

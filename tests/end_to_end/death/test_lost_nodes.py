# SPDX-License-Identifier: BSD-3-Clause
"""A node of a job is cut off while the processes of the others wait, with nothing under way."""
import subprocess
import time

import pytest
from hosts import HOSTS, SHARED_PROCESSORS, Hosts
from leftovers import describe

LIMIT_S, TICK_S = 20, 0.1
SOON_LOST = {"NAGAYA_FAIL_AFTER_MS": "1000"}


@pytest.fixture
def own_hosts(root_only, user):
    hosts = Hosts(user, HOSTS)
    yield hosts
    hosts.leave()


def tasks_on(hosts, number, program):
    return [pid for pid in hosts.pids_on(number) if describe(pid) == (program, "nagaya-host")]


@pytest.mark.parametrize("program", [
    "lost_mpi", *(pytest.param(name, marks=pytest.mark.full)
                  for name in ("lost_fmpl", "lost_blacs", "lost_xmp"))])
def test_a_lost_node_ends_the_job(own_hosts, nagaya, installation, folder, program):
    """One task on each host. The second host's cannot be told."""
    job = own_hosts.user_on(0).start(
        [nagaya, "run", "--hosts", ",".join(own_hosts.names), "-n", HOSTS,
         installation.program(program)],
        cwd=folder, env={"NAGAYA_MPI": "on", **SHARED_PROCESSORS, **SOON_LOST},
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert [job.stdout.readline() for _ in range(HOSTS)] == ["ready\n"] * HOSTS
    own_hosts.cut(1)
    deadline = time.monotonic() + LIMIT_S
    while left := [pid for host in (0, 2) for pid in tasks_on(own_hosts, host, program)]:
        assert time.monotonic() < deadline, left
        time.sleep(TICK_S)
    own_hosts.leave()
    _, said = job.communicate()
    assert "the node of rank 1 cannot be reached any more" in said, said


def test_a_node_whose_processes_have_all_ended_is_not_lost(hosts, front, nagaya, installation,
                                                          folder):
    """Two tasks on the first host go on for three times as long as a silence may last."""
    ended = front.run([nagaya, "run", "--hosts", f"{hosts.names[0]}:2,{hosts.names[1]}", "-n", 3,
                       installation.program("left_blacs"), 3],
                      cwd=folder, env={**SHARED_PROCESSORS, **SOON_LOST}, timeout=LIMIT_S)
    assert (ended.code, ended.err) == (0, ""), ended

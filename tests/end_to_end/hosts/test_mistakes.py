# SPDX-License-Identifier: BSD-3-Clause
"""Wrong arguments to every call of nagaya/llcl.h and nagaya/comm.h, calls before the beginning and
after the end: an error at the caller, and nobody else is disturbed."""
import pytest
from hosts import HOSTS, SHARED_PROCESSORS

UNNAMED_HANDLERS = 77, 255


@pytest.mark.parametrize("tasks", [1, 2, 5])
def test_mistakes_on_the_own_node_are_answered_where_they_are_made(user, nagaya, installation,
                                                                  leftovers, tasks):
    ended = user.run([nagaya, "run", "-n", tasks, installation.program("mistakes")])
    lines = ended.err.splitlines()
    assert ended.code == 0 and len(lines) == tasks * len(UNNAMED_HANDLERS), ended
    for number in UNNAMED_HANDLERS:  # each receiver says so once
        said = [line for line in lines if f"a message to handler {number}, which task" in line]
        assert len(set(said)) == len(said) == tasks, ended
    left = leftovers.after_limit()
    assert not (left.processes or left.sockets or left.segments), left


@pytest.mark.parametrize("tasks", [HOSTS, HOSTS + 2])
def test_mistakes_with_another_node_are_answered_where_they_are_made(hosts, front, nagaya,
                                                                    installation, leftovers, tasks):
    ended = front.run([nagaya, "run", "--hosts", ",".join(hosts.names), "-n", tasks,
                       installation.program("mistakes")], env=SHARED_PROCESSORS)
    assert ended.code == 0, ended
    left = leftovers.after_limit()
    assert not left.processes, left

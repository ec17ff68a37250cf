# SPDX-License-Identifier: BSD-3-Clause
"""Wrong arguments to every call of nagaya/llcl.h and nagaya/comm.h, calls before the beginning and
after the end: an error at the caller, and nobody else is disturbed."""
import pytest
from hosts import HOSTS, SHARED_PROCESSORS


@pytest.mark.parametrize("tasks", [1, 2, 5])
def test_mistakes_on_the_own_node_are_answered_where_they_are_made(user, nagaya, installation,
                                                                  leftovers, tasks):
    ended = user.run([nagaya, "run", "-n", tasks, installation.program("mistakes")])
    assert (ended.code, ended.err) == (0, ""), ended
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

# SPDX-License-Identifier: BSD-3-Clause
"""What coll.h promises, by direct address and by messages alike."""
import pytest
from hosts import HOSTS, SHARED_PROCESSORS


def test_collectives_of_one_node_keep_what_the_header_promises(user, nagaya, installation):
    ended = user.run([nagaya, "run", "-n", 3, installation.program("collective_promises")])
    assert (ended.code, ended.err) == (0, ""), ended


@pytest.mark.parametrize("tasks", [HOSTS, 2 * HOSTS])
def test_collectives_over_hosts_keep_what_the_header_promises(hosts, front, nagaya, installation,
                                                              tasks):
    ended = front.run([nagaya, "run", "--hosts", ",".join(hosts.names), "-n", tasks,
                       installation.program("collective_promises")], env=SHARED_PROCESSORS)
    assert ended.code == 0, ended

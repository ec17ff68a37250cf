# SPDX-License-Identifier: BSD-3-Clause
"""Arrays of nagaya/array.h that programs open and close themselves."""
import pytest
from hosts import SHARED_PROCESSORS

ROUNDS = 20
LIMIT_S = 30


def check(ended, tasks):
    assert (ended.code, ended.out) == (0, f"{ROUNDS} rounds among {tasks}\n"), ended


@pytest.mark.parametrize("tasks", [2, 5])
def test_an_owner_closes_its_array_before_its_reader_does(user, nagaya, installation, tasks):
    check(user.run([nagaya, "run", "-n", tasks, installation.program("one_way_halo"), ROUNDS],
                   env=SHARED_PROCESSORS, timeout=LIMIT_S), tasks)


@pytest.mark.parametrize("eager_bytes", ["4096", "0"])
@pytest.mark.parametrize("per_host", [(1, 1), (2, 2)])
def test_it_does_so_over_hosts(hosts, front, nagaya, installation, per_host, eager_bytes):
    """Without eager messages the ends of a channel learn of each other late: at the reader a box may
    arrive before the place of its receipt is known."""
    names = ",".join(f"{name}:{count}" for name, count in zip(hosts.names, per_host))
    check(front.run([nagaya, "run", "-n", sum(per_host), "--hosts", names,
                     installation.program("one_way_halo"), ROUNDS],
                    env={**SHARED_PROCESSORS, "NAGAYA_EAGER_BYTES": eager_bytes}, timeout=LIMIT_S),
          sum(per_host))


@pytest.mark.parametrize("tasks", [1, 2, 3, 4, 6, 7, 16])
def test_random_assignments_between_sections(user, nagaya, installation, tasks):
    check(user.run([nagaya, "run", "-n", tasks, installation.program("transfers"), ROUNDS, tasks],
                   env=SHARED_PROCESSORS, timeout=LIMIT_S), tasks)


@pytest.mark.parametrize("per_host", [(1, 1, 1), (2, 2, 1), (1, 6, 3)])
def test_random_assignments_over_hosts(hosts, front, nagaya, installation, per_host):
    names = ",".join(f"{name}:{count}" for name, count in zip(hosts.names, per_host))
    check(front.run([nagaya, "run", "-n", sum(per_host), "--hosts", names,
                     installation.program("transfers"), ROUNDS],
                    env=SHARED_PROCESSORS, timeout=LIMIT_S), sum(per_host))

# SPDX-License-Identifier: BSD-3-Clause
"""Windows of nagaya/window.h among the tasks of a job, and tasks that are killed in them."""
import os
import re
import time

import pytest
from hosts import SHARED_PROCESSORS

RUN_LIMIT_S = 300
END_LIMIT_S = 5
START_LIMIT_S = 5  # of a job on hosts


@pytest.mark.parametrize("tasks", [1, 2, 5, 16])
def test_every_function_does_what_it_says(user, nagaya, installation, tasks):
    ended = user.run([nagaya, "run", "-n", tasks, installation.program("windows"), "all"],
                     timeout=RUN_LIMIT_S)
    assert (ended.code, ended.out) == (0, f"windows of {tasks}\n"), ended


@pytest.mark.parametrize("arguments, code", [(["all"], 0), (["die", "lock"], 128 + 9)])
def test_members_that_sleep_behind_others_get_their_locks(user, nagaya, installation, arguments, code):
    """On one processor only the next in line for a lock stays awake."""
    processor = min(os.sched_getaffinity(0))
    ended = user.run(["taskset", "--cpu-list", processor, nagaya, "run", "--bind-to", "none", "-n", 6,
                      installation.program("windows"), *arguments], timeout=RUN_LIMIT_S)
    assert (ended.code, ended.out) == (code, "windows of 6\n" if code == 0 else ""), ended


def test_ten_thousand_windows_are_open_at_once(user, nagaya, installation):
    ended = user.run([nagaya, "run", "-n", 16, installation.program("windows"), "many", 10000],
                     timeout=RUN_LIMIT_S)
    assert (ended.code, ended.out) == (0, "10000 windows of 16\n"), ended


@pytest.mark.parametrize("of_hosts, tasks", [(2, 2), (2, 4), (3, 6)])
def test_windows_over_hosts(hosts, front, nagaya, installation, of_hosts, tasks):
    names = ",".join(hosts.names[:of_hosts])
    ended = front.run([nagaya, "run", "-n", tasks, "--hosts", names, installation.program("windows"), "all"],
                      env=SHARED_PROCESSORS, timeout=RUN_LIMIT_S)
    assert (ended.code, ended.out) == (0, f"windows of {tasks}\n"), ended


# The put's, and those of the first task's synchronisation, by their kinds: nobody waits for one that
# is behind others.
@pytest.mark.parametrize("operation, each", [
    ("exclusive", {"atomic": 2, "write": 1, "atomic_behind": 1}),
    ("shared", {"atomic": 2, "write": 1, "atomic_behind": 2}),
    ("post", {"write": 1, "atomic_behind": 1}),
    ("lock_all", {"atomic": 3, "atomic_behind": 1})])
def test_synchronisation_takes_few_requests(hosts, front, nagaya, installation, operation, each):
    rounds = 50
    ended = front.run([nagaya, "run", "-n", 2, "--hosts", ",".join(hosts.names[:2]),
                       installation.program("window_requests"), nagaya, operation], env=SHARED_PROCESSORS,
                      timeout=RUN_LIMIT_S)
    assert ended.code == 0, ended
    before, after = ({kind: int(count) for count, kind in re.findall(r"(\d+) (\w+)", line)}
                     for line in re.findall("requests to other nodes:(.*)", ended.out))
    counts = {kind: (after[kind] - before.get(kind, 0)) // rounds for kind in after}
    assert {kind: count for kind, count in counts.items() if count != 0} == each, ended.out


@pytest.mark.parametrize("place", ["lock", "start", "open"])
def test_a_task_that_dies_ends_the_job(user, nagaya, installation, place):
    begin = time.monotonic()
    ended = user.run([nagaya, "run", "-n", 3, installation.program("windows"), "die", place],
                     timeout=RUN_LIMIT_S)
    assert ended.code == 128 + 9 and time.monotonic() - begin < END_LIMIT_S, ended


@pytest.mark.parametrize("place", ["lock", "start", "open"])
def test_a_task_that_dies_ends_the_job_over_hosts(hosts, front, nagaya, installation, place):
    begin = time.monotonic()
    ended = front.run([nagaya, "run", "-n", 4, "--hosts", ",".join(f"{name}:2" for name in hosts.names[:2]),
                       installation.program("windows"), "die", place], env=SHARED_PROCESSORS, timeout=RUN_LIMIT_S)
    assert ended.code != 0 and time.monotonic() - begin < START_LIMIT_S + END_LIMIT_S, ended

# SPDX-License-Identifier: BSD-3-Clause
"""Many tasks: one after another without a trace, and many at once. Without NAGAYA_FULL=1 with a
part of the promised counts."""
import os
import time

import pytest
from conftest import FULL
from creator_program import Creator, status_kb
from known_job import settles

IN_A_ROW = 1000 if FULL else 200
AT_ONCE = 1000 if FULL else 300
WARM_UP = 20
# Tolerances after any number of tasks: a mapping that was split or not merged, and pages of
# the host's own allocator (the first tasks' share is taken by the warm-up).
MAPPINGS_TOLERANCE = 4
RESIDENT_TOLERANCE_KB = 1024
COMPARED_TASKS = 240


@pytest.fixture
def small(installation):
    return installation.program("small_task")


def check_same(before, after):
    assert after.descriptors == before.descriptors, (before, after)
    assert after.mappings <= before.mappings + MAPPINGS_TOLERANCE, (before, after)
    assert after.resident_kb <= before.resident_kb + RESIDENT_TOLERANCE_KB, (before, after)


def test_tasks_one_after_another_leave_nothing_in_the_host(user, installation, small, leftovers):
    with Creator(user, installation) as creator:
        creator.tell("churn", WARM_UP, small)
        before = creator.measure_at_rest()
        creator.tell("churn", IN_A_ROW, small)
        after = creator.measure_at_rest()
        print(f"{IN_A_ROW} tasks: {before} -> {after}")
        check_same(before, after)
    assert not leftovers.after_limit().processes


@pytest.mark.parametrize("program", ["exceptions", "fortran_sum", "threads"])
def test_tasks_with_threads_and_libraries_leave_nothing_either(user, installation, program):
    with Creator(user, installation) as creator:
        path = installation.program(program)
        creator.tell("churn", WARM_UP, path)
        before = creator.measure_at_rest()
        creator.tell("churn", IN_A_ROW // 10, path)
        check_same(before, creator.measure_at_rest())


def test_many_small_tasks_live_at_once(user, installation, small, leftovers):
    with Creator(user, installation, AT_ONCE) as creator:
        # A number that was used once keeps its record, some kB, for the next task of that number.
        creator.tell("spawn", AT_ONCE, small, "stay")
        creator.tell("end")
        before = creator.measure_at_rest()
        creator.tell("spawn", AT_ONCE, small, "stay")
        during = creator.measure()
        assert settles(lambda: AT_ONCE == sum(
            name == "small_task" for name, _ in leftovers.now().processes.values()))
        print(f"{AT_ONCE} tasks at once: {before} -> {during}")
        creator.tell("end")
        check_same(before, creator.measure_at_rest())
    assert not leftovers.after_limit().processes


def test_a_full_space_says_so_and_has_room_again(user, installation, small):
    """The number of a task is free again once it was waited for."""
    with Creator(user, installation, 3) as creator:
        for _ in range(3):
            creator.tell("spawn", 3, small, "stay")
            creator.tell("end")
        creator.tell("spawn", 3, small, "stay")
        with pytest.raises(AssertionError, match="(?i)temporarily unavailable.*full"):
            creator.tell("spawn", 1, small, "stay")
        raise_nothing_at_exit(creator)


def raise_nothing_at_exit(creator):
    """The creator has ended with its error, and the host with it."""
    deadline = time.monotonic() + 5
    while os.path.exists(f"/proc/{creator.host}") and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not os.path.exists(f"/proc/{creator.host}")
    creator.destroy = lambda: None


def test_page_tables_of_many_small_tasks_are_at_most_a_quarter(user, installation, small):
    """Against the same program in as many ordinary processes."""
    with Creator(user, installation, COMPARED_TASKS) as creator:
        empty = creator.measure()
        creator.tell("spawn", COMPARED_TASKS, small, "stay")
        pids = creator.tell("processes", COMPARED_TASKS, small, "stay")
        assert len(pids) == COMPARED_TASKS
        time.sleep(1)  # until all of them have started up and sleep
        inside = creator.measure().page_tables_kb
        outside = sum(status_kb(pid, "VmPTE") for pid in pids)
        print(f"page tables: {inside} kB (empty {empty.page_tables_kb}), processes {outside} kB")
        assert 4 * inside <= outside
        creator.tell("end")

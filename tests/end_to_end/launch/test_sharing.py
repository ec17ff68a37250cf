# SPDX-License-Identifier: BSD-3-Clause
"""Tasks share their memory through plain pointers and nothing else. The checks are in the programs
(tests/programs), which end with 0 only if all of them hold."""
import errno

import pytest


def run_all(user, nagaya, words, tasks, cwd=None):
    ended = user.run([nagaya, "run", "-n", tasks, *words], cwd=cwd)
    assert ended.code == 0, ended
    return sorted(ended.out.splitlines())


@pytest.mark.parametrize("tasks", [2, 5, 16])
def test_every_task_reads_and_writes_the_memory_of_every_other(user, nagaya, installation, tasks):
    lines = run_all(user, nagaya, [installation.program("sharing")], tasks)
    assert lines == sorted(f"shared by {n} of {tasks}" for n in range(tasks))


def test_ranks_of_an_mpi_job_read_and_write_the_memory_of_every_other(user, nagaya, mpirun,
                                                                      installation):
    program = installation.program("mpi_neighbours")
    for launch in ([nagaya, "run"], [*mpirun]):
        proxy = [] if "run" in launch else [nagaya, "exec"]
        ended = user.run([*launch, "-n", 4, *proxy, program])
        assert (ended.code, ended.out) == (0, "4 neighbours\n"), ended


def test_tasks_of_a_launcher_share_without_mpi_too(user, nagaya, mpirun, installation):
    ended = user.run([*mpirun, "-n", 4, nagaya, "exec", installation.program("sharing")])
    assert ended.code == 0, ended
    assert sorted(ended.out.splitlines()) == [f"shared by {n} of 4" for n in range(4)]


def test_globals_errno_tls_handlers_directory_umask_and_descriptors_stay_private(
        user, nagaya, installation, folder):
    elsewhere = folder / "elsewhere"
    elsewhere.mkdir(mode=0o755)
    lines = run_all(user, nagaya, [installation.program("privacy"), elsewhere], 4, cwd=folder)
    assert lines == [f"private in {n}" for n in range(4)]


@pytest.mark.parametrize("how, answer", [
    ("fixed", "Operation not permitted"), ("noreplace", "File exists"), ("segment", "Invalid argument")])
def test_two_tasks_that_choose_the_same_address_are_told(user, nagaya, installation, how, answer):
    """The second one's mapping replaced the first one's, whose data were lost."""
    words = [installation.program("partitions"), how]
    ended = user.run([nagaya, "run", "-n", 2, *words])
    assert ended.code == 0 and sorted(ended.out.splitlines()) == sorted(["mapped", answer]), ended
    assert len(ended.err.splitlines()) == 1, ended
    for word in ("tasks 0 and 1", "0x600000000000", "nagaya run --separate"):
        assert word in ended.err, ended
    separate = user.run([nagaya, "run", "--separate", "-n", 2, *words])
    assert (separate.code, separate.out, separate.err) == (0, "mapped\nmapped\n", ""), separate


def test_lookups_wait_time_out_and_notice_death(user, nagaya, installation):
    assert run_all(user, nagaya, [installation.program("lookups")], 1) == ["lookups as documented"]


def test_a_creator_decides_what_its_tasks_get_and_is_told_what_cannot_be(
        user, installation, folder, leftovers):
    fixed = installation.program("not_position_independent")
    ended = user.run([installation.program("creating"), folder, fixed])
    assert (ended.code, ended.out) == (0, "created as documented\n"), ended
    left = leftovers.after_limit()
    assert not left.processes and not left.sockets, left


def test_a_creator_is_told_of_each_task_that_could_not_begin(user, installation, leftovers):
    forbidden = [installation.program("restricted"), "affinity", errno.EPERM]
    ended = user.run([*forbidden, installation.program("creating"), "unbegun", "-"])
    assert (ended.code, ended.out) == (0, "none has begun\n"), ended
    left = leftovers.after_limit()
    assert not left.processes and not left.sockets, left


def test_no_task_can_unmap_the_partition_of_another(user, nagaya, installation):
    lines = run_all(user, nagaya, [installation.program("partitions")], 3)
    assert lines == [f"partition of {n} kept" for n in range(3)]


def test_threads_that_map_and_move_at_once_stay_in_their_partition(user, nagaya, installation):
    run_all(user, nagaya, [installation.program("mapping_churn")], 3)


def test_blocks_of_the_space_heap_are_used_and_freed_by_any_task(user, nagaya, installation):
    lines = run_all(user, nagaya, [installation.program("shared_heap")], 4)
    assert lines == [f"heap of {n} sound" for n in range(4)]


def test_children_of_a_task_are_not_tasks(user, nagaya, installation):
    lines = run_all(user, nagaya, [installation.program("forked_child")], 2)
    assert lines == ["children detached"] * 2


def test_ordinary_processes_have_no_space(user, nagaya, installation):
    ended = user.run([nagaya, "run", "--separate", "-n", "2", installation.program("forked_child"),
                      "executed"])
    assert ended.code == 0, ended

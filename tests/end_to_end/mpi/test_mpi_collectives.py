# SPDX-License-Identifier: BSD-3-Clause
"""Open MPI's collectives through coll/nagaya: random ones, each held against a naive reference; alone,
by several threads, on many communicators, between two groups, and with some of them left to Open
MPI."""
import pytest
from conftest import FULL

RUN_LIMIT_S = 300
TIMES = 20 if FULL else 1
ROUNDS = {1: 50, 2: 300, 3: 300, 5: 200, 8: 100, 16: 30, 33: 20}
pytestmark = pytest.mark.usefixtures("needs_components")


@pytest.fixture
def run(user, nagaya, folder, installation):
    def run_job(ranks, *words, program="mpi_collectives", **variables):
        environment = {"NAGAYA_MPI": "on", **variables}
        ended = user.run([nagaya, "run", "-n", ranks, installation.program(program), *words],
                         cwd=folder, env=environment, timeout=RUN_LIMIT_S)
        assert ended.code == 0, ended
        return ended
    return run_job


@pytest.mark.parametrize("seed", range(1, TIMES + 1))
@pytest.mark.parametrize("ranks", ROUNDS)
def test_random_ones_give_what_the_reference_gives(run, ranks, seed):
    said = run(ranks, ROUNDS[ranks], seed).out
    assert said == f"{ROUNDS[ranks]} rounds among {ranks}\n"


def test_several_threads_have_communicators_of_their_own(run):
    assert run(4, "threads", 100, 1).out == "100 rounds among 4\n"


@pytest.mark.parametrize("count", [10_000])
def test_thousands_of_communicators_live_at_once(run, count):
    assert run(4, "dups", count).out == f"{count} dups among 4\n"


@pytest.mark.parametrize("what", ["idup", "freed", "orders", "varied", "bottom", "truncated"])
def test_objects_are_made_and_freed_as_mpi_allows(run, what):
    assert run(4, what, program="mpi_collective_objects").out == f"{what} among 4\n"


@pytest.mark.parametrize("ranks", [2, 3])
def test_teams_end_with_their_communicator_although_another_component_keeps_the_module(run, ranks):
    """coll/adapt never gives back the modules that it falls back to. Windows have communicators, too."""
    said = run(ranks, "numbers", program="mpi_collective_objects", OMPI_MCA_coll_adapt_priority="100").out
    assert said == f"numbers among {ranks}\n"


@pytest.mark.parametrize("ranks, what", [(2, "random"), (5, "random"), (8, "random"), (3, "spawn"),
                                         (8, "accept")])
def test_collectives_between_two_groups_give_what_each_rank_must_get(run, ranks, what):
    said = run(ranks, what, 10 * TIMES, program="mpi_intercommunicators").out
    assert said == f"{what} among {ranks}\n"


def test_those_between_groups_that_move_data_are_ours(run):
    said = run(3, "accept", 15, program="mpi_intercommunicators", OMPI_MCA_coll_base_verbose="20").err
    for text in (": barrier, ", ": bcast, ", ": gather, ", ": scatter, ", ": alltoall, "):
        assert text in said, text


def test_each_operation_can_be_left_to_open_mpi(run):
    for names in ("off", "bcast,iallreduce", "^reduce,alltoallw"):
        assert run(3, "mild", 60, 2, NAGAYA_COLL=names).out == "60 rounds among 3\n"


def test_a_mistyped_operation_is_named_and_all_are_left_to_open_mpi(run):
    ended = run(2, "mild", 5, 2, NAGAYA_COLL="bcast,bcats")
    assert ended.out == "5 rounds among 2\n"
    assert '"bcats" is no collective' in ended.err


def test_it_says_which_algorithm_does_what(run):
    said = run(2, 20, 1, OMPI_MCA_coll_base_verbose="20").err
    for text in (": barrier, 0 bytes: move", " bytes in runs: move", "allreduce, ", ": combine",
                 ": slices"):
        assert text in said, text

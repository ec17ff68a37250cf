# SPDX-License-Identifier: BSD-3-Clause
"""Collectives of the face with MPICH's programs: each operation in all forms, against what the programs compute
themselves."""
import pytest
from conftest import FULL

RUN_LIMIT_S = 300
TIMES = 20 if FULL else 1
ROUNDS = {1: 30, 2: 60, 3: 60, 5: 40, 16: 10}
PAIRS = 273  # of a predefined operation and a predefined datatype


@pytest.fixture
def run(user, nagaya, installation, folder):
    def run_job(ranks, *words):
        if not installation.has(words[0]):
            pytest.skip("MPICH's compiler is not installed (Debian: libmpich-dev)")
        environment = {"LD_PRELOAD": installation.root / "lib" / "libnagaya-mpi.so"}
        ended = user.run([nagaya, "run", "-n", ranks, installation.program(words[0]), *words[1:]], cwd=folder,
                         env=environment, timeout=RUN_LIMIT_S)
        assert ended.code == 0, ended
        return ended.out
    return run_job


@pytest.mark.parametrize("seed", range(1, TIMES + 1))
@pytest.mark.parametrize("ranks", ROUNDS)
def test_random_ones_give_what_the_reference_gives(run, ranks, seed):
    assert run(ranks, "mpich_collectives", ROUNDS[ranks], seed) == f"{ROUNDS[ranks]} rounds among {ranks}\n"


# With more ranks, Debian's MPICH 4.0 truncates messages of its collectives between two groups, without the
# face, too.
@pytest.mark.parametrize("seed", range(1, TIMES + 1))
@pytest.mark.parametrize("ranks", [1, 2])
def test_forms_of_collectives_give_what_the_reference_gives(run, ranks, seed):
    rounds = ROUNDS[ranks]
    assert run(ranks, "mpich_collective_forms", rounds, seed) == f"{rounds} rounds among {ranks}\n"


def test_several_threads_have_communicators_of_their_own(run):
    assert run(4, "mpich_collectives", "threads", 30, 1) == "30 rounds among 4\n"


@pytest.mark.parametrize("what", ["freed", "orders", "varied", "bottom", "truncated"])
def test_objects_are_made_and_freed_as_mpi_allows(run, what):
    assert run(3, "mpich_collective_objects", what) == f"{what} among 3\n"


@pytest.mark.parametrize("ranks", [1, 2, 5])
def test_predefined_operations_reduce_all_predefined_types(run, ranks):
    assert run(ranks, "mpi_face_reductions", ranks) == f"{PAIRS} pairs among {ranks}\n"


@pytest.mark.parametrize("ranks", [1, 2, 3, 8])
def test_neighbours_get_the_blocks_of_their_edges(run, ranks):
    assert run(ranks, "mpi_face_neighbourhoods", ranks) == f"neighbourhoods of {ranks}\n"


@pytest.mark.parametrize("ranks", [1, 3])
def test_a_wrong_argument_is_told_to_the_error_handler(run, ranks):
    assert run(ranks, "mpi_face_wrong_collectives") == "each error\n"

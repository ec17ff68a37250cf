# SPDX-License-Identifier: BSD-3-Clause
"""Derived datatypes in messages of the face, against MPI_Pack and MPI_Unpack of the MPI beneath."""
import pytest

RUN_LIMIT_S = 120
COMBINERS = 17  # functions that make types: all, and those with MPI_Count


@pytest.fixture
def run(user, nagaya, installation, folder):
    def run_job(words, **variables):
        if not installation.has(words[0]):
            pytest.skip("MPICH's compiler is not installed (Debian: libmpich-dev)")
        environment = {"LD_PRELOAD": installation.root / "lib" / "libnagaya-mpi.so", **variables}
        ended = user.run([nagaya, "run", "-n", 2, installation.program(words[0]), *words[1:]], cwd=folder,
                         env=environment, timeout=RUN_LIMIT_S)
        assert ended.code == 0, ended
        return ended.out
    return run_job


@pytest.mark.parametrize("seed, eager_bytes", [(1, "4096"), (2, "0"), (3, "65536")])
def test_random_types_arrive_as_mpi_packs_them(run, seed, eager_bytes):
    out = run(["mpi_face_types", seed, 200], NAGAYA_EAGER_BYTES=eager_bytes)
    assert out == f"200 types, by {COMBINERS} combiners\n"


def test_threads_use_a_new_type_at_once(run):
    assert run(["mpi_face_types", "threads"]) == "20 types in 4 threads\n"


@pytest.mark.full
@pytest.mark.parametrize("seed", range(10, 20))
def test_many_random_types_arrive_as_mpi_packs_them(run, seed):
    assert run(["mpi_face_types", seed, 1000]) == f"1000 types, by {COMBINERS} combiners\n"

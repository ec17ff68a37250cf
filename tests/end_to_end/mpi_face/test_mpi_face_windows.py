# SPDX-License-Identifier: BSD-3-Clause
"""Windows of the face: each function, random accesses against MPI_Pack, and situations in which those of MPIs fail."""
import re

import pytest
from hosts import SHARED_PROCESSORS
from mpi_builds import MpiBuilds

RUN_LIMIT_S = 120
MPIS = ["mpich", "openmpi"]
KINDS = 4  # of windows
FAULTS = ["strided", "concurrent", "swap", "refused", "huge", "computing", "loop"]


@pytest.fixture(scope="module")
def builds(user):
    return MpiBuilds(user)


@pytest.fixture
def run(user, nagaya, installation, folder):
    """Runs a job with the face, and without the components for Open MPI unless `beside` them. Returns its output."""
    def run_job(*words, ranks=2, beside=False, **variables):
        face = installation.root / "lib" / "libnagaya-mpi.so"
        carried = {"NAGAYA_MPI": "local"} if beside else {"LD_PRELOAD": face, "NAGAYA_MPI": "off"}
        ended = user.run([nagaya, "run", "-n", ranks, *words], cwd=folder, timeout=RUN_LIMIT_S,
                         env={**carried, **variables})
        assert ended.code == 0, ended
        return ended
    return run_job


@pytest.mark.parametrize("mpi, ranks", [("mpich", 1), ("mpich", 2), ("mpich", 5), ("openmpi", 2), ("openmpi", 16)])
def test_each_function_does_what_mpi_says(run, builds, mpi, ranks):
    program = builds.program(f"mpicc.{mpi}", "mpi_face_windows.c")
    assert run(program, "errors", ranks=ranks).out == f"windows of {ranks}\n"


@pytest.mark.parametrize("mpi, ranks, seed", [("mpich", 1, 1), ("mpich", 2, 2), ("openmpi", 5, 3), ("mpich", 16, 4)])
def test_random_accesses_move_and_reduce_as_mpi_packs(run, builds, mpi, ranks, seed):
    numbers = builds.program("gcc", "random_numbers.c", "-c")
    program = builds.program(f"mpicc.{mpi}", "mpi_face_window_random.c", numbers)
    accesses = 400 // (ranks + 1)
    assert run(program, seed, accesses, ranks=ranks).out == f"{accesses} accesses to each of {KINDS} windows\n"


@pytest.mark.full
@pytest.mark.parametrize("seed", range(10, 20))
def test_many_random_accesses_move_and_reduce_as_mpi_packs(run, builds, seed):
    numbers = builds.program("gcc", "random_numbers.c", "-c")
    program = builds.program("mpicc.mpich", "mpi_face_window_random.c", numbers)
    assert run(program, seed, 1000).out == f"1000 accesses to each of {KINDS} windows\n"


@pytest.mark.parametrize("mpi, ranks", [("mpich", 2), ("openmpi", 5)])
def test_situations_in_which_others_fail_are_right(run, builds, mpi, ranks):
    program = builds.program(f"mpicc.{mpi}", "mpi_face_window_faults.c", "-pthread")
    assert run(program, *FAULTS, ranks=ranks).out == "".join(f"{fault}: right\n" for fault in FAULTS)


def test_threads_make_windows_at_once(run, builds):
    program = builds.program("mpicc.mpich", "mpi_face_window_faults.c", "-pthread")
    assert run(program, "threads").out == "threads: right\n"


def test_many_windows_exist_at_once(run, builds):
    program = builds.program("mpicc.mpich", "mpi_face_window_faults.c", "-pthread")
    assert run(program, "many").out == "many: right\n"


@pytest.mark.parametrize("mpi", MPIS)
def test_fortran_finds_attributes_and_names(run, builds, mpi):
    marks = ["-DOPEN_MPI"] if mpi == "openmpi" else []
    program = builds.program(f"mpif90.{mpi}", "mpi_face_window_fortran.F90", "-ffree-line-length-none", *marks)
    assert run(program).out.strip() == "a window of 2"


def test_accesses_are_counted(run, builds):
    program = builds.program("mpicc.mpich", "mpi_face_window_faults.c", "-pthread")
    counts = re.search(r"and (\d+) accesses to windows went", run(program, "strided", NAGAYA_MPI_VERBOSE="1").err)
    assert counts and int(counts[1]) == 2 * 2 * 2, "two by each rank to each rank"


# ---- beside the components for Open MPI, which carry messages and collectives

@pytest.mark.parametrize("ranks", [1, 2, 16])
def test_each_function_works_beside_the_components(run, builds, needs_components, ranks):
    program = builds.program("mpicc.openmpi", "mpi_face_windows.c")
    assert run(program, "errors", ranks=ranks, beside=True).out == f"windows of {ranks}\n"


def test_random_accesses_are_right_beside_the_components(run, builds, needs_components):
    numbers = builds.program("gcc", "random_numbers.c", "-c")
    program = builds.program("mpicc.openmpi", "mpi_face_window_random.c", numbers)
    assert run(program, 5, 100, ranks=5, beside=True).out == f"100 accesses to each of {KINDS} windows\n"


def test_situations_in_which_others_fail_are_right_beside_the_components(run, builds, needs_components):
    program = builds.program("mpicc.openmpi", "mpi_face_window_faults.c", "-pthread")
    ended = run(program, *FAULTS, "many", ranks=3, beside=True, NAGAYA_MPI_VERBOSE="1")
    assert ended.out == "".join(f"{fault}: right\n" for fault in [*FAULTS, "many"])
    assert "by the components for Open MPI" in ended.err and "windows in the space" in ended.err
    assert re.search(r" [1-9]\d* accesses to windows went through the space", ended.err)


def test_with_another_pml_windows_are_open_mpis(run, builds, needs_components):
    """The components are there, but the user has chosen Open MPI's own messages. (Open MPI 4.1 makes no window over
    memory of one process.)"""
    program = builds.program("mpicc.openmpi", "mpi_face_window_faults.c", "-pthread")
    ended = run(program, "swap", beside=True, OMPI_MCA_pml="ob1", NAGAYA_MPI_VERBOSE="1")
    assert ended.out == "swap: right\n" and "pml/nagaya is not selected" in ended.err, ended


# ---- over hosts, beside the components

@pytest.fixture
def run_over(hosts, front, nagaya, folder, needs_components):
    def run_job(of_hosts, per_host, *words):
        names = ",".join(f"{name}:{per_host}" for name in hosts.names[:of_hosts])
        ended = front.run([nagaya, "run", "-n", of_hosts * per_host, "--hosts", names, *words], cwd=folder,
                          env={"NAGAYA_MPI": "on", "NAGAYA_MPI_VERBOSE": "1", "OMPI_MCA_pml": "nagaya", **SHARED_PROCESSORS},
                          timeout=RUN_LIMIT_S)
        assert ended.code == 0, ended
        assert re.search(r" [1-9]\d* accesses to windows went through the space", ended.err), ended
        return ended.out
    return run_job


@pytest.mark.parametrize("of_hosts, per_host", [(2, 1), (3, 2)])
def test_each_function_works_over_hosts(run_over, builds, of_hosts, per_host):
    program = builds.program("mpicc.openmpi", "mpi_face_windows.c")
    assert run_over(of_hosts, per_host, program, "errors") == f"windows of {of_hosts * per_host}\n"


@pytest.mark.parametrize("of_hosts, per_host", [(2, 1), (3, 2)])
def test_random_accesses_are_right_over_hosts(run_over, builds, of_hosts, per_host):
    numbers = builds.program("gcc", "random_numbers.c", "-c")
    program = builds.program("mpicc.openmpi", "mpi_face_window_random.c", numbers)
    assert run_over(of_hosts, per_host, program, 7, 60) == f"60 accesses to each of {KINDS} windows\n"

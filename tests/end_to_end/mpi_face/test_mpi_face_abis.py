# SPDX-License-Identifier: BSD-3-Clause
"""The face in front of Debian's MPIs, from C and from Fortran; in front of an MPI that it does not know; behind
tools; and where the MPI is not in the global scope."""
import pytest
from mpi_builds import MpiBuilds

RUN_LIMIT_S = 120
MPIS = ["mpich", "openmpi"]
INTERFACES = ["WITH_HEADER", "WITH_MODULE", "WITH_F08"]


@pytest.fixture(scope="module")
def builds(user):
    return MpiBuilds(user)


@pytest.fixture
def face(installation):
    return installation.root / "lib" / "libnagaya-mpi.so"


@pytest.fixture
def run(user, nagaya, face, folder):
    """Runs a job with the face, without the components for Open MPI."""
    def run_job(*words, ranks=2, tools=(), **variables):
        preload = ":".join(str(path) for path in (*tools, face))
        return user.run([nagaya, "run", "-n", ranks, *words], cwd=folder, timeout=RUN_LIMIT_S,
                        env={"LD_PRELOAD": preload, "NAGAYA_MPI": "off", **variables})
    return run_job


@pytest.mark.parametrize("ranks", [2, 3])
@pytest.mark.parametrize("mpi", MPIS)
def test_statuses_handles_and_constants_are_those_of_the_mpi(run, builds, mpi, ranks):
    ended = run(builds.program(f"mpicc.{mpi}", "mpi_face_abi.c"), ranks=ranks)
    assert (ended.code, ended.out) == (0, f"ours among {ranks}\n"), ended


@pytest.mark.parametrize("interface", INTERFACES)
@pytest.mark.parametrize("mpi", MPIS)
def test_fortran_has_requests_and_statuses_of_the_face(run, builds, mpi, interface):
    program = builds.program(f"mpif90.{mpi}", "mpi_face_fortran.F90", f"-D{interface}", "-ffree-line-length-none",
                             name=interface)
    ended = run(program)
    assert (ended.code, ended.out.strip()) == (0, "ours among 2"), ended


SENDS = 10  # of rank 0 in mpi_face_abi.c


@pytest.mark.parametrize("mpi", MPIS)
def test_a_tool_that_is_preloaded_sees_each_call_once(run, builds, mpi):
    tool = builds.program(f"mpicc.{mpi}", "mpi_face_tool.c", "-shared")
    ended = run(builds.program(f"mpicc.{mpi}", "mpi_face_abi.c"), tools=[tool])
    assert (ended.code, ended.out) == (0, f"ours among 2\n{SENDS} sends\n"), ended


@pytest.mark.parametrize("mpi", MPIS)
def test_a_tool_that_is_linked_sees_each_call_once(run, builds, mpi):
    tool = builds.program(f"mpicc.{mpi}", "mpi_face_tool.c", "-shared")
    ended = run(builds.program(f"mpicc.{mpi}", "mpi_face_abi.c", tool, name="with-tool"))
    assert (ended.code, ended.out) == (0, f"ours among 2\n{SENDS} sends\n"), ended


@pytest.mark.parametrize("mpi", MPIS)
@pytest.mark.parametrize("has_tool", [False, True])
def test_an_mpi_in_a_scope_of_its_own_is_found(run, builds, mpi, has_tool):
    tools = [builds.program(f"mpicc.{mpi}", "mpi_face_tool.c", "-shared")] if has_tool else []
    library = builds.program(f"mpicc.{mpi}", "mpi_face_abi.c", "-shared", *tools, name=f"library-{has_tool}")
    ended = run(builds.program("gcc", "loads_local.c"), library)
    said = f"ours among 2\n{SENDS} sends\n" if has_tool else "ours among 2\n"
    assert (ended.code, ended.out) == (0, said), ended


@pytest.fixture
def stub_program(builds):
    stub = builds.program("gcc", "mpi_face_stub.c", "-shared")
    return builds.program("gcc", "mpi_face_stub.c", "-DSTUB_PROGRAM", stub, name="stub-program")


def test_an_mpi_that_is_not_known_stays_as_it_is(run, stub_program):
    ended = run(stub_program, ranks=1)
    assert (ended.code, ended.out, ended.err) == (0, "hello\n", ""), ended


def test_a_function_that_an_unknown_mpi_lacks_is_named_an_error(run, stub_program):
    ended = run(stub_program, "barrier", ranks=1)
    assert ended.code == 125 and "that the loaded MPI lacks" in ended.err, ended

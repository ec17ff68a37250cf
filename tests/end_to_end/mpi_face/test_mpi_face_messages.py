# SPDX-License-Identifier: BSD-3-Clause
"""Messages, requests and buffers of the face, with MPICH's programs."""
import pytest
from mpi_builds import MpiBuilds

RUN_LIMIT_S = 120


@pytest.fixture
def run(user, nagaya, installation, folder):
    def run_job(words, ranks=2, **variables):
        if not installation.has(words[0]):
            pytest.skip("MPICH's compiler is not installed (Debian: libmpich-dev)")
        environment = {"LD_PRELOAD": installation.root / "lib" / "libnagaya-mpi.so", **variables}
        ended = user.run([nagaya, "run", "-n", ranks, installation.program(words[0]), *words[1:]], cwd=folder,
                         env=environment, timeout=RUN_LIMIT_S)
        assert ended.code == 0, ended
        return ended.out
    return run_job


@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_every_mode_of_sending_and_receiving(run, ranks):
    assert run(["mpich_modes"], ranks) == f"every mode among {ranks}\n"


@pytest.mark.parametrize("eager_bytes", ["0", "4096"])
def test_requests_of_the_face_and_of_the_mpi_beneath_end_together(run, eager_bytes):
    assert run(["mpi_face_completion"], NAGAYA_EAGER_BYTES=eager_bytes) == "every request ended\n"


def test_a_buffer_has_the_room_that_the_standard_promises(run):
    assert run(["mpi_face_buffers"]) == "every copy arrived\n"


def test_the_end_waits_for_buffered_sends(run):
    assert run(["mpi_face_buffers", "pending"]) == "every copy arrived\n"


def test_a_buffered_send_starts_again_while_another_thread_ends_it(run):
    assert run(["mpich_bsends", 2]) == "each start once\n"


@pytest.mark.parametrize("kind, count", [("turns", 1000), ("many", 20_000)])
def test_messages_keep_their_order(run, kind, count):
    assert run(["mpich_order", kind, count]) == f"{kind} in order among 2\n"


def test_without_memory_a_receive_ends_with_an_error(run):
    assert run(["mpich_no_memory"]) == "nothing lost\n"


# act of mpi_face_fatal.c: (the call that fails, its place)
FATAL = {"send": ("MPI_Send", "MPI_COMM_WORLD of 2 processes"), "wait": ("MPI_Wait", "MPI_COMM_WORLD of 2 processes"),
         "put": ("MPI_Put", "a window of 2 processes")}


@pytest.fixture
def run_fatal(user, nagaya, installation, folder):
    def run_job(mpi, act):
        program = MpiBuilds(user).program(f"mpicc.{mpi}", "mpi_face_fatal.c")
        face = installation.root / "lib" / "libnagaya-mpi.so"
        return user.run([nagaya, "run", "-n", 2, program, act], cwd=folder, timeout=RUN_LIMIT_S,
                        env={"LD_PRELOAD": face, "NAGAYA_MPI": "off"})
    return run_job


@pytest.mark.parametrize("mpi", ["mpich", "openmpi"])
@pytest.mark.parametrize("act", FATAL)
def test_the_call_that_ends_the_job_is_named(run_fatal, mpi, act):
    """The MPI beneath names only the function by which its error handler was called."""
    call, place = FATAL[act]
    ended = run_fatal(mpi, act)
    assert ended.code != 0 and f"nagaya: {call} on {place} has failed at rank " in ended.err, ended


def test_a_call_whose_error_is_returned_is_not_named(run_fatal):
    ended = run_fatal("mpich", "return")
    assert (ended.code, ended.out, ended.err) == (0, "goes on\n", ""), ended

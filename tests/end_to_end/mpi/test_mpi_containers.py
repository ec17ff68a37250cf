# SPDX-License-Identifier: BSD-3-Clause
"""Messages through the space where containers refuse what Open MPI's own shared memory wants: CMA
(process_vm_readv), and room in /dev/shm."""
import errno

import pytest

RUN_LIMIT_S = 240
OWN_MOUNTS = ["unshare", "-Urm"]
WITHOUT_SEGMENTS = {"OMPI_MCA_btl": "self"}  # else Open MPI makes those of its own all the same
ROOT_OF_A_NAMESPACE = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
NO_CMA = ["other-memory", errno.EPERM, "clone3", errno.ENOSYS]  # a container's usual filter
CONTAINERS = {
    "neither CMA nor clone3": ([], NO_CMA),
    "/dev/shm of 1 MiB": (OWN_MOUNTS, [*NO_CMA, "small", "/dev/shm"]),
    "/dev/shm read-only": (OWN_MOUNTS, [*NO_CMA, "cover", "/dev/shm"]),
}


@pytest.fixture
def contained(user, installation, request):
    """Runs words in such a container."""
    before, restrictions = CONTAINERS[request.param]
    if user.run([*before, "true"]).code != 0:
        pytest.skip("the kernel lets this user make no namespaces")
    words = list(before)
    for n in range(len(restrictions) - 2, -1, -2):  # mounts first: the filter stays for all
        words += [installation.program("restricted"), *restrictions[n:n + 2]]
    return lambda *command, **options: user.run([*words, *command], **options)


@pytest.mark.usefixtures("needs_components")
@pytest.mark.parametrize("contained", CONTAINERS, indirect=True)
@pytest.mark.parametrize("program", ["mpi_modes", "mpi_types"])
def test_messages_of_every_size_and_type(contained, nagaya, installation, leftovers, program):
    ended = contained(nagaya, "run", "-n", 4, installation.program(program),
                      env={"OMPI_MCA_pml": "nagaya", **WITHOUT_SEGMENTS, **ROOT_OF_A_NAMESPACE},
                      timeout=RUN_LIMIT_S)
    assert (ended.code, ended.err) == (0, ""), ended
    assert ended.out in ("every mode among 4\n", "every type among 4\n")
    left = leftovers.after_limit()
    assert not (left.processes or left.sockets or left.segments), left


@pytest.mark.parametrize("contained", list(CONTAINERS)[:1], indirect=True)
def test_the_filter_refuses_what_cma_needs(contained):
    """Else the tests above would show nothing."""
    script = ("import ctypes, os; libc = ctypes.CDLL(None, use_errno=True); "
              "libc.process_vm_readv(os.getpid(), None, 0, None, 0, 0); print(ctypes.get_errno())")
    assert contained("/usr/bin/python3", "-c", script).out == f"{errno.EPERM}\n"


@pytest.mark.usefixtures("needs_components")
def test_ranks_in_containers_of_their_own_share_one_space(user, mpirun, nagaya, installation):
    each = ["unshare", "--user", "--map-current-user", "--mount"]
    if user.run([*each, "true"]).code != 0:
        pytest.skip("the kernel lets this user make no namespaces")
    ended = user.run([*mpirun, "-n", 4, *each, nagaya, "exec",
                      installation.program("mpi_modes")],
                     env={"NAGAYA_MPI_VERBOSE": "1"}, timeout=RUN_LIMIT_S)
    assert (ended.code, ended.out) == (0, "every mode among 4\n"), ended
    assert "MPI_COMM_WORLD of 4 processes: in the space" in ended.err, ended

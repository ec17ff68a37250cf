# SPDX-License-Identifier: BSD-3-Clause
"""Jobs from an installation whose folder has a name that a shell or a list of paths would split, with
other users' words beside it: the job runs as everywhere, and nothing else does."""
import shutil

import pytest
from copied_installation import copied_installation
from hosts import SHARED_PROCESSORS
from refusals import OWN_FAILURE, expect_refusal

NAMES = {"blank": "My Projects", "colon": "My:Projects", "apostrophe": "My' Project's",
         "commands": "My $(touch ran) `touch ran`; touch ran",
         "line break": "My\nPro\tjects\x1b[31m", "quotes": '"My" $HOME'}


class OddPlace:
    def __init__(self, user, installation):
        self.user, self.folder = user, user.new_folder("odd")
        self.root = copied_installation(installation, self.folder / "first")
        self.decoy_ran = self.folder / "decoy-ran"

    def called(self, name):
        """Renames the installation; the program that a splitter would find runs visibly."""
        self.root = self.root.rename(self.folder / name)
        self.decoy_ran.unlink(missing_ok=True)
        decoy = self.folder / "My"
        self.user.new_file(decoy, f"#!/bin/sh\necho > '{self.decoy_ran}'\n", 0o755)
        return self.root / "bin/nagaya"


@pytest.fixture(scope="module")
def odd_place(user, installation):
    made = OddPlace(user, installation)
    yield made
    shutil.rmtree(made.folder)


@pytest.fixture(params=NAMES.values(), ids=NAMES)
def odd(request, odd_place, user, folder, leftovers):
    """The nagaya of such an installation. Nothing is carried out, and nothing is left."""
    yield odd_place.called(request.param)
    assert not odd_place.decoy_ran.exists()
    assert list(folder.iterdir()) == []
    left = leftovers.after_limit()
    assert not (left.processes or left.sockets or left.segments), left


def test_a_native_job_runs(odd, user, folder, installation):
    ended = user.run([odd, "run", "-n", 2, installation.program("sharing")], cwd=folder)
    assert ended.code == 0 and ended.err == "", ended


def test_ranks_of_open_mpi_are_tasks_and_use_our_components(odd, user, folder, installation,
                                                            needs_components):
    ended = user.run([odd, "run", "-n", 2, installation.program("mpi_start")], cwd=folder,
                     env={"OMPI_MCA_pml": "nagaya", **SHARED_PROCESSORS})
    assert (ended.code, ended.out) == (0, "met 2\n"), ended


@pytest.mark.parametrize("odd", [NAMES["blank"]], indirect=True)
def test_what_ranks_of_open_mpi_start_are_tasks(odd, user, folder, installation, needs_components):
    """The launcher's agent is asked for once more, long after mpirun has started."""
    ended = user.run([odd, "run", "-n", 2, installation.program("mpi_ending"), "spawn", 2],
                     cwd=folder, env=SHARED_PROCESSORS)
    assert ended.code == 0 and "spawned: " in ended.out, ended


@pytest.mark.parametrize("odd", [NAMES["colon"], NAMES["commands"]], indirect=True)
def test_ranks_of_mpich_are_tasks(odd, user, folder, installation):
    if not installation.has("mpich_ending"):
        pytest.skip("MPICH is not installed")
    ended = user.run([odd, "run", "-n", 2, installation.program("mpich_ending"), "exit", 3],
                     cwd=folder)
    assert ended.code == 3, ended


MAPPED = "import os; print('libnagaya-blacs' in open(f'/proc/{os.getpid()}/maps').read())"


@pytest.mark.parametrize("way", ["run", "mpirun"])
def test_the_blacs_are_replaced(odd, user, folder, mpirun, way):
    """In jobs that nagaya starts itself, and in those of a launcher, where a process of each task
    is replaced by the one that waits for it."""
    if not (odd.parent.parent / "lib/libnagaya-blacs.so.0").exists():
        pytest.skip("ScaLAPACK is not installed")
    words = {"run": [odd, "run", "--blacs", "-n", 2],
             "mpirun": [*mpirun, "-n", 2, odd, "exec"]}[way]
    ended = user.run([*words, "/usr/bin/python3", "-c", MAPPED], cwd=folder,
                     env={"NAGAYA_BLACS": "on", **SHARED_PROCESSORS})
    assert (ended.code, ended.out, ended.err) == (0, "True\n" * 2, ""), ended


@pytest.mark.parametrize("odd", [NAMES["line break"]], indirect=True)
def test_other_hosts_are_refused(odd, user, folder, installation, leftovers):
    ended = user.run([odd, "run", "-n", 2, "--hosts", "a,b", installation.program("mpi_start")],
                     cwd=folder)
    expect_refusal(ended, leftovers, OWN_FAILURE, "bin/nagaya", "other hosts", "install Nagaya in")


def test_blacs_that_are_not_installed_are_an_error(odd_place, user, folder, installation, leftovers):
    """ld.so would say so and go on with the others."""
    nagaya = odd_place.called("plain")
    libraries = list((nagaya.parent.parent / "lib").glob("libnagaya-blacs.so*"))
    for library in libraries:
        library.rename(library.with_suffix(".away"))
    try:
        ended = user.run([nagaya, "run", "--blacs", "-n", 2, installation.program("sharing")],
                         cwd=folder)
        expect_refusal(ended, leftovers, 127, "libnagaya-blacs.so.0", "is missing")
    finally:
        for library in libraries:
            library.with_suffix(".away").rename(library)

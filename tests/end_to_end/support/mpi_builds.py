# SPDX-License-Identifier: BSD-3-Clause
"""Programs of tests/programs, built by the compilers of an MPI."""
import pathlib
import shutil
import subprocess

import pytest

PROGRAMS = pathlib.Path(__file__).resolve().parents[2] / "programs"
OPTIONS = ["-O1", "-D_GNU_SOURCE", "-I", PROGRAMS]


class MpiBuilds:
    """Builds into the user's folder what is not there yet."""

    def __init__(self, user):
        self.folder = user.new_folder("mpi-builds")

    def program(self, compiler, source, *options, name=None):
        """The program; the library, with the option -shared; or the object, with -c."""
        if not shutil.which(compiler):
            pytest.skip(f"{compiler} is not installed")
        source = PROGRAMS / source
        path = self.folder / f"{pathlib.Path(compiler).name}-{name or source.stem}"
        if not path.exists():
            kind = ["-fPIC"] if {"-shared", "-c"} & set(options) else ["-fPIE", "-pie"]
            subprocess.run([compiler, *OPTIONS, *kind, "-o", path, source, *options], check=True)
        return path

# SPDX-License-Identifier: BSD-3-Clause
"""Debian's MPICH, and the MPIs that NAGAYA_BENCH_MPIS gave to the build. The source tree and an
installation have none of the latter."""

import json
import os
import pathlib
import subprocess
from collections.abc import Callable

from jobs import Job

FILE = pathlib.Path(__file__).resolve().parent / "mpis.json"
XHC = {"OMPI_MCA_coll_xhc_priority": "100"}  # 0 unless told


def mpich(program: str, name: str = "MPICH", environment: dict = {}) -> Job:
    return Job(name, program=f"{program}-mpich", is_plain=True, launchers=("mpiexec.mpich",),
               environment=environment)


def present() -> dict:
    """Returns the folders of the MPIs that still exist, by name."""
    mpis = json.loads(FILE.read_text()) if FILE.exists() else {}
    return {name: folder for name, folder in mpis.items()
            if pathlib.Path(folder, "bin/mpiexec").exists()}


def libraries(folder: str) -> dict:
    return {"LD_LIBRARY_PATH": f"{folder}/lib"}


def has_xhc(folder: str) -> bool:
    info = pathlib.Path(folder, "bin/ompi_info")  # only Open MPI has it
    return info.exists() and "coll: xhc" in subprocess.run(
        [info], env={**os.environ, **libraries(folder)}, capture_output=True, text=True,
        check=False).stdout


def jobs_of(program: str, word: str = "", environment: dict = {},
            is_wanted: Callable = lambda folder: True) -> list[Job]:
    return [Job(f"{name} {word}".rstrip(), program=f"{program}-{name}", is_plain=True,
                launchers=(f"{folder}/bin/mpiexec",),
                environment={**libraries(folder), **environment})
            for name, folder in present().items() if is_wanted(folder)]

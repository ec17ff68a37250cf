# SPDX-License-Identifier: BSD-3-Clause
"""Debian's programs as they are - LAMMPS, HPCC, ScaLAPACK's testers - through the space, beside Open
MPI itself. Whole runs, from the launcher's start to its end, whose results must be equal."""

import dataclasses
import pathlib
import re
import shutil
import time
from collections.abc import Callable

import jobs
import machine
from debian_programs import without_condition_estimates
from jobs import Comparison, Failed, Job, Jobs, Skipped
from ordinary_user import OrdinaryUser

LIMIT_S, ROUNDS = 600, 5
QUICK = "scalapack xdlu"
STOCK, OURS, BLACS = "Open MPI", "Nagaya", "Nagaya BLACS"
ENVIRONMENTS = {STOCK: {}, OURS: {"NAGAYA_MPI": "on"},
                BLACS: {"NAGAYA_MPI": "on", "NAGAYA_BLACS": "on"}}


@dataclasses.dataclass(frozen=True)
class Application:
    name: str
    program: pathlib.Path | None  # None: it is not installed
    arguments: list
    inputs: list
    ranks: int
    result_of: Callable  # (standard output, working directory) -> what all jobs must agree on
    jobs: tuple = (STOCK, OURS)


def installed(name: str) -> pathlib.Path | None:
    path = shutil.which(name)
    return pathlib.Path(path) if path else None


def found_in(pattern: str, text: str) -> str:
    """Returns all matches of `pattern`; raises Failed if there is none."""
    found = re.findall(pattern, text, re.M | re.S)
    if not found:
        raise Failed(f"the result is missing: {text[-1000:]}")
    return " ".join(found)


def thermo_table(out: str, _folder: pathlib.Path) -> str:
    return found_in(r"^ *Step .*?(?=^Loop time)", out)


def success_of_hpcc(_out: str, folder: pathlib.Path) -> str:
    return found_in(r"^Success=1$", (folder / "hpccoutf.txt").read_text())


def counts_of_tester(out: str, _folder: pathlib.Path) -> str:
    """Returns the counts in a tester's summary, without the times, such as
    `    352 tests completed and passed residual checks.`"""
    return found_in(r"\d+ tests [^\n]*", out)


def applications() -> list[Application]:
    testers = next(iter(sorted(pathlib.Path("/usr/lib").glob("*/scalapack/openmpi-tests"))), None)
    return [
        Application("lammps", installed("lmp"), ["-in", "melt.in", "-log", "none"],
                    [machine.FOLDER / "melt.in"], 16, thermo_table),
        Application("hpcc", installed("hpcc"), [], [machine.FOLDER / "hpccinf.txt"], 4, success_of_hpcc),
        *(Application(f"scalapack {name}", testers and testers / name, [],
                      [testers / data] if testers else [], 4, counts_of_tester,
                      (STOCK, OURS, BLACS))
          for name, data in (("xdlu", "LU.dat"), ("xdqr", "QR.dat"), ("xdbrd", "BRD.dat")))]


def run(_program: str, _arguments: list[str], quick: bool, rounds: int | None) -> dict:
    figures = {}
    for one in applications():
        if one.program is None or (quick and one.name != QUICK):
            continue
        names = [name for name in one.jobs if name != STOCK]
        plan = Jobs(hosts=1, tasks_each=one.ranks, setting=one.name, rounds=ROUNDS,
                    measured_by=Stopwatch(one).measure,
                    jobs=[Job(name, environment=ENVIRONMENTS[name], is_plain=name == STOCK)
                          for name in one.jobs],
                    comparisons=[Comparison(name, [STOCK]) for name in names])
        figures |= jobs.run(plan, str(one.program), [], quick, rounds)["figures"]
    if not figures:
        raise Skipped("none of lammps, hpcc and scalapack-mpi-test is installed")
    return {**machine.of_own_program(), "figures": figures}


class Stopwatch:
    """Runs an application, and compares each result with the first one."""

    def __init__(self, application: Application):
        self.application, self.result = application, None

    def measure(self, user: OrdinaryUser, job: Job, words: list) -> dict:
        own = self.application
        folder = user.new_folder(own.name.replace(" ", "-"))
        for path in own.inputs:
            user.new_file(folder / path.name, without_condition_estimates(path.read_text()))
        words = [*words[:words.index(own.program) + 1], *own.arguments]  # not the driver's options
        begin = time.monotonic()
        try:
            ended = user.run(words, cwd=folder, timeout=LIMIT_S,
                             env={**jobs.UNBOUND, "OMP_NUM_THREADS": "1",
                                  "OPENBLAS_NUM_THREADS": "1", **job.environment})
        except AssertionError as error:  # it did not end
            raise Failed(f"{own.name}, {job.name}: {error}") from None
        wall_s = time.monotonic() - begin
        if ended.code != 0:
            raise Failed(f"{own.name}, {job.name}: ended with {ended.code}: {ended.err[-1000:]}")
        self.check(job, own.result_of(ended.out, folder))
        return {"figures": {"time": {"title": "time", "unit": "s", "subject": {"p50": wall_s}}}}

    def check(self, job: Job, result: str) -> None:
        self.result = self.result or result
        if result != self.result:
            raise Failed(f"{self.application.name}: {job.name} has other results: {result[-1000:]}")

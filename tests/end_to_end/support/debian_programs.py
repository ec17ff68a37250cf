# SPDX-License-Identifier: BSD-3-Clause
"""Results of Debian's programs, taken from their output, and where Debian has some of them."""
import pathlib
import re


def thermo_table(out):
    rows = re.split(r"\n *Step", out, maxsplit=1)[1].split("\nLoop time", 1)[0].splitlines()[1:]
    return [row.split() for row in rows]


def scalapack_tester(name):
    found = sorted(pathlib.Path("/usr/lib").glob(f"*/scalapack/openmpi-tests/{name}"))
    assert found, "scalapack-mpi-test is not installed"
    return found[0]


def results_of_tester(out):
    """Of its summary: `    352 tests completed and passed residual checks.` and the like."""
    def total(what):
        return sum(int(number) for number in re.findall(rf"(\d+) tests {what}", out))
    return {"passed": total("completed and passed"), "failed": total("completed and failed"),
            "unchecked": total("completed without checking"), "skipped": total("skipped")}

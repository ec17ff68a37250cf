# SPDX-License-Identifier: BSD-3-Clause
"""Finds some of Debian's programs, and reads their results from their output."""
import pathlib
import re


def thermo_table(out):
    rows = re.split(r"\n *Step", out, maxsplit=1)[1].split("\nLoop time", 1)[0].splitlines()[1:]
    return [row.split() for row in rows]


def scalapack_tester(name):
    found = sorted(pathlib.Path("/usr/lib").glob(f"*/scalapack/openmpi-tests/{name}"))
    assert found, "scalapack-mpi-test is not installed"
    return found[0]


def without_condition_estimates(text):
    """Returns a tester's input without estimates of conditions: ScaLAPACK's p?lacon reads
    uninitialised memory (docs/bugs.md), so now and then its processes take different branches and
    wait for each other for ever."""
    return re.sub(r"^T(\s+\(T or F\) Test Cond)", r"F\1", text, flags=re.MULTILINE)


def input_of_tester(tester, name):
    """Returns the input file of a tester's package, but without condition estimates."""
    return without_condition_estimates((tester.parent / name).read_text())


def results_of_tester(out):
    """Returns the counts in a tester's summary, of lines such as
    `    352 tests completed and passed residual checks.`"""
    def total(what):
        return sum(int(number) for number in re.findall(rf"(\d+) tests {what}", out))
    return {"passed": total("completed and passed"), "failed": total("completed and failed"),
            "unchecked": total("completed without checking"), "skipped": total("skipped")}

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


def input_of_tester(tester, name):
    """Its package's, but without condition estimates: ScaLAPACK's p?lacon reads what nobody has written
    (docs/bugs.md), so that now and then its processes go different ways and wait for each other for
    ever."""
    text = (tester.parent / name).read_text()
    return re.sub(r"^T(\s+\(T or F\) Test Cond)", r"F\1", text, flags=re.MULTILINE)


def results_of_tester(out):
    """Of its summary: `    352 tests completed and passed residual checks.` and the like."""
    def total(what):
        return sum(int(number) for number in re.findall(rf"(\d+) tests {what}", out))
    return {"passed": total("completed and passed"), "failed": total("completed and failed"),
            "unchecked": total("completed without checking"), "skipped": total("skipped")}

# SPDX-License-Identifier: BSD-3-Clause
"""The tables of docs/coming-from-mpirun.md: each example prints what its row says, and each option of
another launcher works or gets an answer that names ours."""
import dataclasses
import os
import pathlib
import re
import shlex

import pytest
from refusals import OWN_FAILURE

PAGE = pathlib.Path(__file__).resolve().parents[3] / "docs" / "coming-from-mpirun.md"
NAMES = ["mpirun", "mpiexec", "srun"]
HEADER = ["", *NAMES, "nagaya run", "example", "prints"]


@dataclasses.dataclass
class Row:
    name: str
    theirs: list  # options of other launchers
    ours: list
    example: str
    lines: list  # of its output and errors; None: not said
    status: int

    def needs_two_cores(self):
        return "PE=2" in self.example


def codes_in(cell):
    return re.findall(r"`([^`]+)`", cell)


def row_of(cells):
    what, *theirs, ours, example, prints = cells
    status = re.search(r"exit status (\d+)", prints)
    lines = codes_in(prints)
    return Row(what, [code for cell in theirs for code in codes_in(cell)], codes_in(ours),
               *codes_in(example), lines if lines or prints == "nothing" else None,
               int(status.group(1)) if status else 0)


def rows_of_page():
    lines = [line for line in PAGE.read_text().splitlines() if line.startswith("|")]
    tables = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    assert tables.count(HEADER) == 5, tables
    return [row_of(cells) for cells in tables if cells != HEADER and set("".join(cells)) != {"-"}]


ROWS = rows_of_page()
OPTIONS = [(option, row) for row in ROWS for option in row.theirs]


def cores():
    """How many cores this process may use."""
    shared = {pathlib.Path(f"/sys/devices/system/cpu/cpu{cpu}/topology/core_cpus_list").read_text()
              for cpu in os.sched_getaffinity(0)}
    return len(shared)


@pytest.fixture
def place(user, folder):
    """The folder of the examples."""
    user.new_file(folder / "words", "words\n")
    user.new_file(folder / "hosts", "localhost slots=4\n")
    return folder


def is_like(line, pattern):
    return re.fullmatch(".*".join(map(re.escape, pattern.split("…"))), line)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_the_example_prints_what_its_row_says(user, nagaya, place, row):
    if row.needs_two_cores() and cores() < 2:
        pytest.skip("there is one core only")
    path = f"{nagaya.parent}:{user.environment()['PATH']}"
    ended = user.run(["sh", "-c", row.example], cwd=place, env={"PATH": path}, timeout=60)
    assert ended.code == row.status, ended
    if row.lines is not None:
        said = sorted((ended.out + ended.err).splitlines())
        assert len(said) == len(row.lines) and all(map(is_like, said, sorted(row.lines))), ended


@pytest.mark.parametrize("option, row", OPTIONS, ids=[option for option, _ in OPTIONS])
def test_an_option_of_another_launcher_works_or_is_answered_by_ours(user, nagaya, place, option, row):
    if row.needs_two_cores() and cores() < 2:
        pytest.skip("there is one core only")
    ended = user.run([nagaya, "run", *shlex.split(option), "true"], cwd=place, timeout=60)
    if ended.code == 0:
        assert option.split()[0].split("=")[0].lstrip("-") in " ".join(row.ours), ended
        return
    assert ended.code == OWN_FAILURE and len(ended.err.splitlines()) == 1, ended
    ours = [word.split("=")[0] for code in row.ours for word in code.split() if word[0] == "-"]
    assert any(f" {word}" in ended.err for word in ours or ["leave"]), (ours, ended)

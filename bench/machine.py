# SPDX-License-Identifier: BSD-3-Clause
"""Where and when a measurement was made."""

import datetime
import json
import os
import pathlib
import subprocess

DIRTY = "-dirty"  # how `git describe` marks a tree with uncommitted changes
FOLDER = pathlib.Path(__file__).resolve().parent


def load_text() -> str:
    """The load average: a measurement on a busy machine says little."""
    return " ".join(f"{load:.2f}" for load in os.getloadavg())


def describe(run: dict) -> dict:
    """From the JSON of any benchmark of the run: machine, commit; and the date of today."""
    return {
        **run["machine"],
        "commit": run["commit"],
        "date": datetime.date.today().isoformat(),
        "load_before": load_text(),
    }


def of_own_program() -> dict:
    """For a benchmark whose programs do not name their machine: the shortest of our own names
    it."""
    return json.loads(subprocess.check_output([FOLDER / "cache-line", "--quick", "--json"]))

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
    """Returns the load average: a measurement on a busy machine says little."""
    return " ".join(f"{load:.2f}" for load in os.getloadavg())


def describe(run: dict) -> dict:
    """Returns machine and commit from the JSON of any benchmark of the run, with today's date."""
    return {
        **run["machine"],
        "commit": run["commit"],
        "date": datetime.date.today().isoformat(),
        "load_before": load_text(),
    }


def of_own_program() -> dict:
    """Returns the JSON of the shortest of our own programs, which names machine and commit: for a
    benchmark whose programs do not name them."""
    return json.loads(subprocess.check_output([FOLDER / "cache-line", "--quick", "--json"]))

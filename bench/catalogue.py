# SPDX-License-Identifier: BSD-3-Clause
"""The benchmarks by name, and how one is run."""

import json
import pathlib
import subprocess
import tempfile

FOLDER = pathlib.Path(__file__).resolve().parent

# Name -> program beside this file, its arguments, what it is. In the order of `all`.
BENCHMARKS = {
    "cache-line": ("cache-line", [], "floor: one word between two cores"),
    "copy-bandwidth": ("copy-bandwidth", [], "floor: memcpy by one core and by two"),
    "mailbox-floor": ("mailbox-floor", [], "floor: 8 bytes and a flag, one line or two"),
    "yield": ("yield", [], "floor: turns handed on by sched_yield on one core"),
    "task-start": ("task-start", [], "240 small programs: time to start, page tables"),
    "page_fault": ("resource", ["page_fault"], "first touch of fresh 4 KiB pages"),
    "map_unmap": ("resource", ["map_unmap"], "mmap and munmap of 64 KiB"),
    "protect": ("resource", ["protect"], "mprotect of 64 KiB"),
    "thread": ("resource", ["thread"], "thread creation and join"),
    "malloc_mixed": ("resource", ["malloc_mixed"], "malloc of mixed blocks up to 2 MB"),
    "malloc_fixed": ("resource", ["malloc_fixed"], "malloc of reused blocks, 64 B to 64 MiB"),
    "mailbox": ("mailbox", [], "a message through a mailbox"),
    "rank-tables": ("rank-tables", [], "2^20 ranks: memory of a node and look-ups, by communicator"),
    "switch": ("resource", ["switch"], "context switch between tasks of one core"),
}


class Failed(Exception):
    """A benchmark could not measure, or its data check failed."""


def run(name: str, quick: bool, rounds: int | None) -> dict:
    """Runs one benchmark and returns its JSON. Its progress goes to stderr."""
    program, arguments, _ = BENCHMARKS[name]
    command = [str(FOLDER / program), *arguments, "--json"]
    command += ["--quick"] if quick else []
    command += ["--rounds", str(rounds)] if rounds else []
    with tempfile.TemporaryFile("w+") as output:
        ended = subprocess.run(command, stdout=output, stdin=subprocess.DEVNULL, check=False)
        if ended.returncode != 0:
            raise Failed(f"{name} ended with {ended.returncode}")
        output.seek(0)
        return json.load(output)

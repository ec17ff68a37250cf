#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Checks a promela model by spin, exhaustively.

    check_model.py MODEL right|wrong [-DNAME...]

right: the search must be complete and find no error; wrong: it must find one (the model was broken
on purpose by a -D).
"""
import pathlib
import subprocess
import sys
import tempfile


def search(model, defines, folder):
    """The output of pan."""
    for command in (["spin", *defines, "-a", model],
                    ["cc", "-O2", "-w", "-DSAFETY", "-DCOLLAPSE", "-o", "pan", "pan.c"]):
        subprocess.run(command, cwd=folder, check=True)
    ended = subprocess.run(["./pan", "-m200000"], cwd=folder, check=True, stdout=subprocess.PIPE)
    return ended.stdout.decode()


def main():
    model, expected, *defines = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        said = search(pathlib.Path(model).resolve(), defines, folder)
    print(said)
    complete = "not completed" not in said and "max search depth too small" not in said
    if expected == "right":
        return 0 if complete and "errors: 0" in said else 1
    return 0 if "errors: 1" in said else 1


if __name__ == "__main__":
    sys.exit(main())

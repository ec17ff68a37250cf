#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Every C and C++ file is as clang-format 14 writes it (other versions differ in details).

    check_format.py REPOSITORY [--fix]
"""
import concurrent.futures
import os
import re
import shutil
import subprocess
import sys

ROOTS = ["src", "include", "faces", "tools", "bench", "demo", "tests"]
SKIPPED = 77
PARTS = 16


def sources(repository):
    for root in ROOTS:
        for folder, folders, files in os.walk(os.path.join(repository, root)):
            folders[:] = [name for name in folders if name != "corpus"]
            for name in sorted(files):
                if name.endswith((".c", ".cc", ".h")):
                    yield os.path.join(folder, name)


def differing_of(program, paths):
    ended = subprocess.run([program, "--dry-run", "-Werror", *paths], capture_output=True, text=True,
                           check=False)
    named = set(re.findall(r"^(.+?):\d+:\d+: ", ended.stderr, re.MULTILINE))
    if ended.returncode != 0 and not named:  # it says something else
        sys.exit(ended.stderr)
    return named


def main():
    program = shutil.which("clang-format-14")
    if program is None:
        print("skipped: clang-format-14 is not installed")
        return SKIPPED
    paths = list(sources(sys.argv[1]))
    if "--fix" in sys.argv:
        return subprocess.run([program, "-i", *paths], check=False).returncode
    # Several files for each process, for its start takes as long as a small file.
    parts = [paths[n::PARTS] for n in range(PARTS)]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        differing = sorted(set().union(*pool.map(lambda part: differing_of(program, part), parts)))
    for path in differing:
        print(f"{os.path.relpath(path, sys.argv[1])}: not as clang-format 14 writes it")
    if differing:
        print(f"{len(differing)} files; to put them right: "
              f"{os.path.relpath(sys.argv[0], sys.argv[1])} . --fix")
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Every C and C++ file is as clang-format 14 writes it (other versions differ in details).

    check_format.py REPOSITORY [--fix]
"""
import os
import shutil
import subprocess
import sys

ROOTS = ["src", "include", "faces", "tools", "bench", "demo", "tests"]
SKIPPED = 77


def sources(repository):
    for root in ROOTS:
        for folder, folders, files in os.walk(os.path.join(repository, root)):
            folders[:] = [name for name in folders if name != "corpus"]
            for name in sorted(files):
                if name.endswith((".c", ".cc", ".h")):
                    yield os.path.join(folder, name)


def main():
    program = shutil.which("clang-format-14")
    if program is None:
        print("skipped: clang-format-14 is not installed")
        return SKIPPED
    paths = list(sources(sys.argv[1]))
    if "--fix" in sys.argv:
        return subprocess.run([program, "-i", *paths], check=False).returncode
    differing = [path for path in paths
                 if subprocess.run([program, "--dry-run", "-Werror", path], capture_output=True,
                                   check=False).returncode != 0]
    for path in differing:
        print(f"{os.path.relpath(path, sys.argv[1])}: not as clang-format 14 writes it")
    if differing:
        print(f"{len(differing)} files; to put them right: "
              f"{os.path.relpath(sys.argv[0], sys.argv[1])} . --fix")
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())

# SPDX-License-Identifier: BSD-3-Clause
"""Finds the programs under test: in the build tree named by NAGAYA_BUILD, or in a copy of its
programs when the ordinary user may not read it (a build under root's home)."""
import os
import pathlib
import shutil

import pytest

PARTS = ["bin", "demo", "include", "lib", "libexec", "tests/programs"]


class Installation:
    def __init__(self, user):
        self.root = build_folder()
        if not (self.root / "tests" / "programs" / "sharing").exists():
            pytest.exit(f"{self.root} holds no built tests; NAGAYA_BUILD names the build tree", 2)
        self.root = user.copy_if_unreadable(self.root, PARTS)
        self.nagaya = self.root / "bin" / "nagaya"

    def has(self, name):
        return (self.root / "tests" / "programs" / name).exists()

    def program(self, name):
        assert self.has(name), f"{name} is not built"
        return self.root / "tests" / "programs" / name

    def copied_to(self, folder):
        """Copies to `folder` the parts that each installation has."""
        for part in ("bin", "lib", "libexec"):
            shutil.copytree(self.root / part, folder / part, symlinks=True,
                            ignore=shutil.ignore_patterns("bench"))
        return folder


def build_folder():
    default = pathlib.Path(__file__).resolve().parents[3] / "build"
    return pathlib.Path(os.environ.get("NAGAYA_BUILD", default)).resolve()

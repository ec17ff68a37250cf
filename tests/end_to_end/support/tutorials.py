# SPDX-License-Identifier: BSD-3-Clause
"""A reader of the tutorials, who has Nagaya in the build folder and does what they say."""
import pathlib
import shutil

import page
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[3]
PAGES = sorted((ROOT / "docs/tutorial").glob("*.md"))
SLURM, HOSTS = "Slurm", "two hosts"
PLACES = {"", SLURM, HOSTS, "a fresh Debian with the wheel", "a fresh Debian with the packages"}


class Reader:
    def __init__(self, user, installation, folder):
        self.user, self.installation, self.folder = user, installation, folder
        self.names_of_hosts = []
        shutil.copytree(ROOT / "examples", folder / "examples")

    def needs_xmpcc(self):
        if not (self.installation.root / "bin/xmpcc").exists():
            pytest.skip("xmpcc is not built: Debian's libclang-14-dev or libclang-19-dev is not installed")

    def follow(self, path, place="", user=None, variables=None, timeout=60):
        """Does what a page says, or what it says for one of the places alone, where `user` runs the commands."""
        tutorial = page.Page(path)
        for name, text in tutorial.files.items():
            self.user.new_file(self.folder / name, text)
        chosen = tutorial.only_in_place(place) if place else tutorial.in_place("")
        commands = [page.on_hosts(command, self.names_of_hosts) for command in chosen]
        root = self.installation.root
        environment = {"PATH": f"{root / 'bin'}:/usr/bin:/bin",  # not a python3 in /usr/local
                       "PKG_CONFIG_PATH": str(root / "lib/pkgconfig"),
                       "PYTHONPATH": str(root / "lib/python3/dist-packages"), **(variables or {})}
        ended = (user or self.user).run(["bash", "-c", page.script_of(commands)], cwd=self.folder, env=environment,
                                        timeout=timeout)
        page.check(commands, ended.out)

# SPDX-License-Identifier: BSD-3-Clause
"""The version of packages and of the wheel grows with each commit, and is plain at a release's tag and outside of a
clone."""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

TREE = pathlib.Path(sys.argv[1])
AUTHOR = {"GIT_AUTHOR_NAME": "A", "GIT_AUTHOR_EMAIL": "a@localhost", "GIT_COMMITTER_NAME": "A",
          "GIT_COMMITTER_EMAIL": "a@localhost"}


def run(folder, *words, **environment):
    return subprocess.run([str(word) for word in words], cwd=folder, check=True, stdout=subprocess.PIPE, text=True,
                          env={**os.environ, **AUTHOR, **environment}).stdout.strip()


def commit(folder, date):
    run(folder, "git", "add", ".")
    run(folder, "git", "commit", "--quiet", "--allow-empty", "--message", date, GIT_COMMITTER_DATE=date)


def main():
    plain = re.search(r"project\(nagaya VERSION ([\d.]+)", (TREE / "CMakeLists.txt").read_text())[1]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "packaging").mkdir()
        shutil.copy(TREE / "CMakeLists.txt", folder)
        script = shutil.copy(TREE / "packaging/version.sh", folder / "packaging")
        assert run("/", script) == plain
        assert run("/", script, NAGAYA_PACKAGE_VERSION="1.2+of.a.clone") == "1.2+of.a.clone"
        run(folder, "git", "init", "--quiet")
        commit(folder, "2026-11-29T09:59:59+0100")
        first = run("/", script)
        assert re.fullmatch(re.escape(plain) + r"\+git20261129085959\.g[0-9a-f]{8,}", first), first
        commit(folder, "2026-11-29T09:00:00+0000")
        second = run("/", script)
        for earlier, later in ((plain, first), (first, second)):
            run(folder, "dpkg", "--compare-versions", earlier, "lt", later)
        run(folder, "git", "tag", f"v{plain}")
        assert run("/", script) == plain


main()

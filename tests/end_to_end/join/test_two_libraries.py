# SPDX-License-Identifier: BSD-3-Clause
"""A process that uses a libnagaya of another build than its host, or two of them, ends with a clear
line: it would take no part, or half of one, and the others would wait for it."""
import re
import shutil

import pytest
from refusals import OWN_FAILURE

LIBRARY = "libnagaya.so.0"


@pytest.fixture
def library(installation):
    return (installation.root / "lib" / LIBRARY).resolve()


@pytest.fixture
def other(user, folder, library):
    """A copy of the library in a folder of its own."""
    path = folder / "other" / LIBRARY
    path.parent.mkdir()
    shutil.copy(library, path)
    for one in (path.parent, path):
        user.own(one)
    return path


@pytest.fixture
def run(user, nagaya, installation):
    def start(*words, **environment):
        return user.run([nagaya, "run", "-n", 1, installation.program("two_libraries"), *words], env=environment)
    return start


def expect_one_line(ended, *words):
    lines = [line for line in ended.err.splitlines() if "one installation" in line]
    assert ended.code == OWN_FAILURE and len(lines) == 1, ended
    assert all(str(word) in lines[0] for word in words), ended


def test_a_library_of_another_build_ends_the_process(run, other):
    content, count = re.subn(rb"nagaya-build:[0-9a-f]{16}", b"nagaya-build:0123456789abcdef", other.read_bytes())
    assert count == 1
    other.write_bytes(content)
    expect_one_line(run(LD_LIBRARY_PATH=str(other.parent)), other, "different versions")


def test_one_of_the_same_build_serves(run, other):
    ended = run(LD_LIBRARY_PATH=str(other.parent))
    assert (ended.code, ended.err) == (0, ""), ended


def test_two_libraries_in_a_process_end_it(run, other):
    expect_one_line(run(other), other, "two libraries")


def test_one_library_by_two_names_is_one(run, library):
    ended = run(library)
    assert (ended.code, ended.err) == (0, ""), ended

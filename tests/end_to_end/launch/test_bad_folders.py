# SPDX-License-Identifier: BSD-3-Clause
"""The folder of the sockets: one that is not the user's alone is refused and named."""
import os
import shutil

import pytest
from refusals import OWN_FAILURE, expect_refusal


@pytest.fixture
def short_job(nagaya, installation):
    return [nagaya, "exec", installation.program("plain_ending"), "exit", "5"]


def as_file(user, path):
    user.new_file(path, b"")


def as_link(user, path):
    target = user.new_folder("target")
    target.chmod(0o700)
    path.symlink_to(target)


def with_mode(mode):
    def make(user, path):
        path.mkdir()
        user.own(path)
        path.chmod(mode)
    return make


BAD_FOLDERS = {"readable by others": with_mode(0o755), "writable by a group": with_mode(0o770),
               "a file": as_file, "a link": as_link, "not writable": with_mode(0o500),
               "not searchable": with_mode(0o600)}


@pytest.mark.parametrize("what", BAD_FOLDERS)
def test_a_bad_folder_for_sockets_is_named(user, short_job, folder, leftovers, what):
    path = folder / f"nagaya-{user.uid}"
    BAD_FOLDERS[what](user, path)
    ended = user.run(short_job, env={"TMPDIR": str(folder)})
    expect_refusal(ended, leftovers, OWN_FAILURE, path)


@pytest.mark.parametrize("what", ["missing", "not writable", "empty"])
def test_without_a_usable_tmpdir_tmp_serves(user, short_job, folder, what):
    value = {"missing": folder / "missing", "not writable": "/usr/lib", "empty": ""}[what]
    used = f"/tmp/nagaya-{user.uid}"
    existed = os.path.exists(used)
    try:
        ended = user.run(short_job, env={"TMPDIR": str(value)})
        assert (ended.code, ended.err) == (5, ""), ended
        assert os.path.isdir(used)
    finally:
        if not existed:
            shutil.rmtree(used, ignore_errors=True)


@pytest.mark.parametrize("length", [120, 200])
def test_a_long_tmpdir_works(user, short_job, folder, length):
    deep = folder / ("x" * (length - len(str(folder)) - 1))
    deep.mkdir()
    user.own(deep)
    ended = user.run(short_job, env={"TMPDIR": str(deep)})
    assert (ended.code, ended.err) == (5, ""), ended


def test_a_tmpdir_too_long_is_named(user, short_job, folder, leftovers):
    deep = folder / ("x" * 200) / ("y" * 200)
    deep.mkdir(parents=True)
    user.own(deep)
    ended = user.run(short_job, env={"TMPDIR": str(deep)})
    expect_refusal(ended, leftovers, OWN_FAILURE, deep, "TMPDIR")


def test_a_folder_that_a_stranger_made_first_is_named_with_its_owner(user, short_job, folder, leftovers):
    if os.geteuid() != 0:
        pytest.skip("needs root, to give a folder away")
    path = folder / f"nagaya-{user.uid}"
    path.mkdir(mode=0o700)
    stranger = user.uid + 1
    os.chown(path, stranger, stranger)
    ended = user.run(short_job, env={"TMPDIR": str(folder)})
    expect_refusal(ended, leftovers, OWN_FAILURE, path, f"belongs to user {stranger}", "set TMPDIR")

# SPDX-License-Identifier: BSD-3-Clause
"""Every program and every command of docs/xmp.md, in their order, with the output that it shows."""
import page
import pytest
from hosts import SHARED_PROCESSORS
from ordinary_user import SEARCHED_FOLDERS
from xmp_programs import ROOT

RUN_LIMIT_S = 240


@pytest.fixture
def place(xmp_programs, folder):
    (folder / "examples").mkdir()
    (folder / "examples" / "xmp").symlink_to(xmp_programs.examples)
    return folder


def test_the_commands_do_what_the_page_shows(user, front, hosts, installation, place):
    of_xmp = page.Page(ROOT / "docs/xmp.md")
    for name, text in of_xmp.files.items():
        user.new_file(place / name, text)
    commands = [page.on_hosts(command, hosts.names) for command in of_xmp.commands]
    assert len(commands) >= 25
    environment = {**SHARED_PROCESSORS, "PATH": f"{installation.root / 'bin'}:{SEARCHED_FOLDERS}"}
    ended = front.run(["bash", "-c", page.script_of(commands)], cwd=place, env=environment, timeout=RUN_LIMIT_S)
    page.check(commands, ended.out)

# SPDX-License-Identifier: BSD-3-Clause
"""Every program and every command of docs/xmp.md, in its order, with the output that it shows."""
import re

import pytest
from hosts import SHARED_PROCESSORS
from ordinary_user import SEARCHED_FOLDERS
from xmp_programs import ROOT

RUN_LIMIT_S = 120
TEXT = (ROOT / "docs/xmp.md").read_text()
FILES = re.findall(r"```c\n(/\* (\S+) \*/\n.*?)```", TEXT, re.S)
COMMANDS = [match for block in re.findall(r"```console\n(.*?)```", TEXT, re.S)
            for match in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", block, re.M)]


def is_as_shown(output, shown):
    """"..." stands for any text of a line."""
    pattern = re.escape(shown).replace(re.escape("..."), ".*")
    return re.fullmatch(pattern, output)


@pytest.fixture
def tutorial(user, xmp_programs, folder):
    for content, name in FILES:
        user.new_file(folder / name, content)
    (folder / "examples").mkdir()
    (folder / "examples" / "xmp").symlink_to(xmp_programs.examples)
    return folder


def test_the_commands_do_what_the_tutorial_shows(user, front, hosts, installation, tutorial):
    environment = {**SHARED_PROCESSORS, "PATH": f"{installation.root / 'bin'}:{SEARCHED_FOLDERS}"}
    assert len(COMMANDS) > 20
    for command, shown in COMMANDS:
        where = front if "--hosts" in command else user
        for letter, name in zip("ab", hosts.names):
            command = re.sub(rf"(--hosts.*?\b){letter}\b(?=[:,\s])", rf"\g<1>{name}", command)
        ended = where.run(["sh", "-c", command], cwd=tutorial, env=environment,
                          timeout=RUN_LIMIT_S)
        # Over hosts Open MPI's launcher may warn of its remote shell.
        may_warn = "--hosts" in command and ended.code == 0
        output = ended.out if may_warn else ended.out + ended.err
        assert is_as_shown(output, shown), f"{command}\n{ended}"

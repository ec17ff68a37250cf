# SPDX-License-Identifier: BSD-3-Clause
"""Every program and every command of the pages on XcalableMP, in their order, with the output that they
show."""
import re

import pytest
from hosts import SHARED_PROCESSORS
from ordinary_user import SEARCHED_FOLDERS
from xmp_programs import ROOT

RUN_LIMIT_S = 120
# Each page, and how many commands it has at least.
PAGES = {"docs/xmp.md": 25, "docs/xmp-first-hour.md": 10}


def files_of(text):
    return re.findall(r"```c\n(/\* (\S+) \*/\n.*?)```", text, re.S)


def commands_of(text):
    return [match for block in re.findall(r"```console\n(.*?)```", text, re.S)
            for match in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", block, re.M)]


def is_as_shown(output, shown):
    """"..." stands for any text of a line."""
    pattern = re.escape(shown).replace(re.escape("..."), ".*")
    return re.fullmatch(pattern, output)


@pytest.fixture
def tutorial(xmp_programs, folder):
    (folder / "examples").mkdir()
    (folder / "examples" / "xmp").symlink_to(xmp_programs.examples)
    return folder


@pytest.mark.parametrize("page", PAGES)
def test_the_commands_do_what_the_page_shows(user, front, hosts, installation, tutorial, page):
    text = (ROOT / page).read_text()
    for content, name in files_of(text):
        user.new_file(tutorial / name, content)
    environment = {**SHARED_PROCESSORS, "PATH": f"{installation.root / 'bin'}:{SEARCHED_FOLDERS}"}
    commands = commands_of(text)
    assert len(commands) >= PAGES[page]
    for command, shown in commands:
        where = front if "--hosts" in command else user
        for letter, name in zip("ab", hosts.names):
            command = re.sub(rf"(--hosts.*?\b){letter}\b(?=[:,\s])", rf"\g<1>{name}", command)
        ended = where.run(["sh", "-c", command], cwd=tutorial, env=environment,
                          timeout=RUN_LIMIT_S)
        # Over hosts Open MPI's launcher may warn of its remote shell.
        may_warn = "--hosts" in command and ended.code == 0
        output = ended.out if may_warn else ended.out + ended.err
        assert is_as_shown(output, shown), f"{command}\n{ended}"

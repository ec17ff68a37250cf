# SPDX-License-Identifier: BSD-3-Clause
"""Every program and every command of the tutorials, in their order, with the output that they show.
Commands for fresh roots are run by tests/install/clean_root.sh (./dev test --full), those for clusters
by test_tutorials_in_clusters.py."""
import page
import pytest
from tutorials import PAGES, PLACES

RUN_LIMIT_S = 120


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_every_command_is_run_by_a_test(path):
    tutorial = page.Page(path)
    assert tutorial.commands and not tutorial.untested, tutorial.untested
    assert {command.place for command in tutorial.commands} <= PLACES


# The pages whose programs have tests of their own in any case.
AS_FULL = {"pip": pytest.mark.full}


@pytest.mark.parametrize("path", [pytest.param(path, marks=AS_FULL.get(path.stem, ()), id=path.stem) for path in PAGES])
def test_the_commands_do_what_the_page_shows(reader, path):
    if path.stem == "xmp":
        reader.needs_xmpcc()
    reader.follow(path, timeout=RUN_LIMIT_S)

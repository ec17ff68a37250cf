# SPDX-License-Identifier: BSD-3-Clause
"""Wrong programs of XcalableMP: each has in its second line where its message is, and a part of it."""
import re

import pytest
from xmp_programs import ROOT

RUN_LIMIT_S = 60
WRONG = sorted(path.name for path in (ROOT / "tests/programs/xmp/wrong").glob("*.c"))
EXPECTED = re.compile(r"// expect: (\d+):(\d+): (.*)\n")
ERROR = re.compile(r"^([^:\n]+):(\d+):(\d+): error: (.*)$", re.M)


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_program_is_refused_where_it_is_wrong(user, xmp_programs, folder, name):
    source = xmp_programs.sources / "wrong" / name
    line, column, part = EXPECTED.search(source.read_text()).groups()
    ended = user.run([xmp_programs.xmpcc, "-c", name, "-o", folder / "wrong.o"], cwd=source.parent,
                     timeout=RUN_LIMIT_S)
    found = ERROR.search(ended.err)
    assert ended.code == 1 and found, ended
    assert found.groups()[:3] == (name, line, column) and part in found[4], ended
    assert "Stack dump" not in ended.err and not (folder / "wrong.o").exists(), ended

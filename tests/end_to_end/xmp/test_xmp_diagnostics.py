# SPDX-License-Identifier: BSD-3-Clause
"""Wrong programs of XcalableMP: each has in its second line where its message is, and a part of it:
`// expect: LINE:COLUMN: part`, or `// expect: HEADER:LINE:COLUMN: part`."""
import os
import re

import pytest
from xmp_programs import ROOT

RUN_LIMIT_S = 60
WRONG = sorted(path.name for path in (ROOT / "tests/programs/xmp/wrong").glob("*.c"))
EXPECTED = re.compile(r"// expect: (?:([^:]+):)?(\d+):(\d+): (.*)\n")
ERROR = re.compile(r"^([^:\n]+):(\d+):(\d+): error: (.*)$", re.M)


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_program_is_refused_where_it_is_wrong(user, xmp_programs, folder, name):
    source = xmp_programs.sources / "wrong" / name
    header, *place, part = EXPECTED.search(source.read_text()).groups()
    ended = user.run([xmp_programs.xmpcc, "-c", name, "-o", folder / "wrong.o"], cwd=source.parent,
                     timeout=RUN_LIMIT_S)
    errors = ERROR.findall(ended.err)
    assert ended.code == 1 and len(errors) == 1, ended  # one mistake, nothing that follows from it
    file, *found_place, message = errors[0]
    assert os.path.normpath(file) == (header or name) and found_place == place, ended
    assert part in message, ended
    assert "Stack dump" not in ended.err and not (folder / "wrong.o").exists(), ended

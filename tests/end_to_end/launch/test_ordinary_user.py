# SPDX-License-Identifier: BSD-3-Clause
"""The other tests mean something only if their programs have no privileges."""
import os


def test_programs_run_as_an_ordinary_user(user):
    uid = int(user.run(["id", "-u"]).out)
    assert uid == user.uid != 0


def test_programs_have_no_capabilities(user):
    status = user.run(["cat", "/proc/self/status"]).out
    sets = {line.split()[0]: int(line.split()[1], 16)
            for line in status.splitlines() if line.startswith("Cap")}
    assert sets["CapEff:"] == sets["CapPrm:"] == sets["CapInh:"] == sets["CapAmb:"] == 0
    if os.geteuid() == 0:
        assert sets["CapBnd:"] == 0

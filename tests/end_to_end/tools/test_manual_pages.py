# SPDX-License-Identifier: BSD-3-Clause
"""The manual pages are rendered without a warning, and as they were meant."""
import pathlib
import shutil
import subprocess

import pytest

PAGES = sorted((pathlib.Path(__file__).resolve().parents[3] / "docs" / "man").glob("*.[137]"))


@pytest.mark.skipif(shutil.which("groff") is None, reason="groff is not installed")
def test_all_pages_are_rendered_without_a_warning():
    assert len(PAGES) > 15
    for page in PAGES:
        ended = subprocess.run(["groff", "-ww", "-mandoc", "-Tutf8", "-P-c", page], capture_output=True, text=True,
                               check=True)
        # A quote that is closed twice: .Ql and its like reach to the end of their lines.
        wrong = [line for line in ended.stdout.splitlines() if "\N{RIGHT SINGLE QUOTATION MARK}" * 2 in line]
        assert (ended.stderr, wrong) == ("", []), page

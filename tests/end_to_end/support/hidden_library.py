# SPDX-License-Identifier: BSD-3-Clause
"""A machine on which a library is not installed."""
import pathlib
import re
import subprocess

import pytest


def without_library(user, name):
    """Words before a command that does not find the library; skips where that cannot be."""
    known = subprocess.run(["/sbin/ldconfig", "-p"], capture_output=True, text=True, check=True).stdout
    path = pathlib.Path(re.search(rf"\t{re.escape(name)} .* => (\S+)", known).group(1)).resolve()
    words = ["unshare", "-Urm", "sh", "-c", f'mount --bind /dev/null {path} && exec "$@"', "sh"]
    if user.run([*words, "true"]).code != 0:
        pytest.skip("no mount namespace of its own for an ordinary user here")
    return words

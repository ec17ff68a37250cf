# SPDX-License-Identifier: BSD-3-Clause
"""The wheel's version, for scikit-build-core."""
import pathlib
import subprocess


def dynamic_metadata(_field, _settings=None, _project=None):
    script = pathlib.Path(__file__).parents[1] / "version.sh"
    return subprocess.run([script], check=True, capture_output=True, text=True).stdout.strip()

# SPDX-License-Identifier: BSD-3-Clause
"""An installation that tests may rename and change: a copy of the parts that jobs need."""
import subprocess


def copied_installation(installation, folder, user=None):
    """Copies the installation into the new folder; the files are root's, or this user's."""
    folder.mkdir()
    installation.copied_to(folder)
    subprocess.run(["find", folder, "-type", "f", "-exec", "strip", "-g", "{}", "+"], check=False,
                   stderr=subprocess.DEVNULL)  # scripts have nothing to strip
    if user is not None and user.is_other:
        subprocess.run(["chown", "-R", f"{user.uid}:{user.uid}", folder], check=True)
    return folder

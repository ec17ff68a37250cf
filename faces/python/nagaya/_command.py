# SPDX-License-Identifier: BSD-3-Clause
"""The command `nagaya` of an environment into which the wheel was installed."""
import os
import pathlib
import sys


def main():
    program = pathlib.Path(__file__).parent / "bin" / "nagaya"
    os.execv(program, ["nagaya", *sys.argv[1:]])

# SPDX-License-Identifier: BSD-3-Clause
"""Where Clang's libraries and GoogleTest are missing, a configuration says so in a line each, and the
target `demo` builds neither xmpcc nor tests nor benchmarks.

    without_packages.py SOURCE_FOLDER"""
import re
import subprocess
import sys
import tempfile

MISSING = ["-DCMAKE_DISABLE_FIND_PACKAGE_GTest=ON", "-DNAGAYA_LLVM_CONFIG=OFF"]
LIMIT_S = 120


def run(*words):
    return subprocess.run(words, check=True, timeout=LIMIT_S, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT).stdout


def main(source):
    with tempfile.TemporaryDirectory() as build:
        said = run("cmake", "--preset", "default", "-S", source, "-B", build, "--log-level=NOTICE",
                   *MISSING)
        notices = re.findall(r"^.*not built.*$", said, re.M)
        assert [line.split(" are ")[0].split(" is ")[0] for line in notices] == ["The tests", "xmpcc"], said
        steps = run("ninja", "-C", build, "-t", "commands", "demo")
        for wanted in ("bin/nagaya", "libexec/nagaya/nagaya-host", "mca_pml_nagaya.so",
                       "mca_coll_nagaya.so", "libnagaya-blacs.so", "demo/collectives"):
            assert wanted in steps, f"{wanted} is not built:\n{steps}"
        for unwanted in ("tests/", "bench/", "faces/xmp/"):
            assert f"{source}/{unwanted}" not in steps, f"{unwanted} is built:\n{steps}"
        everything = run("ninja", "-C", build, "-t", "commands", "all")
        assert f"{source}/bench/" in everything, everything
        assert "faces/xmp/compiler/" not in everything and f"{source}/tests/" not in everything, everything


main(sys.argv[1])

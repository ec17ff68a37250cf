#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""libnagaya exports only nagaya_* symbols, depends on libc alone, and has headers that compile
alone as C11, also for xmpcc, and as C++20. And the symbols of XcalableMP's runtime.

    check_library.py LIBRARY XMP_LIBRARY INCLUDE_FOLDER C_COMPILER CXX_COMPILER
"""
import glob
import os
import re
import subprocess
import sys

# xmpcc translates calls of these to others: they have no function behind them.
TRANSLATED = {"xmp_atomic_define", "xmp_atomic_ref"}
MAY_NEED = re.compile(r"(libc\.so\.6|ld-linux[-a-z0-9_.]*|libc\.musl[-a-z0-9_.]*)$")


def output_of(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def headers_of(include, of_xmp):
    """Those whose functions libnagaya has, or XcalableMP's runtime."""
    xmp = [f"{include}/nagaya/xmp_translated.h", f"{include}/xmp/xmp.h", f"{include}/xmp/xmp_io.h"]
    return xmp if of_xmp else sorted(set(glob.glob(f"{include}/nagaya/*.h")) - set(xmp))


def check_symbols(library, headers, prefix):
    lines = output_of("nm", "-D", "--defined-only", library).splitlines()
    exported = {line.split()[-1].split("@")[0] for line in lines if line.split()[-2] != "A"}
    for name in sorted(exported):
        if not re.match(prefix, name):
            yield f"{library}: exports {name}"
    declared = set()
    for path in headers:
        with open(path, encoding="utf-8") as file:
            text = re.sub(r"/\*.*?\*/", "", file.read(), flags=re.S)
        # A declaration of a function: a type, the name, a parenthesis. Inline ones are not exported.
        declared |= set(re.findall(rf"^(?!static|typedef)[a-z][\w \*]*?\b({prefix}\w+)\s*\(",
                                   text, re.M))
    for name in sorted(declared - exported - TRANSLATED):
        yield f"{library}: does not export {name}, which a header declares"
    for name in sorted(exported - declared):
        if re.match(prefix, name):
            yield f"{library}: exports {name}, which no header declares"


def check_needs(library):
    dynamic = output_of("readelf", "-dW", library)
    for name in re.findall(r"\(NEEDED\).*\[(.+)\]", dynamic):
        if not MAY_NEED.match(name):
            yield f"{library}: needs {name}"
    if "[libnagaya.so.0]" not in dynamic:
        yield f"{library}: its soname is not libnagaya.so.0"
    if "TEXTREL" in dynamic or re.search(r"GNU_STACK.*RWE", output_of("readelf", "-lW", library)):
        yield f"{library}: relocates its text or asks for an executable stack"


def check_headers(include, c_compiler, cxx_compiler):
    flags = ["-Wall", "-Wextra", "-Werror", "-pedantic", "-fsyntax-only", f"-I{include}"]
    for path in headers_of(include, of_xmp=False) + headers_of(include, of_xmp=True):
        for compiler, *language in ((c_compiler, "-xc", "-std=c11"),
                                    (c_compiler, "-xc", "-std=c11", "-D_XCALABLEMP=201411"),
                                    (cxx_compiler, "-xc++", "-std=c++20")):
            # From a file of one line: a header given directly is warned about for its pragma.
            source = f"#include <{os.path.relpath(path, include)}>\nextern int unused;\n"
            done = subprocess.run([compiler, *flags, *language, "-"],
                                  input=source, capture_output=True, text=True, check=False)
            if done.returncode != 0:
                yield f"{path}: does not compile alone by {' '.join(language)}:\n{done.stderr}"


def main():
    library, xmp_library, include, c_compiler, cxx_compiler = sys.argv[1:]
    complaints = [*check_symbols(library, headers_of(include, of_xmp=False), "nagaya_"),
                  *check_symbols(xmp_library, headers_of(include, of_xmp=True), "(?:nagaya_)?xmpc?_"),
                  *check_needs(library),
                  *check_headers(include, c_compiler, cxx_compiler)]
    for complaint in complaints:
        print(complaint)
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())

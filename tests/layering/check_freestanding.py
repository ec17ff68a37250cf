#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""The freestanding objects run where no libc may and where vector registers hold a task's data:
between a clone and its program, and inside a task's system call. Checks the compiled code.

    check_freestanding.py OBJECT...
"""
import re
import subprocess
import sys

OWN = re.compile(r"(nagaya_[a-z0-9_]+|_Z(NK?|TI|TS|TV)?.*6nagaya.*)$")
# Also the x87 stack: a system call preserves it like every register but rax, rcx and r11.
VECTOR = re.compile(r"%(xmm|ymm|zmm|mm|k)[0-9]+|%st\b|\bfs:|%fs:|%gs:")
THREAD_LOCAL = re.compile(r"R_X86_64_(TLS|TPOFF|DTPOFF|GOTTPOFF|DTPMOD)")


def output_of(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def undefined_symbols(objects):
    defined, undefined = set(), {}
    for path in objects:
        for line in output_of("nm", path).splitlines():
            kind, name = line[17:].split(" ", 1)
            if kind in "Uw":
                undefined.setdefault(name, path)
            else:
                defined.add(name)
    return {name: path for name, path in undefined.items() if name not in defined}


def check(objects):
    for name, path in undefined_symbols(objects).items():
        # nagaya_redirect and its like connect the floors: another freestanding object has them.
        if OWN.match(name):
            yield f"{path}: {name} is defined in no freestanding object"
        else:
            yield f"{path}: calls {name}"
    for path in objects:
        function = "?"
        for line in output_of("objdump", "-dr", "--no-show-raw-insn", path).splitlines():
            if line.endswith(">:"):
                function = line.split("<")[1][:-2]
            found = VECTOR.search(line) or THREAD_LOCAL.search(line)
            if found and not line.endswith(">:"):
                yield f"{path}: {function} uses {found.group(0)}: {line.strip()}"


def main():
    complaints = list(check(sys.argv[1:]))
    for complaint in complaints:
        print(complaint)
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())

# SPDX-License-Identifier: BSD-3-Clause
"""How the programs of the list of what works are built: shell lines for the compilers at hand.

The lines run in a new folder; $S is the folder of the sources. The programs of a compiler that is
not installed are not there, and the tests that need them are skipped.
"""
import os
import pathlib
import re
import shutil
import subprocess

SOURCES = pathlib.Path(__file__).resolve().parent
MUSL = "/usr/lib/x86_64-linux-musl"
COUNTER = "gcc -fPIC -shared $S/counter.c -o"
WHERE = "gcc -fPIC -shared -DWHERE='\"{text}\"' $S/where.c -o {to}/libwhere.so"
ASKS = "gcc $S/asks_where.c"


def where(text, to):
    return f"mkdir -p {to}; " + WHERE.format(text=text, to=to)


# A prefix with runtime libraries of its own, as conda makes it.
CONDA = [
    "mkdir -p conda/bin conda/lib",
    "for l in libstdc++.so.6 libgcc_s.so.1; do cp $(g++ -print-file-name=$l) conda/lib/$l; done",
    "g++ -fPIC -shared $S/catches.cc -o conda/lib/libcatches.so -Wl,-rpath,'$ORIGIN'",
    "gcc $S/loader.c -o conda/bin/loader -Wl,--disable-new-dtags,-rpath,'$ORIGIN/../lib'",
    where("conda", "conda/lib"),
    f"{ASKS} -o conda/bin/asks -Lconda/lib -lwhere -Wl,--disable-new-dtags,-rpath,'$ORIGIN/../lib'",
]
# A tree with a libc of its own: the program names the tree's own ld.so.
BUNDLED = [
    "mkdir -p bundled/bin bundled/lib",
    "for l in libc.so.6 libm.so.6 ld-linux-x86-64.so.2; do"
    " cp $(gcc -print-file-name=$l) bundled/lib/$l; done",
    where("bundled", "bundled/lib"),
    f"{ASKS} -o bundled/bin/asks -Lbundled/lib -lwhere -Wl,-rpath,'$ORIGIN/../lib'"
    " -Wl,--dynamic-linker=$PWD/bundled/lib/ld-linux-x86-64.so.2",
    "gcc -O1 -pthread $S/memory.c -o bundled/bin/memory -Wl,-rpath,'$ORIGIN/../lib'"
    " -Wl,--dynamic-linker=$PWD/bundled/lib/ld-linux-x86-64.so.2",
]
# A tree that was built in one place and runs in another, by a script that finds itself.
RELOCATED = [
    where("moved", "image/usr/lib"),
    f"mkdir -p image/usr/bin; {ASKS} -o image/usr/bin/asks -Limage/usr/lib -lwhere",
    "printf '%s\\n' '#!/bin/sh' 'here=$(dirname \"$(readlink -f \"$0\")\")'"
    " 'export LD_LIBRARY_PATH=$here/usr/lib' 'exec \"$here/usr/bin/asks\" \"$@\"' > image/AppRun",
    "chmod 755 image/AppRun; mv image moved; ln -s moved/usr/bin/asks asks-link",
]

BUILDS = {
    "memory": ["gcc -O1 -g -pthread $S/memory.c -o memory"],
    "processes": ["gcc -O1 -g $S/processes.c -o processes"],
    "control": ["gcc -O1 -g -pthread -Wno-infinite-recursion $S/control.c -o control"],
    "self": ["gcc -O1 -g -pthread $S/self.c -o self"],
    "families": ["gcc -O1 -g -pthread $S/families.c -o families"],
    "events": ["gcc -O1 -g $S/events.c -o events -luring"],
    "static-pie": ["gcc -O1 -static-pie -pthread $S/memory.c -o static-memory",
                   "gcc -O1 -static-pie -pthread -w $S/control.c -o static-control"],
    "musl": ["musl-gcc -O1 -fPIE -pie $S/memory.c -o musl-memory",
             "musl-gcc -O1 -fPIE -pie -w $S/control.c -o musl-control"],
    "musl-static": ["musl-gcc -O1 -fPIE -c $S/memory.c -o musl-memory.o",
                    f"gcc -nostdlib -static-pie {MUSL}/rcrt1.o {MUSL}/crti.o musl-memory.o"
                    f" -L{MUSL} -lc -lgcc {MUSL}/crtn.o -o musl-static-memory"],
    "loader": [f"{COUNTER} libcounter.so",
               f"{COUNTER} libinitial.so -ftls-model=initial-exec",
               f"{COUNTER} libexecstack.so -Wl,-z,execstack",
               "g++ -fPIC -shared -pthread $S/catches.cc -o libcatches.so",
               "gcc $S/loader.c -o loader -Wl,-rpath,'$ORIGIN'"],
    "layouts": [f"gcc -O1 -pthread $S/memory.c -o memory-{name} {options}" for name, options in {
        "now": "-Wl,-z,now", "lazy": "-Wl,-z,lazy", "norelro": "-Wl,-z,norelro",
        "noseparate-code": "-Wl,-z,noseparate-code", "execstack": "-Wl,-z,execstack",
        "huge-alignment": "-Wl,-z,max-page-size=0x200000", "gold": "-fuse-ld=gold",
        "pack-relative": "-Wl,--hash-style=sysv -Wl,-z,combreloc"}.items()],
    "rpath": [where("beside", "found/lib"), where("elsewhere", "other"),
              f"{ASKS} -o found/rpath -Lfound/lib -lwhere"
              " -Wl,--disable-new-dtags,-rpath,'$ORIGIN/lib'",
              f"{ASKS} -o found/runpath -Lfound/lib -lwhere"
              " -Wl,--enable-new-dtags,-rpath,'$ORIGIN/lib'",
              f"{ASKS} -o found/absolute -Lfound/lib -lwhere -Wl,-rpath,$PWD/found/lib"],
    "conda": CONDA,
    "bundled": BUNDLED,
    "relocated": RELOCATED,
    "no-pie": ["gcc -O1 -fno-pie -no-pie -pthread $S/memory.c -o no-pie"],
    "sanitizer": ["gcc -O1 -g -fsanitize=address -pthread $S/memory.c -o sanitized"],
    "openmp": ["gcc -fopenmp $S/openmp.c -o openmp-gcc"],
    "openmp-clang": ["clang-14 -fopenmp -fPIE -pie $S/openmp.c -o openmp-clang"],
    "go": ["GOTOOLCHAIN=local GOFLAGS= go build -buildmode=pie -o go-sums $S/sums.go"],
    "rust": ["rustc -O -o rust-sums $S/sums.rs"],
    "java": ["cp $S/Sums.java ."],
    "python": ["cp $S/numpy_threads.py ."],
    "scripts": ["cp $S/squares.sh ."],
    "preload": ["gcc -fPIC -shared $S/preloaded.c -o libpreloaded.so", "gcc -O0 $S/says.c -o says"],
    "profiled": ["gcc -O1 -g -pg $S/hot.c -o hot-gprof",
                 "gcc -O1 -g --coverage -fprofile-update=atomic $S/hot.c -o hot-gcov",
                 "gcc -O1 -g -fno-omit-frame-pointer $S/hot.c -o hot"],
}


def compilers_of(lines):
    known = {"gcc", "g++", "musl-gcc", "clang-14", "go", "rustc", "java"}
    return {word for line in lines for word in re.findall(r"[\w+-]+", line) if word in known}


class Missing(Exception):
    """A compiler that is not installed."""


def build(name, folder):
    """Builds it in the folder, once."""
    lines = BUILDS[name]
    done = folder / f".built-{name}"
    if done.exists():
        return
    for compiler in sorted(compilers_of(lines) | ({"java"} if name == "java" else set())):
        if shutil.which(compiler) is None:
            raise Missing(f"{compiler} is not installed")
    environment = {**os.environ, "S": str(SOURCES), "LC_ALL": "C"}
    for line in lines:
        ended = subprocess.run(["sh", "-c", line], cwd=folder, env=environment, text=True,
                               capture_output=True)
        assert ended.returncode == 0, f"{line}\n{ended.stdout}{ended.stderr}"
    done.touch()

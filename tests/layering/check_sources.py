#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Checks the sources against the house rules: includes point only downward, files are short, only
src/arch knows the CPU, every file has its SPDX line, no folder is a drawer, every public function
of include/nagaya has a man page.

    check_sources.py REPOSITORY
"""
import glob
import os
import re
import sys

# Bottom first: a floor includes itself and what stands before it.
FLOORS = ["base", "arch", "layout", "reduction", "task", "mailbox", "processes", "llcl", "fabric",
          "delegatee", "bootstrap", "match", "area", "array", "coll", "window", "checkpoint"]
# Floors that know neither the place of a task nor the transport between nodes, and the headers of
# llcl that they may include. (An API's file reaches the endpoint of its task, or makes the port by
# it.)
ABOVE_THE_WAIST = ["match", "area", "array", "coll", "window", "checkpoint"]
WAIST = re.compile(
    r"llcl/(board/(accumulate|group|port_cell)|requests/(port|pull|wait|pending_work|handles|processes|tuning))\.h$")
WAIST_OF_APIS = re.compile(r"llcl/requests/(endpoint|remote_nodes_by_lane)\.h$")
# Only a set of processes says which share a node. These two compare nodes for another reason: is a
# process of another job in reach at all?
ASKS_FOR_A_NODE = re.compile(r"\.node\s*[!=]=|[!=]=[^;]*\.node\b(?!\()")
MAY_ASK_FOR_A_NODE = {"src/match/envelope.h", "faces/openmpi/peers.c", "faces/blacs/system.cc"}
# The folders above the floors, and the floors that each may include.
ABOVE = {"faces": FLOORS, "tools": FLOORS, "bench": FLOORS, "tests": FLOORS}

# The freestanding parts of src/task run without libc: they see only what is made for that.
FREESTANDING_MAY_INCLUDE = re.compile(
    r"(task/load/freestanding/[a-z_]+\.h|task/space/(space|free_ranges|futex|spin_lock)\.h|arch/.*)$")

# Large libraries that only one file or folder may use, by the beginning of the include.
CONFINED = {
    "Zydis": ["src/arch/"],
    "CLI": ["tools/main", "tools/command_line", "bench/program_main"],
    "fmt": ["tools/", "bench/"],
    "hwloc": ["tools/", "src/delegatee/placement"],
    "rdma": ["src/fabric/", "tests/unit/fabric/", "tests/programs/stranger",
             "bench/baseline/raw_fabric"],
    "sodium": ["src/delegatee/proof"],
    "liburing": ["src/delegatee/files/uring_engine", "tests/programs/compatibility/events"],
    "nlohmann": ["tools/", "bench/"],
    "clang": ["faces/xmp/compiler/"],
    "llvm": ["faces/xmp/compiler/"],
}

# Functions of the public headers that only code of a header, or of a translated program, calls.
NOT_FOR_PROGRAMS = re.compile(r"nagaya_llcl_(start_by_call|notify|add)$|nagaya_xmp_")

LINES_MAX = 800
DRAWERS = {"utils", "util", "common", "misc", "helpers", "helper"}
SOURCES = (".c", ".cc", ".h", ".S", ".cmake", ".py", ".sh", ".f90", ".F90")
CODE = (".c", ".cc", ".h", ".S")
ROOTS = ["src", "include", "faces", "tools", "bench", "demo", "tests", "cmake"]

DECLARATION = re.compile(r"^(?!typedef)[a-z][\w \*]*?\b((?:nagaya|fmpl|blacs)_\w+)\s*\(", re.M)
INCLUDE = re.compile(r'^\s*#\s*include\s+([<"])([^>"]+)[>"]', re.M)
CPU_CONDITION = re.compile(
    r"^\s*#\s*(?:if|ifdef|ifndef|elif).*"
    r"(__x86_64|__amd64|__i386|__aarch64|__arm|__riscv|__powerpc|__ppc|__s390|__AVX|__SSE)", re.M)


def included_floor(path):
    """The floor that an include names, None for the system's headers and public ones."""
    head = path.split("/")[0]
    return head if head in FLOORS and "/" in path else None


def check_includes(path, text):
    parts = path.split("/")
    if parts[0] == "src" and len(parts) > 2:
        allowed = FLOORS[:FLOORS.index(parts[1]) + 1] if parts[1] in FLOORS else None
        if allowed is None:
            yield f"{path}: src/{parts[1]} is no floor of ARCHITECTURE.md"
            return
    elif parts[0] == "include":
        allowed = []
    else:
        allowed = ABOVE.get(parts[0], [])
    for quote, name in INCLUDE.findall(text):
        floor = included_floor(name) if quote == '"' else None
        if floor is not None and floor not in allowed:
            yield f"{path}: includes {name}, which does not lie below"
        if parts[0] == "src" and parts[1] in ABOVE_THE_WAIST and floor in ("llcl", "delegatee",
                                                                           "fabric"):
            is_api = parts[-1].endswith("_api.cc")
            if not WAIST.match(name) and not (is_api and WAIST_OF_APIS.match(name)):
                yield f"{path}: includes {name}, which is below the waist (llcl/requests/port.h)"
        if parts[0] == "include" and quote == '"' and not name.startswith(("nagaya/", "xmp.h")):
            yield f"{path}: a public header includes {name}, which is not public"
        if parts[0] == "src" and re.match(r"(\.\./|tools/|bench/|tests/|faces/)", name):
            yield f"{path}: includes {name}: write the floor, not the way"
        for library, places in CONFINED.items():
            if name.startswith(library + "/") or name == library + ".h":
                if not any(path.startswith(place) for place in places):
                    yield f"{path}: only {', '.join(places)} may include {name}"


def check_places(path, text):
    floor = path.split("/")[1] if path.startswith("src/") else None
    if (floor not in ABOVE_THE_WAIST and not path.startswith("faces/")) or path in MAY_ASK_FOR_A_NODE:
        return
    for number, line in enumerate(text.splitlines(), 1):
        if ASKS_FOR_A_NODE.search(line):
            yield f"{path}:{number}: asks where a task lives: ask a set of processes (is_here)"


def check_freestanding(path, text):
    if not path.startswith("src/task/load/freestanding/"):
        return
    for quote, name in INCLUDE.findall(text):
        if quote == '"' and not FREESTANDING_MAY_INCLUDE.match(name):
            yield f"{path}: freestanding code includes {name}"


def check_file(path, text):
    """All complaints about one file; `path` is relative to the repository."""
    if text and "SPDX-License-Identifier: BSD-3-Clause" not in text[:400]:
        yield f"{path}: no line SPDX-License-Identifier: BSD-3-Clause at its head"
    lines = text.count("\n")
    if lines > LINES_MAX:
        yield f"{path}: {lines} lines, split it at {LINES_MAX}"
    if not path.endswith(CODE):
        return
    if not path.startswith("src/arch/"):
        for match in CPU_CONDITION.finditer(text):
            yield f"{path}: {match.group(0).strip()}: only src/arch knows the CPU"
    yield from check_includes(path, text)
    yield from check_freestanding(path, text)
    yield from check_places(path, text)


def check_pages(path, header, pages):
    """Whether each function of a public header stands in the man pages."""
    for name in DECLARATION.findall(re.sub(r"/\*.*?\*/", "", header, flags=re.S)):
        if not NOT_FOR_PROGRAMS.match(name) and not re.search(rf"\b{name}\b", pages):
            yield f"{path}: {name} stands in no page of docs/man"


def check_folder(path):
    for name in path.split("/"):
        if name.lower() in DRAWERS:
            yield f"{path}: a folder is named after what it holds, not \"{name}\""


def text_of(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def check_repository(repository):
    pages = "".join(text_of(page) for page in glob.glob(f"{repository}/docs/man/*.3"))
    for header in glob.glob(f"{repository}/include/nagaya/*.h"):
        yield from check_pages(os.path.relpath(header, repository), text_of(header), pages)
    for root in ROOTS:
        for folder, folders, files in os.walk(os.path.join(repository, root)):
            folders[:] = [name for name in folders if name not in ("__pycache__", "corpus")]
            relative = os.path.relpath(folder, repository)
            yield from check_folder(relative)
            for name in sorted(files):
                if not name.endswith(SOURCES) and name != "CMakeLists.txt":
                    continue
                yield from check_file(f"{relative}/{name}", text_of(os.path.join(folder, name)))


def main():
    complaints = list(check_repository(sys.argv[1]))
    for complaint in complaints:
        print(complaint)
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())

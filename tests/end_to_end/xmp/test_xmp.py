# SPDX-License-Identifier: BSD-3-Clause
"""Programs of XcalableMP, compiled by xmpcc: a feature each, random ones beside their serial oracle,
the examples; on one host and on three, with direct copies and with messages."""
import collections
import json
import random
import re
import shlex
import shutil
import subprocess
import time

import pytest
import random_files as random_files_of
import random_gmoves as random_gmoves_of
import random_programs
from conftest import FULL
from hosts import SHARED_PROCESSORS

RUN_LIMIT_S = 120
END_LIMIT_S = 20  # far more than it takes, also on a loaded machine
MESSAGES = {"NAGAYA_XMP_HALO": "message"}

# The programs of tests/programs/xmp: other files than NAME.c, options.
FEATURES = {
    "nodes": (), "loops": (), "nests": (), "arrays": (), "reductions": (), "locations": (),
    "halos": (), "corners": (), "tasks": (), "broadcasts": (), "combined": (), "locals": (),
    "macros": (), "fixed_later": (), "inquiries": (), "in_place": (), "gmoves": (), "gmoves_alone": (),
    "reduced_shadow": (), "expansions": (), "transformations": (), "distributions": (), "allocated": (),
    "expressions": (), "subsets": (), "between_loops": (), "formal": ("formal.c", "formal_other.c"), "openmp": (),
    "coarrays": ("coarrays.c", "coarrays_other.c"), "coarray_sections": (), "posts": (), "image_locks": (),
    "files": (),
}
OPTIONS = {"openmp": ("-O1", "-fopenmp")}
WITH_HALOS = ["halos", "corners", "formal", "combined", "reduced_shadow"]
# Without NAGAYA_FULL=1 few jobs are started over hosts: each takes seconds.
OVER_HOSTS = [(name, each) for name in FEATURES if name not in ("in_place", "gmoves_alone") for each in (1, 2)] \
    if FULL else [("halos", 2), ("gmoves", 2), ("corners", 1), ("reductions", 2), ("tasks", 1), ("reduced_shadow", 2),
                  ("transformations", 2), ("coarrays", 2), ("coarray_sections", 1), ("posts", 2), ("image_locks", 2)]
COUNTS = [1, 2, 3, 4, 7, 16]
SEEDS = range(40) if FULL else range(2)
SEEDS_OVER_HOSTS = [(seed, used, each) for seed in range(20) for used, each in
                    [(3, 1), (2, 2), (2, 8)]] if FULL else [(0, 3, 1), (1, 2, 8)]
PLACES = ["reflect", "reduction", "gmove", "barrier", "put", "lock", "post"]


@pytest.fixture
def feature(xmp_programs):
    def of(name):
        return xmp_programs.compiled(name, *FEATURES[name], options=OPTIONS.get(name, ("-O1",)))
    return of


@pytest.fixture
def start(user, nagaya):
    def run(nodes, *words, **environment):
        return user.run([nagaya, "run", "-n", nodes, *words],
                        env={**SHARED_PROCESSORS, **environment}, timeout=RUN_LIMIT_S)
    return run


@pytest.fixture
def start_over(hosts, front, nagaya):
    """On the first `used` hosts, with `each` nodes on every one."""
    def run(used, each, *words, **environment):
        names = ",".join(f"{name}:{each}" for name in hosts.names[:used])
        return front.run([nagaya, "run", "-n", used * each, "--hosts", names, *words],
                         env={**SHARED_PROCESSORS, **environment}, timeout=RUN_LIMIT_S)
    return run


# ---- features -----------------------------------------------------------------------------------


@pytest.mark.parametrize("nodes", COUNTS)
@pytest.mark.parametrize("name", FEATURES)
def test_each_feature_works_on_any_number_of_nodes(start, feature, name, nodes):
    ended = start(nodes, feature(name))
    assert (ended.code, ended.out, ended.err) == (0, "ok\n", ""), ended


@pytest.mark.parametrize("nodes", [3, 16])
@pytest.mark.parametrize("name", WITH_HALOS)
def test_halos_come_as_messages_too(start, feature, name, nodes):
    ended = start(nodes, feature(name), **MESSAGES)
    assert (ended.code, ended.out) == (0, "ok\n"), ended


@pytest.mark.parametrize("name, each", OVER_HOSTS)
def test_features_work_over_hosts(start_over, feature, name, each):
    ended = start_over(3, each, feature(name))
    assert (ended.code, ended.out) == (0, "ok\n"), ended


def test_elements_of_other_machines_have_no_address(start_over, feature):
    ended = start_over(2, 2, feature("in_place"), "hosts")
    assert (ended.code, ended.out) == (0, "ok\n"), ended


def test_a_gmove_without_the_nodes_of_another_machine_ends_the_job(start_over, feature):
    ended = start_over(2, 2, feature("gmoves_alone"))
    assert ended.code == 1, ended
    assert re.search(r"gmoves_alone\.c:\d+:\d+: gmove: a part lies on another host", ended.err), ended


@pytest.mark.parametrize("word, line", [
    ("kept", r"nagaya: XMP: lock locks is still locked at the end of the program"),
    ("beyond", r"misused\.c:\d+:\d+: lock locks has 2 elements, and none with this index"),
    ("own", r"misused\.c:\d+:\d+: wait: this node waits for a post of its own, which it has not made"),
    ("forked", r"misused\.c:\d+:\d+: this process is a forked child, which has no part in the job"),
    ("all", r"nagaya: XMP: xmp_sync_all: 1 of 2 images have ended the program"),
    ("one", r"nagaya: XMP: xmp_sync_images: image 1 of the job has ended the program"),
    ("post", r"misused\.c:\d+:\d+: wait: image 1 of the job has ended the program"),
    ("posts", r"misused\.c:\d+:\d+: wait: image 1 of the job has ended the program"),
    ("any", r"misused\.c:\d+:\d+: wait: all other images have ended the program"),
    ("unsized", r"misused\.c:\d+:\d+: template t: its gblock\(\*\) has no sizes: its template_fix must come before"),
    ("large", r"misused\.c:\d+:\d+: a section of coarray cells is outside of it"),
    ("row", r"misused\.c:\d+:\d+: the argument is a row of array grid: a function only computes with the elements "
            r"of a row"),
    ("unequal", r"nagaya: XMP: a transformation of arrays has failed: one of them has other extents at another "
                r"node: give xmp_malloc the same ones at all nodes"),
    ("nobody", r"misused\.c:\d+:\d+: coarray numbers: there is no image 2; images are 0 to 1"),
])
def test_a_wrong_use_ends_the_job_with_a_line(start, xmp_programs, word, line):
    ended = start(2, xmp_programs.compiled("misused"), word)
    assert ended.code == 1 and re.search(f"{line}$", ended.err, re.M), ended


def test_a_part_of_the_images_does_not_wait_for_one_that_has_ended(start, xmp_programs):
    ended = start(3, xmp_programs.compiled("misused"), "part")
    assert ended.code == 1, ended
    assert re.search(r"^nagaya: XMP: xmp_sync_all: image 1 of the job has ended the program$", ended.err, re.M), ended


def test_an_image_that_asks_for_the_status_goes_on_without_one_that_has_ended(start, xmp_programs):
    ended = start(2, xmp_programs.compiled("misused"), "stopped")
    assert (ended.code, ended.err) == (0, ""), ended


# ---- random shapes ----------------------------------------------------------------------------


def random_shadows(seed):
    """Options of reduced_shadow.c: two dimensions with a shadow each, and widths within them."""
    chooser = random.Random(seed)
    options, widths = [], []
    for name, extent in ("ROW", chooser.randint(3, 20)), ("COLUMN", chooser.randint(3, 9)):
        options.append(f"-D{name}S={extent}")
        if chooser.random() < 0.3:
            options.append(f"-D{name}_SHADOW=*")
            widths.append(str(extent))
            continue
        low, high = (chooser.randint(0, min(4, extent)) for _ in range(2))
        options.append(f"-D{name}_SHADOW={low}:{high}")
        widths.append("/periodic/" * chooser.randint(0, 1) +
                      f"{chooser.randint(0, low)}:{chooser.randint(0, high)}")
    orthogonal = " orthogonal" * chooser.randint(0, 1)
    return [*options, f"-DCLAUSES=width({', '.join(widths)}){orthogonal}"]


def random_widths(seed):
    """Options of expansions.c."""
    chooser = random.Random(seed)
    low, high, left, right = (chooser.randint(-3, 4) for _ in range(4))
    first = chooser.randint(0, 9)
    return [f"-DLOW={low}", f"-DHIGH={high}", f"-DLEFT={left}", f"-DRIGHT={right}",
            f"-DUNBOUND={chooser.choice(['', '/unbound/'])}", f"-DFIRST={first}",
            f"-DEND={chooser.randint(first + 1, 20)}", f"-DSTEP={chooser.randint(1, 3)}"]


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name, options", [("reduced_shadow", random_shadows), ("expansions", random_widths)])
def test_random_shadows_and_widths(start, xmp_programs, name, options, seed):
    program = xmp_programs.compiled(name, options=("-O1", *options(seed)))
    for nodes in (1, 4, 5):
        ended = start(nodes, program)
        assert (ended.code, ended.out) == (0, "ok\n"), (options(seed), ended)


# ---- MPI beside ---------------------------------------------------------------------------------


def mpi_options():
    compiler = shutil.which("mpicc.openmpi") or shutil.which("mpicc")
    words = subprocess.run([compiler, "-show"], capture_output=True, text=True, check=True).stdout
    return shlex.split(words)[1:]


def test_the_mpi_in_path_is_found_without_options(start, xmp_programs):
    if shutil.which("mpicc") is None:
        pytest.skip("no mpicc in PATH")
    ended = start(3, xmp_programs.compiled("shared_with_mpi"))
    assert (ended.code, ended.out) == (0, "ok\n"), ended


def test_mpi_and_xmp_share_a_program(start, xmp_programs):
    words = mpi_options()
    program = xmp_programs.compiled("shared_with_mpi",
                                options=[word for word in words if word.startswith(("-I", "-p"))],
                                libraries=[word for word in words if word.startswith(("-L", "-l"))])
    ended = start(3, program)
    assert (ended.code, ended.out) == (0, "ok\n"), ended


# ---- checked accesses ---------------------------------------------------------------------------


def checked(xmp_programs, name):
    return xmp_programs.compiled(name, *FEATURES.get(name, ()), options=("-O1", "--check"))


@pytest.mark.parametrize("word, outside", [
    ("element", "index 7 in dimension 1 of array u on node 1, which has 0:3, with its shadow -1:3"),
    ("shadow", "index 8 in dimension 1 of array u on node 2, which has 4:7, with its shadow 3:7"),
    ("column", "index 3 in dimension 2 of array u on node 1, which has 0:2"),
    ("nested", "index 12 in dimension 1 of array narrow on node 2, which has 4:7"),
    ("address", "index 2 in dimension 1 of array u on node 2, which has 4:7, with its shadow 3:7"),
    ("formal", "index 8 in dimension 1 of array u on node 1, which has 0:3, with its shadow -1:3")])
def test_a_checked_access_outside_of_the_block_ends_the_job_with_its_place(start, xmp_programs, word, outside):
    text = (xmp_programs.sources / "outside.c").read_text().splitlines()
    mark = "return array[i]" if word == "formal" else f'"{word}"'
    line = next(number for number, text in enumerate(text, 1) if mark in text)
    [node] = re.findall(r"on node (\d)", outside)
    ended = start(2, checked(xmp_programs, "outside"), word, node)
    assert ended.code == 1 and re.search(rf"outside\.c:{line}:\d+: {outside}$", ended.err, re.M), ended


@pytest.mark.parametrize("name", ["outside", "expressions", "halos", "formal", "fixed_later"])
def test_accesses_of_right_programs_pass_the_check(start, xmp_programs, name):
    ended = start(2 if name == "outside" else 3, checked(xmp_programs, name))
    assert (ended.code, ended.out, ended.err) == (0, "ok\n", ""), ended


# ---- without a job of ours ----------------------------------------------------------------------


def test_a_program_runs_alone_without_nagaya_run(user, feature):
    ended = user.run([feature("halos")], timeout=RUN_LIMIT_S)
    assert (ended.code, ended.out) == (0, "ok\n"), ended


COPIES = re.compile(r"nagaya: XMP: the launcher has started 3 processes that know nothing of each other, .* "
                    r"nagaya run -n 3, or write nagaya exec before .*")


def test_processes_of_a_launcher_that_are_no_job_say_so_once(user, mpirun, feature):
    """Each of them would do all of the work."""
    ended = user.run([*mpirun, "-n", 3, feature("inquiries")], timeout=RUN_LIMIT_S)
    assert ended.code == 1 and ended.out == "", ended
    assert len([line for line in ended.err.splitlines() if COPIES.fullmatch(line)]) == 1, ended


@pytest.mark.parametrize("rank, size", [("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"), ("PMI_RANK", "PMI_SIZE"),
                                        ("SLURM_PROCID", "SLURM_STEP_NUM_TASKS")])
def test_each_launcher_is_known_by_its_variables(user, feature, rank, size):
    ended = user.run([feature("inquiries")], env={rank: "0", size: "3"}, timeout=RUN_LIMIT_S)
    assert (ended.code, ended.out) == (1, "") and COPIES.fullmatch(ended.err.strip()), ended
    ended = user.run([feature("inquiries")], env={rank: "1", size: "3"}, timeout=RUN_LIMIT_S)
    assert (ended.code, ended.out, ended.err) == (1, "", ""), ended
    ended = user.run([feature("inquiries")], env={rank: "0", size: "1"}, timeout=RUN_LIMIT_S)
    assert (ended.code, ended.out, ended.err) == (0, "ok\n", ""), ended


def test_a_batch_script_of_slurm_starts_one_process(user, feature):
    batch = {"SLURM_JOB_ID": "7", "SLURM_NTASKS": "4", "SLURM_PROCID": "0"}
    ended = user.run([feature("inquiries")], env=batch, timeout=RUN_LIMIT_S)
    assert (ended.code, ended.out, ended.err) == (0, "ok\n", ""), ended


# ---- without xmpcc ------------------------------------------------------------------------------


@pytest.mark.parametrize("compiler", [("gcc", "-std=c99"), ("gcc", "-std=c11"), ("clang-14", "-std=c11"),
                                      ("g++", "-x", "c++", "-std=c++17")])
def test_other_compilers_make_the_serial_program(user, xmp_programs, installation, folder, compiler):
    if shutil.which(compiler[0]) is None:
        pytest.skip(f"{compiler[0]} is not installed")
    program = folder / "serial"
    ended = user.run([*compiler, "-Wall", "-Wextra", "-Werror", "-Wno-unknown-pragmas", "-pedantic",
                      f"-I{installation.root}/include/xmp", xmp_programs.sources / "serial.c", "-o", program],
                     timeout=RUN_LIMIT_S)
    assert (ended.code, ended.err) == (0, ""), ended
    ended = user.run([program], timeout=RUN_LIMIT_S)
    assert (ended.code, ended.out) == (3, "28: none, -2001, no block\n"), ended


def test_a_program_is_not_half_serial(user, xmp_programs, installation, folder):
    """Its files would not agree about the number of nodes."""
    user.new_file(folder / "part.c", "#include <xmp.h>\nint part(void) { return xmp_node_num(); }\n")
    user.new_file(folder / "main.c", "#include <xmp.h>\nint part(void);\n#pragma xmp nodes p[*]\n"
                                     "int main(void) { return part(); }\n")
    for words in (["gcc", f"-I{installation.root}/include/xmp", "-c", "part.c"],
                  [xmp_programs.xmpcc, "main.c", "part.o", "-o", "half"]):
        ended = user.run(words, cwd=folder, timeout=RUN_LIMIT_S)
        assert ended.code == 0, ended
    ended = user.run([folder / "half"], timeout=RUN_LIMIT_S)
    assert ended.code == 1 and ended.err == ("nagaya: XMP: a file of this program includes xmp.h, but was compiled "
                                             "without xmpcc and would be serial: compile it with xmpcc\n"), ended



# ---- random programs ----------------------------------------------------------------------------


@pytest.fixture
def random_program(user, xmp_programs):
    """A random program and what its serial oracle prints."""
    def make(seed, nodes):
        source = xmp_programs.folder / f"random-{seed}-{nodes}.c"
        if not source.exists():
            user.new_file(source, random_programs.program(seed, nodes))
        oracle = user.run([xmp_programs.serial(source.stem, source)], timeout=RUN_LIMIT_S)
        assert oracle.code == 0, oracle
        return xmp_programs.compiled(source.stem, source), oracle.out
    return make


def repeat(seed, nodes, ended):
    return f"python3 random_programs.py {seed} {nodes}\n{ended}"


@pytest.mark.parametrize("nodes", COUNTS)
@pytest.mark.parametrize("seed", SEEDS)
def test_random_programs_compute_what_serial_ones_do(start, random_program, seed, nodes):
    program, wanted = random_program(seed, nodes)
    for environment in ({}, MESSAGES) if FULL or seed == 0 else ({},):
        ended = start(nodes, program, **environment)
        assert (ended.code, ended.out) == (0, wanted), repeat(seed, nodes, ended)


@pytest.mark.parametrize("seed, used, each", SEEDS_OVER_HOSTS)
def test_random_programs_do_so_over_hosts(start_over, random_program, seed, used, each):
    program, wanted = random_program(seed, used * each)
    ended = start_over(used, each, program)
    assert (ended.code, ended.out) == (0, wanted), repeat(seed, used * each, ended)


@pytest.fixture
def random_gmoves(user, xmp_programs):
    def make(seed, nodes):
        source = xmp_programs.sources / f"random-gmoves-{seed}-{nodes}.c"
        if not source.exists():
            user.new_file(source, random_gmoves_of.program(seed, nodes))
        return xmp_programs.compiled(source.stem, source)
    return make


@pytest.mark.parametrize("nodes", COUNTS)
@pytest.mark.parametrize("seed", SEEDS)
def test_random_gmoves_assign_what_loops_do(start, random_gmoves, seed, nodes):
    ended = start(nodes, random_gmoves(seed, nodes))
    assert (ended.code, ended.out, ended.err) == (0, "ok\n", ""), f"random_gmoves.py {seed} {nodes}\n{ended}"


@pytest.mark.parametrize("seed, used, each", SEEDS_OVER_HOSTS)
def test_random_gmoves_do_so_over_hosts(start_over, random_gmoves, seed, used, each):
    ended = start_over(used, each, random_gmoves(seed, used * each))
    assert (ended.code, ended.out) == (0, "ok\n"), f"random_gmoves.py {seed} {used * each}\n{ended}"


@pytest.mark.parametrize("seed, nodes", [(seed, nodes) for seed in range(20) for nodes in range(1, 9)] if FULL
                         else [(0, 3), (1, 8)])
def test_random_files_have_what_loops_write(user, start, xmp_programs, seed, nodes):
    source = xmp_programs.sources / f"random-files-{seed}-{nodes}.c"
    user.new_file(source, random_files_of.program(seed, nodes))
    program = xmp_programs.compiled(source.stem, source)
    ended = start(nodes, program, f"{program}.file")
    assert (ended.code, ended.out, ended.err) == (0, "ok\n", ""), f"random_files.py {seed} {nodes}\n{ended}"


# ---- examples -----------------------------------------------------------------------------------

# Options of the compiler, arguments of the program.
EXAMPLES = {"laplace": (("-DN=200",), (30,)), "himeno": (("-DMI=32", "-DMJ=32", "-DMK=32"), (5,)),
            "reflect": (("-DM=100",), (5,)), "stream": (("-DN=100000",), (3,)),
            "matrix_multiply": (("-DN=100",), ()), "conjugate_gradients": (("-DN=1400",), (15,)),
            "lu": (("-DN=100",), ())}


@pytest.fixture
def example(xmp_programs):
    def make(name, *options):
        return xmp_programs.compiled(name, xmp_programs.examples / f"{name}.c",
                                 options=("-O2", *EXAMPLES[name][0], *options))
    return make


@pytest.fixture
def serial_field(user, xmp_programs):
    """The checksum of the field that the serial program computes."""
    def of(name):
        program = xmp_programs.serial(name, xmp_programs.examples / f"{name}.c",
                                  options=("-O2", *EXAMPLES[name][0]))
        return field(user.run([program, *EXAMPLES[name][1]], timeout=RUN_LIMIT_S))
    return of


def field(ended):
    assert ended.code == 0 and ended.out.endswith("PASS\n"), ended
    found = re.search(r"checksum (\w+)", ended.out)
    return found and found[1]


@pytest.mark.parametrize("nodes, options", [(1, ()), (4, ("-DPJ=2",)), (6, ("-DPJ=3",))])
@pytest.mark.parametrize("name", EXAMPLES)
def test_the_examples_compute_the_serial_field(start, example, serial_field, name, nodes, options):
    ended = start(nodes, example(name, *options), *EXAMPLES[name][1])
    assert field(ended) == serial_field(name), ended


@pytest.mark.parametrize("options, environment",
                         [((), MESSAGES), (("-fopenmp",), {"OMP_NUM_THREADS": "2"})])
def test_the_variants_of_laplace_have_the_same_field(start, example, serial_field, options,
                                                     environment):
    ended = start(3, example("laplace", *options), 30, **environment)
    assert field(ended) == serial_field("laplace"), ended


def test_laplace_over_hosts_has_the_same_field(start_over, example, serial_field):
    ended = start_over(3, 2, example("laplace"), 30)
    assert field(ended) == serial_field("laplace"), ended


# ---- requests between nodes ---------------------------------------------------------------------


def requests_of(hosts, nagaya, used):
    """Of the delegatees of all hosts together, by kind."""
    counts = collections.Counter()
    for number in range(used):
        ended = hosts.user_on(number).run([nagaya, "ps", "--json"])
        assert ended.code == 0, ended
        [job] = json.loads(ended.out)["jobs"]
        counts.update(job["requests"])
    return counts


@pytest.mark.parametrize("used, each", [(2, 1), (2, 2), (2, 4), (3, 1), (3, 2), (3, 4)])
def test_a_reflect_makes_two_requests_for_each_boundary_of_hosts(hosts, front, nagaya, xmp_programs, used,
                                                                 each):
    """However many nodes a host has, and nothing else: what is sent back is the receipt. The pauses
    are barriers, which make requests, too."""
    reflects = 20
    names = ",".join(f"{name}:{each}" for name in hosts.names[:used])
    job = front.start([nagaya, "run", "-n", used * each, "--hosts", names, xmp_programs.compiled("paused"),
                       reflects], env=SHARED_PROCESSORS, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        counts = []
        for pause in (b"first\n", b"second\n", b"third\n"):
            assert job.stdout.readline() == pause
            counts.append(requests_of(hosts, nagaya, used))
            job.stdin.write(b"\n")
            job.stdin.flush()
        assert job.stdout.readline() == b"ok\n" and job.wait(timeout=RUN_LIMIT_S) == 0
    finally:
        job.kill()
    by_reflects = (counts[2] - counts[1]) - (counts[1] - counts[0])
    assert by_reflects == {"write_notify": 2 * (used - 1) * reflects}, counts


# ---- deaths -------------------------------------------------------------------------------------


def check_end(ended):
    """The job ends soon after a node has said that it kills itself now."""
    end = time.monotonic()
    said = re.search(r"^killed at ([\d.]+)$", ended.out, re.M)
    assert ended.code == 128 + 9 and said and end - float(said[1]) < END_LIMIT_S, ended


@pytest.mark.parametrize("where", PLACES)
@pytest.mark.parametrize("environment", [{}, MESSAGES], ids=["copies", "messages"])
def test_a_node_that_dies_ends_the_job(start, xmp_programs, where, environment):
    check_end(start(4, xmp_programs.compiled("dies"), where, **environment))


@pytest.mark.parametrize("where", PLACES if FULL else ["reflect", "put", "lock"])
def test_a_node_that_dies_ends_the_job_on_all_hosts(start_over, xmp_programs, where):
    check_end(start_over(2, 2, xmp_programs.compiled("dies"), where))


def ends_of(start, xmp_programs, where):
    begin = time.monotonic()
    ended = start(4, xmp_programs.compiled("ends"), where)
    assert time.monotonic() - begin < END_LIMIT_S, ended
    return ended


@pytest.mark.parametrize("where", ["barrier", "bcast", "reduction"])
def test_a_node_that_ends_while_others_wait_for_it_ends_the_job(start, xmp_programs, where):
    ended = ends_of(start, xmp_programs, where)
    assert ended.code == 1 and ended.out == "", ended
    assert re.search(r"^nagaya: XMP: rank 1 has ended, and rank [023] waits for it: ", ended.err, re.M), ended


def test_a_node_that_ends_while_others_wait_for_each_other_ends_well(start, xmp_programs):
    ended = ends_of(start, xmp_programs, "apart")
    assert (ended.code, ended.out, ended.err) == (0, "ok\n", ""), ended

# SPDX-License-Identifier: BSD-3-Clause
"""How the face of MPI gets into tasks, and what users see of it."""
import pathlib
import re
import shutil

import pytest

PYTHON = "/usr/bin/python3"  # Debian has mpi4py for Open MPI only
LOADER = "/lib64/ld-linux-x86-64.so.2"
VERBOSE = {"NAGAYA_MPI_VERBOSE": "1"}
IN_THE_SPACE = "nagaya: MPI_COMM_WORLD of 2 processes: in the space"


@pytest.fixture
def program(installation):
    if not installation.has("mpi_face_environment"):
        pytest.skip("MPICH's compiler is not installed (Debian: libmpich-dev)")
    return installation.program("mpi_face_environment")


def mpiexec():
    path = shutil.which("mpiexec.hydra") or shutil.which("mpiexec.mpich")
    if path is None:
        pytest.skip("MPICH's mpiexec is not installed (Debian: mpich)")
    return path


def command(nagaya, how):
    return [nagaya, "run", "-n", 2] if how == "run" else [mpiexec(), "-n", "2", nagaya, "exec"]


def variables(wish):
    return {**VERBOSE, **({"NAGAYA_MPI": wish} if wish else {})}


@pytest.mark.parametrize("how", ["run", "exec"])
@pytest.mark.parametrize("wish", [None, "local", "on"])
def test_messages_within_a_node_are_ours_by_default(user, nagaya, program, how, wish):
    ended = user.run([*command(nagaya, how), program, "send"], env=variables(wish))
    assert ended.code == 0 and ended.out.startswith("face 1\n"), ended
    assert ended.err.splitlines()[0] == IN_THE_SPACE, ended
    calls = re.search(r"nagaya: (\d+) calls of point-to-point functions, (\d+) of collectives", ended.err)
    assert int(calls.group(1)) == 6, ended  # three sends, three receives


@pytest.mark.parametrize("how", ["run", "exec"])
def test_one_variable_switches_the_face_off(user, nagaya, program, how):
    ended = user.run([*command(nagaya, how), program, "send"], env=variables("off"))
    said = {"run": "nagaya: MPI_COMM_WORLD: by the MPI: NAGAYA_MPI=off\n", "exec": ""}[how]
    assert ended.code == 0 and ended.out.startswith("face 0\n") and ended.err == said, ended


def test_ordinary_processes_have_no_face(user, nagaya, program):
    ended = user.run([nagaya, "run", "--separate", "-n", 2, program, "send"], env=VERBOSE)
    assert ended.code == 0 and ended.out.startswith("face 0\n") and ended.err == "", ended


def test_each_communicator_is_told_by_its_first_process(user, nagaya, program):
    ended = user.run([nagaya, "run", "-n", 2, program, "split"], env=VERBOSE)
    said = ended.err.splitlines()
    assert ended.code == 0 and said[0] == IN_THE_SPACE, ended
    assert said[1:3] == ["nagaya: a communicator of 1 process: in the space"] * 2, ended
    assert len(said) == 4, ended


def test_a_job_of_which_a_process_is_no_task_keeps_its_mpi(user, nagaya, program):
    """The others do not wait for it in a collective of which it does not know."""
    ended = user.run([mpiexec(), "-n", "1", nagaya, "exec", program, "split", ":", "-n", "1", program, "split"],
                     env=VERBOSE)
    said = [line for line in ended.err.splitlines() if line.startswith("nagaya: MPI_")]
    assert ended.code == 0 and ended.out.startswith("face 1\n"), ended
    assert said == ["nagaya: MPI_COMM_WORLD of 2 processes: by the MPI: process 1 is no task of this space"], ended


def test_without_the_variable_nothing_is_said(user, nagaya, program):
    ended = user.run([nagaya, "run", "-n", 2, program, "send"])
    assert ended.code == 0 and ended.err == "", ended


@pytest.mark.parametrize("how", ["run", "exec"])
def test_a_wrong_value_is_refused(user, nagaya, program, how):
    words = [nagaya, "run"] if how == "run" else [nagaya, "exec"]
    ended = user.run([*words, program], env={"NAGAYA_MPI_VERBOSE": "yes"})
    assert ended.code == 126 and ended.out == "", ended
    assert ended.err == "nagaya: NAGAYA_MPI_VERBOSE=yes is not 0 or 1\n", ended


@pytest.mark.parametrize("value", [None, "", "libm.so.6", "libm.so.6 libdl.so.2", "libm.so.6:libdl.so.2:"])
@pytest.mark.parametrize("before", [[], ["env"], ["sh", "-c", '"$0" "$@"']], ids=["itself", "env", "sh"])
def test_the_program_and_its_children_find_the_users_own_value(user, nagaya, program, value, before):
    environment = {"LD_PRELOAD": value} if value is not None else {}
    ended = user.run([nagaya, "run", "-n", 1, *before, program], env=environment)
    shown = "unset" if value is None else value
    assert (ended.code, ended.out) == (0, f"face 1\nself {shown}\nchild {shown}\n0\n"), ended


@pytest.mark.parametrize("words, count", [(["cat"], 0), ([PYTHON, "-c", "print(open('/proc/self/maps').read())"], 1),
                                          (["sh", "-c", "cat /proc/self/maps"], 0)], ids=["cat", "python", "sh"])
def test_only_programs_that_may_load_an_mpi_have_the_face(user, nagaya, words, count):
    ended = user.run([nagaya, "run", "-n", 1, *words, *(["/proc/self/maps"] if words == ["cat"] else [])])
    assert ended.code == 0 and ("libnagaya-mpi.so" in ended.out) == bool(count), ended


def test_a_program_of_another_libc_has_no_face(user, nagaya, program, folder):
    """A copy whose dynamic linker is another file: it could belong to any libc."""
    loader = user.new_file(pathlib.Path("/tmp") / f"ld{user.uid % 1000000:06}.so",
                           pathlib.Path(LOADER).read_bytes(), 0o755)
    content = program.read_bytes().replace(LOADER.encode() + b"\0",
                                           str(loader).encode().ljust(len(LOADER), b"\0") + b"\0", 1)
    ended = user.run([nagaya, "run", "-n", 2, user.new_file(folder / "copy", content, 0o755), "send"], env=VERBOSE)
    loader.unlink()
    assert ended.code == 0 and ended.out.startswith("face 0\nself unset\n") and ended.err == "", ended


def test_static_programs_find_the_users_own_value(user, nagaya, installation):
    """They run no dynamic linker, and would hand the face on to their children."""
    ended = user.run([nagaya, "run", "-n", 1, installation.program("static_pie"), "exit", 0])
    assert ended.code == 0 and ended.err == "", ended


def test_where_components_fit_the_face_leaves_messages_to_them(user, nagaya, installation, needs_components):
    ended = user.run([nagaya, "run", "-n", 2, installation.program("mpi_modes")],
                     env={**VERBOSE, "OMPI_MCA_pml_base_verbose": "10"})
    assert (ended.code, ended.out) == (0, "every mode among 2\n"), ended
    assert ended.err.count("component nagaya selected") == 2, ended
    assert ended.err.count("nagaya: MPI_COMM_WORLD: by the components for Open MPI ") == 1, ended
    assert re.findall("nagaya: .*in the space", ended.err) == [
        "nagaya: MPI_COMM_WORLD of 2 processes: windows in the space"], ended
    assert re.findall("nagaya: .*went through the space", ended.err) == [
        "nagaya: messages and collectives went by the components, 0 accesses to windows went through the space"], ended


SUM = """
from mpi4py.MPI import COMM_WORLD as world
total = world.allreduce(world.rank + 1)
if world.rank == 0: print(total)
"""


@pytest.mark.parametrize("how", ["run", "exec"])
def test_mpi4py_runs_with_the_face(user, nagaya, mpirun, how):
    if user.run([PYTHON, "-c", "import mpi4py"]).code != 0:
        pytest.skip("mpi4py is not installed (Debian: python3-mpi4py)")
    words = [nagaya, "run", "-n", 2] if how == "run" else [*mpirun, "-n", 2, nagaya, "exec"]
    ended = user.run([*words, PYTHON, "-c", SUM], env=VERBOSE)
    assert (ended.code, ended.out) == (0, "3\n"), ended
    carrier = "by the components for Open MPI" if how == "run" else "of 2 processes: in the space"
    assert f"nagaya: MPI_COMM_WORLD {carrier}" in ended.err.replace("WORLD:", "WORLD"), ended

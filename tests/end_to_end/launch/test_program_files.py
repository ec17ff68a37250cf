# SPDX-License-Identifier: BSD-3-Clause
"""Which files can be a task, under which name they run, and the messages for those that cannot."""
import os

import pytest

HOW = {"exec": ["exec"], "run": ["run", "-n", "2"]}


def identity(user, nagaya, words, cwd, how="exec"):
    ended = user.run([nagaya, *HOW[how], *words], cwd=cwd, env={"NAGAYA_TEST_VARIABLE": "a b"})
    assert ended.code == 0, ended
    return ended.out


@pytest.fixture
def program(installation):
    return installation.program("own_identity")


@pytest.mark.parametrize("how", HOW)
def test_a_program_knows_its_name_its_file_and_its_arguments(user, nagaya, program, folder, how):
    words = [program, "one", "", "two words", "--help", "-n", "--", "*"]
    outside = user.run(words, cwd=folder, env={"NAGAYA_TEST_VARIABLE": "a b"}).out
    assert f"exe {program}\n" in outside and "argument two words\n" in outside
    inside = identity(user, nagaya, words, folder, how)
    assert sorted(inside.splitlines()) == sorted(outside.splitlines() * (2 if how == "run" else 1))


def test_argv0_is_the_name_that_was_given(user, nagaya, program, folder):
    inside = identity(user, nagaya, [os.path.relpath(program, folder)], folder)
    assert inside.splitlines()[0] == f"argv0 {os.path.relpath(program, folder)}"


def test_under_mpirun_a_program_of_the_working_folder_needs_no_path(user, nagaya, mpirun, program):
    """Open MPI's mpirun finds it there, for the ranks and in MPI_Comm_spawn."""
    words = [*mpirun, "-n", 1]
    inside = user.run([*words, nagaya, "exec", "own_identity"], cwd=program.parent)
    assert inside.code == 0 and f"exe {program}\n" in inside.out, inside
    alone = user.run([nagaya, "exec", "own_identity"], cwd=program.parent)
    assert alone.code == 127 and "no such program" in alone.err, alone


def test_a_program_of_path_keeps_its_short_name(user, nagaya, program, folder):
    environment = {"PATH": f"{program.parent}:/usr/bin"}
    outside = user.run(["own_identity"], env=environment).out
    inside = user.run([nagaya, "exec", "own_identity"], env=environment).out
    assert inside == outside and inside.startswith("argv0 own_identity\n")


def test_settings_of_the_dynamic_linker_reach_a_task(user, nagaya):
    """ld.so looks behind the end of this one, where nothing was mapped."""
    environment = {"GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX2"}
    inside = user.run([nagaya, "exec", "/bin/echo", "hello"], env=environment)
    assert (inside.code, inside.out, inside.err) == (0, "hello\n", ""), inside


def test_a_symbolic_link_runs_what_it_points_to(user, nagaya, program, folder):
    link = folder / "another_name"
    link.symlink_to(program)
    inside = user.run([nagaya, "exec", "./another_name"], cwd=folder).out
    assert inside.startswith(f"argv0 ./another_name\nexe {program}\n")


def short_name(out):
    return [line for line in out.splitlines() if line.startswith("name ")]


@pytest.mark.parametrize("what", ["link", "script"])
def test_the_short_name_of_the_process_is_that_of_the_file_started(user, nagaya, program, folder,
                                                                   what):
    """As the kernel has it; ps, pgrep and pkill go by it."""
    path = folder / f"started_{what}"
    if what == "link":
        path.symlink_to(program)
    else:
        user.new_file(path, f"#!{program}\n", 0o755)
    assert short_name(user.run([path]).out) == [f"name started_{what}"]
    assert short_name(user.run([nagaya, "exec", path]).out) == [f"name started_{what}"]


def test_a_link_finds_the_libraries_beside_its_target(user, nagaya, installation, folder):
    """$ORIGIN in the program's run path means the folder of the file, not of the link."""
    link = folder / "linked_exceptions"
    link.symlink_to(installation.program("exceptions"))
    ended = user.run([nagaya, "exec", link])
    assert ended.code == 0 and "caught 800" in ended.out, ended


def without_name(out):
    return [line for line in out.splitlines() if not line.startswith("name ")]


@pytest.mark.parametrize("first_line", ["#!{program}", "#! {program} -x", "#!/usr/bin/env own_identity",
                                        "#!/bin/sh\necho argument $1 $0\nexit 0\n"])
def test_scripts_run_through_their_interpreter(user, nagaya, program, folder, first_line):
    text = first_line.format(program=program) + "\nrest of the script\n"
    script = user.new_file(folder / "script", text, 0o755)
    environment = {"PATH": f"{program.parent}:/usr/bin:/bin"}
    outside = user.run([script, "one", "two three"], env=environment)
    inside = user.run([nagaya, "exec", script, "one", "two three"], env=environment)
    assert outside.code == 0 and outside.out
    assert (inside.code, without_name(inside.out)) == (0, without_name(outside.out)), inside


def test_a_python_script_runs_through_the_launcher_of_python(user, nagaya, folder):
    script = user.new_file(folder / "script.py",
                           "#!/usr/bin/env python3\nimport sys\nprint(sys.argv, 6 * 7)\n", 0o755)
    ended = user.run([nagaya, "exec", "./script.py", "one"], cwd=folder)
    assert (ended.code, ended.out) == (0, "['./script.py', 'one'] 42\n"), ended


def refusals(installation, folder, user):
    """what: (file, exit code, a word that the message must have)"""
    no_permission = user.new_file(folder / "no_permission", "#!/bin/sh\n", 0o644)
    bad_interpreter = user.new_file(folder / "bad_interpreter", "#!/no/such/interpreter\n", 0o755)
    no_program = user.new_file(folder / "no_program", b"\x00\x01\x02 nothing that runs", 0o755)
    empty = user.new_file(folder / "empty", b"", 0o755)
    truncated = user.new_file(folder / "truncated", b"\x7fELF\x02\x01\x01", 0o755)
    dangling = folder / "dangling"
    dangling.symlink_to("nowhere")
    return {
        "missing": (folder / "missing", 127, "no such"),
        "missing in PATH": ("nagaya-no-such-program", 127, "no such"),
        "dangling link": (dangling, 127, "no such"),
        "directory": (folder, 126, "directory"),
        "no permission": (no_permission, 126, "ermission"),
        "not position-independent": (installation.program("not_position_independent"), 126, "-pie"),
        "bad interpreter": (bad_interpreter, 126, "interpreter"),
        "no program": (no_program, 126, ""),
        "empty": (empty, 126, ""),
        "truncated": (truncated, 126, ""),
    }


CASES = ["missing", "missing in PATH", "dangling link", "directory", "no permission",
         "not position-independent", "bad interpreter", "no program", "empty", "truncated"]


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("how", HOW)
def test_what_cannot_run_is_named_in_one_line(user, nagaya, installation, folder, leftovers, how,
                                              case):
    path, code, word = refusals(installation, folder, user)[case]
    ended = user.run([nagaya, *HOW[how], path])
    assert ended.code == code, ended
    assert len(ended.err.splitlines()) == 1 and ended.out == "", ended
    assert str(path) in ended.err and word in ended.err, ended
    assert not leftovers.after_limit().processes


def test_a_fixed_address_program_runs_separately(user, nagaya, installation):
    program = installation.program("not_position_independent")
    ended = user.run([nagaya, "run", "--separate", "-n", 2, program, "exit", 5])
    assert ended.code == 5, ended


def test_false_ends_with_one(user, nagaya):
    assert user.run([nagaya, "exec", "/bin/false"]).code == 1
    assert user.run([nagaya, "exec", "/bin/true"]).code == 0

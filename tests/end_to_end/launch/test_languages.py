# SPDX-License-Identifier: BSD-3-Clause
"""Programs that lean on their language's runtime: as a task, alone and several at once, they print
what they print as an ordinary process."""
import pathlib
import shutil

import pytest

PROGRAMS_FOLDER = pathlib.Path(__file__).parents[2] / "programs"
PROGRAMS = {
    "openmp_sum": "threads 4 sum 500000500000 owns 6 fibonacci 610\n",
    "exceptions": "caught 800 ended 4\nstatic destructor\n",
    "fortran_sum": None,  # a number of many digits: compared with the ordinary process only
    "trampoline": "sum 15\n",
    "threads": "counter 160000 destroyed 8\n",
}
# Programs that some compilers cannot build.
NOT_EVERYWHERE = {"trampoline": "nested functions are gcc's", "openmp_sum": "no OpenMP library"}
AT_ONCE = 3


def sorted_lines(text):
    return sorted(text.splitlines())


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_task_prints_what_the_process_prints(user, nagaya, installation, folder, name):
    if name in NOT_EVERYWHERE and not installation.has(name):
        pytest.skip(f"{name} was not built: {NOT_EVERYWHERE[name]}")
    program = installation.program(name)
    outside = user.run([program], cwd=folder)
    assert outside.code == 0 and outside.out == (PROGRAMS[name] or outside.out), outside
    inside = user.run([nagaya, "exec", program], cwd=folder)
    assert (inside.code, inside.out) == (0, outside.out), inside
    together = user.run([nagaya, "run", "-n", AT_ONCE, program], cwd=folder)
    assert together.code == 0, together
    assert sorted_lines(together.out) == sorted_lines(outside.out * AT_ONCE)


@pytest.mark.parametrize("layout", ["separate-code", "noseparate-code", "max-page-size"])
def test_a_task_loads_and_unloads_libraries(user, nagaya, installation, folder, layout):
    words = [installation.program("loads_plugin"), installation.program(f"plugin-{layout}.so")]
    for launch in ([], [nagaya, "exec"], [nagaya, "run", "-n", "3"]):
        ended = user.run(launch + words, cwd=folder)
        assert ended.code == 0, ended
        times = 3 if "run" in launch else 1
        assert sorted_lines(ended.out) == sorted_lines("sum 124\nplugin unloaded\n" * 3 * times)


def test_a_static_program_that_is_position_independent_runs(user, nagaya, installation):
    ended = user.run([nagaya, "run", "-n", "2", installation.program("static_pie"), "write", 128])
    assert ended.code == 0, ended
    assert len(ended.out.splitlines()) == 4


@pytest.mark.parametrize("words", [["ls", "-la", "/usr"], ["sort", "-r", "/etc/passwd"],
                                   ["perl", "-e", "print 2**40, qq(\\n)"], ["cat", "/etc/passwd"],
                                   ["bash", "-c", "for i in 1 2 3; do echo $((i * i)); done | tac"]],
                         ids=lambda words: words[0])
def test_everyday_programs_run_as_tasks(user, nagaya, folder, words):
    outside = user.run(words, cwd=folder)
    inside = user.run([nagaya, "exec", *words], cwd=folder)
    assert (inside.code, inside.out) == (outside.code, outside.out), inside
    assert outside.code == 0, outside


@pytest.mark.parametrize("library", ["libmpi.so.40", "libmpich.so.12"])
def test_an_interpreter_that_opens_an_mpi_late_keeps_its_ranks(user, nagaya, folder, library):
    if shutil.which("ruby") is None:
        pytest.skip("ruby is not installed")
    script = user.new_file(folder / "mpi_launched.rb", (PROGRAMS_FOLDER / "mpi_launched.rb").read_text())
    ended = user.run([nagaya, "run", "-n", 3, "ruby", script, library])
    assert ended.code == 0, ended
    assert sorted_lines(ended.out) == [f"rank {n} of 3" for n in range(3)]

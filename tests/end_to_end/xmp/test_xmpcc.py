# SPDX-License-Identifier: BSD-3-Clause
"""xmpcc as a C compiler: its command line, ordinary projects, separate units, dependencies, line
tables, errors."""
import re
import shutil
import subprocess

import pytest

LIMIT_S = 60
GRID = """#pragma xmp nodes p[*]
#pragma xmp template t[100]
#pragma xmp distribute t[block] onto p
extern double u[100];
#pragma xmp align u[i] with t[i]
#pragma xmp shadow u[1]
"""
HEADER = "#pragma once\n" + GRID
MAIN = """#include <stdio.h>
#include "grid.h"
double u[100];
double sum(void);
int main(void) {
#pragma xmp loop on t[i]
  for (int i = 0; i < 100; i++) u[i] = i;
  double total = sum();
  if (total != 4950) return 1;
#pragma xmp task on p[0]
  printf("ok\\n");
  return 0;
}
"""
SUM = """#include "grid.h"
double sum(void) {
  double total = 0;
#pragma xmp loop on t[i] reduction(+:total)
  for (int i = 0; i < 100; i++) total += u[i];
  return total;
}
"""
# A main() that knows nothing of XMP.
PLAIN_MAIN = """#include <stdio.h>
double both(void);
int main(void) { return both() == 4950 ? 0 : 1; }
"""
BOTH = GRID + """double u[100];
double both(void) {
  double total = 0;
#pragma xmp loop on t[i]
  for (int i = 0; i < 100; i++) u[i] = i;
#pragma xmp loop on t[i] reduction(+:total)
  for (int i = 0; i < 100; i++) total += u[i];
  return total;
}
"""


@pytest.fixture
def place(folder, user):
    """A folder with a space in its name, of the ordinary user."""
    made = folder / "my project"
    made.mkdir()
    made.chmod(0o777)
    return made


@pytest.fixture
def xmpcc(user, xmp_programs, place):
    def run(*words, program=None, **environment):
        return user.run([program or xmp_programs.xmpcc, *words], cwd=place, env=environment, timeout=LIMIT_S)
    return run


@pytest.fixture
def start(user, nagaya, place):
    def run(nodes, program):
        return user.run([nagaya, "run", "-n", nodes, program], cwd=place, timeout=LIMIT_S)
    return run


def write(place, **texts):
    for name, text in texts.items():
        (place / name.replace("__", " ").replace("_dot_", ".")).write_text(text)


def check_silent(ended, output=""):
    assert (ended.code, ended.out, ended.err) == (0, output, ""), ended


def test_units_are_compiled_apart_and_linked(xmpcc, start, place):
    write(place, main_dot_c=MAIN, sum_dot_c=SUM, grid_dot_h=HEADER)
    check_silent(xmpcc("-O1", "-c", "main.c", "sum.c"))
    check_silent(xmpcc("main.o", "sum.o", "-o", "apart"))
    check_silent(xmpcc("main.c", "sum.c", "-o", "together"))
    for program in "apart", "together":
        check_silent(start(3, place / program), "ok\n")


def test_main_may_know_nothing_of_xmp(xmpcc, start, place):
    write(place, main_dot_c=PLAIN_MAIN, both_dot_c=BOTH)
    check_silent(xmpcc("main.c", "both.c", "-o", "plain"))
    check_silent(start(4, place / "plain"))


def test_a_library_of_units_is_found_in_an_archive(xmpcc, start, place, user):
    write(place, main_dot_c=PLAIN_MAIN, both_dot_c=BOTH)
    check_silent(xmpcc("-c", "both.c"))
    assert user.run(["ar", "rc", "libboth.a", "both.o"], cwd=place, timeout=LIMIT_S).code == 0
    check_silent(xmpcc("main.c", "-L.", "-lboth", "-o", "archived"))
    check_silent(start(2, place / "archived"))


def test_names_may_have_spaces_and_quotes(xmpcc, start, place):
    name = 'the "main" file.c'
    (place / name).write_text(MAIN.replace("double sum(void);", '#include "the sum.c"'))
    write(place, the__sum_dot_c=SUM, grid_dot_h=HEADER)
    check_silent(xmpcc(name, "-o", "a program"))
    check_silent(start(2, place / "a program"), "ok\n")


def test_dependencies_are_the_originals(xmpcc, place):
    write(place, main_dot_c=MAIN, grid_dot_h=HEADER)
    check_silent(xmpcc("-MD", "-MP", "-c", "main.c", "-o", "the.o"))
    rule = (place / "the.d").read_text().split("\n\n")[0]
    assert rule.startswith("the.o: main.c") and "grid.h" in rule and "stdio.h" in rule
    check_silent(xmpcc("-MMD", "-MF", "other.d", "-MT", "target", "-c", "main.c"))
    rule = (place / "other.d").read_text()
    assert rule.startswith("target: main.c") and "grid.h" in rule and "stdio.h" not in rule
    check_silent(xmpcc("-MMD", "-MP", "-MFjoined.d", "-MTtarget", "-c", "main.c"))
    assert (place / "joined.d").read_text().splitlines()[0] == rule.splitlines()[0]
    assert "grid.h" in xmpcc("-M", "main.c").out


def test_pragmas_about_warnings_reach_the_compiler_behind(xmpcc, place):
    """Of which Clang knows some only."""
    pragmas = ["push", 'ignored "-Wmaybe-uninitialized"', 'error "-Wunused-variable"', "pop"]
    text = "".join(f"#pragma GCC diagnostic {words}\n" for words in pragmas)
    text += '_Pragma("GCC diagnostic ignored \\"-Wunused-variable\\"")\n'
    write(place, main_dot_c=MAIN.replace("double sum", text + "double sum"), grid_dot_h=HEADER)
    kept = re.findall("^#pragma GCC diagnostic (.*)$", xmpcc("--emit-c", "main.c").out, re.M)
    assert kept == [*pragmas, 'ignored "-Wunused-variable"']


def test_assembly_and_preprocessed_text_come_as_from_a_cc(xmpcc, place):
    write(place, main_dot_c=MAIN, grid_dot_h=HEADER)
    check_silent(xmpcc("-S", "main.c"))
    assert "nagaya_xmp_loop" in (place / "main.s").read_text()
    assert "#pragma xmp loop" in xmpcc("-E", "main.c").out
    assert "nagaya_xmp_loop" in xmpcc("--emit-c", "main.c").out


def test_debuggers_know_the_users_lines(xmpcc, place, user):
    write(place, main_dot_c=MAIN, grid_dot_h=HEADER, sum_dot_c=SUM)
    check_silent(xmpcc("-g", "main.c", "sum.c", "-o", "debugged"))
    for line in 8, 11:
        ended = user.run(["gdb", "-batch", "-ex", f"info line main.c:{line}", "debugged"], cwd=place,
                         timeout=LIMIT_S)
        assert re.search(rf'Line {line} of "main.c" starts at address', ended.out), ended


def test_errors_of_the_compiler_behind_are_at_the_users_lines(xmpcc, place):
    write(place, main_dot_c=MAIN.replace("total != 4950", "total != 1 + (int)main"), grid_dot_h=HEADER)
    ended = xmpcc("-Werror", "-c", "main.c")
    assert ended.code == 1 and "main.c:9:" in ended.err, ended


def test_warnings_are_those_of_the_users_code(xmpcc, place):
    write(place, main_dot_c=MAIN, grid_dot_h=HEADER, sum_dot_c=SUM)
    check_silent(xmpcc("-Wall", "-Wextra", "-O2", "-c", "main.c", "sum.c"))


def test_several_errors_are_all_shown(xmpcc, place):
    write(place, main_dot_c=MAIN.replace("p[0]", "q[0]").replace("on t[i]", "on s[i]"), grid_dot_h=HEADER)
    ended = xmpcc("main.c")
    assert ended.code == 1 and ended.err.count(": error: xmp: ") == 2, ended
    assert re.search(r"^main\.c:6:21: error: xmp: 's' .*\n +6 \| #pragma xmp loop on s\[i\]\n", ended.err)
    assert not (place / "a.out").exists()


def test_bad_command_lines_are_one_line(xmpcc, place):
    write(place, main_dot_c=MAIN, grid_dot_h=HEADER)
    for words in (["-o"], ["--cc=nobody", "main.c"], ["main.c", "-c", "-o", "x.o", "--cc=false"]):
        ended = xmpcc(*words)
        assert ended.code != 0 and ended.err.startswith("xmpcc: error: "), ended
    ended = xmpcc("missing.c")
    assert ended.code == 1 and "missing.c" in ended.err
    assert xmpcc().code == 1


def test_a_compiler_behind_can_be_named(xmpcc, start, place):
    write(place, main_dot_c=MAIN, grid_dot_h=HEADER, sum_dot_c=SUM)
    clang = next((name for name in ("clang-14", "clang-19", "clang") if shutil.which(name)), None)
    if clang is None:
        pytest.skip("clang is not installed")
    check_silent(xmpcc("-O1", "main.c", "sum.c", "-o", "by-clang", XMPCC_CC=clang))
    check_silent(start(2, place / "by-clang"), "ok\n")


def test_a_compiler_behind_may_say_its_version(xmpcc, start, place):
    write(place, main_dot_c=MAIN, grid_dot_h=HEADER, sum_dot_c=SUM)
    # As MPICH's mpicc does.
    write(place, cc="#!/bin/sh\ncase \" $* \" in *' -v '*) echo mpicc for MPICH version 4.0; esac\n"
                    "exec gcc \"$@\"\n")
    (place / "cc").chmod(0o755)
    check_silent(xmpcc("main.c", "sum.c", "-o", "program", "--cc=./cc"))
    check_silent(start(2, place / "program"), "ok\n")


def test_the_standard_of_the_language_is_the_users(xmpcc, place):
    write(place, main_dot_c=MAIN, grid_dot_h=HEADER)
    for standard in "c99", "c11", "gnu11", "c17":
        check_silent(xmpcc(f"-std={standard}", "-c", "main.c"))


def test_the_c_of_1989_has_reductions_of_arrays_too(xmpcc, place):
    write(place, old_dot_c="#pragma xmp nodes p[*]\n#pragma xmp template t[8]\n#pragma xmp distribute t[block] onto p\n"
          "int main(void) {\n  int i, sums[2] = {0};\n#pragma xmp loop on t[i] reduction(+ : sums)\n"
          "  for (i = 0; i < 8; i++) sums[i % 2]++;\n  return sums[0] - 4;\n}\n")
    for standard in "-ansi", "-std=gnu89":
        check_silent(xmpcc(standard, "-c", "old.c"))


def test_a_standard_that_is_none_of_c_is_refused(xmpcc, place):
    write(place, main_dot_c=MAIN, grid_dot_h=HEADER)
    ended = xmpcc("-std=c++17", "-c", "main.c")
    assert ended.code == 1 and "xmpcc: error: invalid argument '-std=c++17'" in ended.err, ended


@pytest.mark.parametrize("option, line", [
    ("--chek", "'--chek'; did you mean xmpcc's own --check?"),
    ("-fno-such", "'-fno-such'; xmpcc's own options: xmpcc --help")])
def test_an_unknown_option_is_refused_in_one_line(xmpcc, place, option, line):
    write(place, main_dot_c=MAIN, grid_dot_h=HEADER)
    ended = xmpcc(option, "-c", "main.c", "--cc=gcc")
    said = ended.err.splitlines()
    assert ended.code == 1 and len(said) == 1 and said[0].startswith("xmpcc: error: gcc: error: "), ended
    assert said[0].replace("‘", "'").replace("’", "'").endswith(line), ended


def test_headers_of_the_system_do_not_disturb(xmpcc, place):
    headers = ["assert", "complex", "ctype", "errno", "fenv", "float", "inttypes", "limits", "locale", "math",
               "omp", "setjmp", "signal", "stdarg", "stdatomic", "stdbool", "stdio", "stdlib", "string",
               "tgmath", "threads", "time", "unistd", "pthread", "immintrin", "sys/time", "sys/mman"]
    text = "#define _GNU_SOURCE\n" + "".join(f"#include <{name}.h>\n" for name in headers) + MAIN
    write(place, main_dot_c=text, grid_dot_h=HEADER)
    for level in "-O0", "-O2":
        check_silent(xmpcc(level, "-D_FORTIFY_SOURCE=2" if level == "-O2" else "-g", "-fopenmp", "-march=native", "-c", "main.c"))


# ---- ordinary projects ----------------------------------------------------------------------------


def test_an_ordinary_source_gives_the_object_of_its_compiler(xmpcc, place):
    write(place, plain_dot_c="#include <stdio.h>\nint main(void) { puts(\"ok\"); return 3; }\n")
    check_silent(xmpcc("-O2", "-g", "-c", "plain.c", "-o", "by-xmpcc.o"))
    check_silent(xmpcc("-O2", "-g", "-D_XCALABLEMP=201411", "-c", "plain.c", "-o", "by-gcc.o", program="gcc"))
    contents = [subprocess.run(["objdump", "-d", place / name], capture_output=True, text=True).stdout.split("\n", 3)[3]
                for name in ("by-xmpcc.o", "by-gcc.o")]
    assert contents[0] == contents[1]
    check_silent(xmpcc("plain.c", "-o", "plain"))
    libraries = subprocess.run(["ldd", place / "plain"], capture_output=True, text=True).stdout
    assert "nagaya" not in libraries


def test_a_project_of_cmake_is_built_by_xmpcc(xmpcc, place, user, xmp_programs):
    write(place, CMakeLists_dot_txt="cmake_minimum_required(VERSION 3.13)\nproject(plain C)\nadd_library(part STATIC part.c)\n"
          "add_executable(plain main.c)\ntarget_link_libraries(plain part)\n",
          main_dot_c="int part(void);\nint main(void) { return part(); }\n", part_dot_c="int part(void) { return 0; }\n")
    for words in (["cmake", "-G", "Ninja", "-S", ".", "-B", "b", f"-DCMAKE_C_COMPILER={xmp_programs.xmpcc}"], ["cmake", "--build", "b"]):
        ended = user.run(words, cwd=place, timeout=LIMIT_S)
        assert ended.code == 0, ended
    check_silent(user.run([place / "b" / "plain"], timeout=LIMIT_S))


def test_the_macro_of_the_language_is_defined(xmpcc, place):
    write(place, plain_dot_c="#if _XCALABLEMP < 201411\n#error old\n#endif\nint main(void) { return 0; }\n")
    check_silent(xmpcc("plain.c"))


# ---- other languages ----------------------------------------------------------------------------


@pytest.mark.parametrize("name, line", [("a.f90", "  !$XMP nodes p(*)"), ("a.F90", "!$xmp barrier"),
                                        ("a.f", "c$xmp nodes p(*)"), ("a.F", "*$XMP nodes p(*)"),
                                        ("a.cc", " # pragma  xmp nodes p[*]"), ("a.C", '_Pragma("xmp barrier")')])
def test_a_directive_in_another_language_is_refused(xmpcc, place, name, line):
    """Its compiler would ignore it, and each process would be the whole program."""
    (place / name).write_text(f"\n{line}\n      end\n")
    language = "C++" if name.lower().startswith("a.c") else "Fortran"
    ended = xmpcc("-c", name)
    assert (ended.code, ended.out, ended.err) == (
        1, "", f"xmpcc: error: {name} is {language}, and line 2 is a directive of XcalableMP: xmpcc translates C only\n"), ended
    (place / "other.txt").write_text((place / name).read_text())
    ended = xmpcc("-c", "-x", "c++" if language == "C++" else "f95", "other.txt")
    assert ended.code == 1 and f"other.txt is {language}, and line 2" in ended.err, ended


def test_fortran_without_directives_is_for_the_compiler_behind(xmpcc, place):
    (place / "a.f90").write_text("! not !$xmp\n! $xmp\n!$xmpx\nend\n")
    (place / "cc").write_text('#!/bin/sh\necho "$@"\n')
    (place / "cc").chmod(0o755)
    ended = xmpcc("-c", "a.f90", "--cc=./cc")
    assert ended.code == 0 and "-c a.f90" in ended.out, ended


# ---- warnings of xmpcc ---------------------------------------------------------------------------


def test_a_loop_along_another_dimension_is_warned_of(xmpcc, place):
    write(place, main_dot_c="#pragma xmp nodes p[2][2]\n#pragma xmp template t[8][8]\n"
          "#pragma xmp distribute t[block][block] onto p\nint a[8][8];\n#pragma xmp align a[i][j] with t[i][j]\n"
          "int main(void) {\n#pragma xmp loop on t[j][i]\n  for (int i = 0; i < 8; i++)\n"
          "    for (int j = 0; j < 8; j++) a[i][0] = j;\n}\n")
    said = ("main.c:9:35: {}: xmp: index 'i' runs along dimension 2 of 't', but this subscript of 'a' lies on "
            "dimension 1: the loop leaves the process's block{}\n    9 |     for (int j = 0; j < 8; j++) a[i][0] = j;\n"
            "      |                                   ^\n")
    ended = xmpcc("-c", "main.c")
    assert (ended.code, ended.err) == (0, said.format("warning", "")), ended
    ended = xmpcc("-c", "-Werror", "main.c")
    assert (ended.code, ended.err) == (1, said.format("error", " [-Werror]")), ended
    check_silent(xmpcc("-c", "-w", "main.c"))


# ---- the corners of a command line ----------------------------------------------------------------


def test_a_source_may_come_from_standard_input(user, xmp_programs, start, place):
    write(place, main_dot_c=MAIN.replace("double sum(void);", SUM.replace('#include "grid.h"\n', "")), grid_dot_h=HEADER)
    for words, text in (["-o", "piped"], "main.c"), (["-MD", "-c", "-o", "piped.o"], "main.c"):
        command = " ".join(["cat", text, "|", f"'{xmp_programs.xmpcc}'", "-x", "c", "-", *words])
        check_silent(user.run(["sh", "-c", command], cwd=place, timeout=LIMIT_S))
    check_silent(start(2, place / "piped"), "ok\n")
    assert "grid.h" in (place / "piped.d").read_text()
    command = f"echo 'int main(void) {{ return 3; }}' | '{xmp_programs.xmpcc}' -x c - -o plain && ./plain"
    assert user.run(["sh", "-c", command], cwd=place, timeout=LIMIT_S).code == 3
    ended = user.run(["sh", "-c", f"echo '#pragma xmp nodez p[*]' | '{xmp_programs.xmpcc}' -x c -c -"], cwd=place,
                     timeout=LIMIT_S)
    assert ended.code == 1 and ended.err.startswith("<stdin>:1:13: error: xmp: "), ended


def test_a_pipe_with_a_name_is_refused(user, xmp_programs, place):
    command = f"mkfifo f.c && '{xmp_programs.xmpcc}' -c f.c"
    ended = user.run(["sh", "-c", command], cwd=place, timeout=LIMIT_S)
    assert ended.code == 1 and ended.err.startswith("xmpcc: error: f.c is a pipe"), ended


def test_files_of_words_may_name_others(xmpcc, place):
    write(place, main_dot_c=MAIN, grid_dot_h=HEADER, outer_dot_rsp="-c @inner.rsp", inner_dot_rsp="main.c",
          round_dot_rsp="@round.rsp")
    check_silent(xmpcc("@outer.rsp"))
    assert b"nagaya_xmp_unit" in (place / "main.o").read_bytes()
    ended = xmpcc("@round.rsp")
    assert ended.code == 1 and ended.err.startswith("xmpcc: error: ") and "nested too deeply" in ended.err


def test_a_full_disk_is_an_error(user, xmp_programs, place):
    write(place, main_dot_c=MAIN, grid_dot_h=HEADER)
    # Files of at most 4 KiB: the object fits, the translation does not.
    for command in "trap '' XFSZ; ulimit -f 8; '{}' -c main.c", "'{}' --emit-c main.c > /dev/full":
        ended = user.run(["sh", "-c", command.format(xmp_programs.xmpcc)], cwd=place, timeout=LIMIT_S)
        assert ended.code == 1 and ended.err.startswith("xmpcc: error: cannot write "), ended
    assert not (place / "main.o").exists()


def test_char_has_the_sign_that_the_compiler_gives_it(xmpcc, place):
    write(place, main_dot_c=GRID + "int f(void) {\n  char most = 0;\n#pragma xmp reduction(max : most)\n  return most;\n}\n")
    assert "NAGAYA_XMP_UNSIGNED_CHAR, (void *)&most" in xmpcc("--emit-c", "-funsigned-char", "main.c").out
    assert "NAGAYA_XMP_CHAR, (void *)&most" in xmpcc("--emit-c", "-fsigned-char", "main.c").out


def test_the_translation_goes_to_the_output_that_is_named(xmpcc, place):
    write(place, main_dot_c=MAIN, grid_dot_h=HEADER)
    check_silent(xmpcc("--emit-c", "main.c", "-o", "main.i"))
    assert "nagaya_xmp_loop" in (place / "main.i").read_text()


def test_dependencies_come_with_a_program_and_by_words_for_the_preprocessor(xmpcc, place):
    write(place, main_dot_c=MAIN, grid_dot_h=HEADER, sum_dot_c=SUM)
    check_silent(xmpcc("-MMD", "main.c", "sum.c"))
    for source in "main", "sum":
        assert (place / f"a-{source}.d").read_text().startswith(f"{source}.o: {source}.c grid.h")
    check_silent(xmpcc("-MMD", "main.c", "-c"))
    check_silent(xmpcc("-MMD", "-MF", "whole.d", "main.c", "sum.c", "-o", "whole"))
    assert (place / "whole.d").read_text().startswith("whole: ")
    check_silent(xmpcc("-Wp,-MMD,words.d", "-c", "main.c", "-o", "the.o"))
    assert (place / "words.d").read_text().startswith("the.o: main.c grid.h")


def test_options_may_have_long_names(xmpcc, place):
    write(place, main_dot_c=MAIN.replace('#include "grid.h"\n', ""), grid_dot_h=HEADER)
    check_silent(xmpcc("--include", "grid.h", "-B", place, "--compile", "main.c", "--output=long.o"))
    assert b"nagaya_xmp_unit" in (place / "long.o").read_bytes()


def test_one_output_is_not_for_two_inputs(xmpcc, place):
    write(place, main_dot_c=MAIN, grid_dot_h=HEADER, part_dot_S="\n")
    ended = xmpcc("-c", "main.c", "part.S", "-o", "x.o")
    assert ended.code == 1 and "-o cannot name the output of several" in ended.err, ended
    assert not (place / "x.o").exists()


def test_only_a_translation_needs_a_folder_for_temporary_files(user, xmp_programs, place):
    write(place, plain_dot_c="int main(void) { return 0; }\n", main_dot_c=MAIN, grid_dot_h=HEADER)
    for source, code in ("plain.c", 0), ("main.c", 1):
        # The compiler behind says what it was asked to do.
        ended = user.run([xmp_programs.xmpcc, "--cc=gcc -pipe", "-fsyntax-only", source], cwd=place,
                         env={"TMPDIR": "/nonexistent"}, timeout=LIMIT_S)
        assert ended.code == code, ended


@pytest.mark.parametrize("signal", ["INT", "TERM", "HUP"])
def test_a_signal_leaves_no_temporary_folder(user, xmp_programs, place, signal):
    write(place, main_dot_c=MAIN, grid_dot_h=HEADER)
    (place / "slow").write_text('#!/bin/sh\ncase "$*" in *-dM*) exec gcc "$@";; esac\n'
                                'touch started; exec sleep 60\n')
    (place / "slow").chmod(0o755)
    (place / "temporary").mkdir()
    (place / "temporary").chmod(0o777)
    # A shell's background jobs ignore SIGINT.
    command = (f"env --default-signal=INT '{xmp_programs.xmpcc}' --cc=./slow -c main.c & compiling=$!; "
               "until test -e started; do sleep 0.05; done; ls temporary; "
               f"kill -{signal} $compiling; wait $compiling; echo $?")
    ended = user.run(["sh", "-c", command], cwd=place, env={"TMPDIR": str(place / "temporary")}, timeout=LIMIT_S)
    made, status = ended.out.split()
    assert made.startswith("xmpcc-") and int(status) == 128 + {"INT": 2, "TERM": 15, "HUP": 1}[signal], ended
    assert not list((place / "temporary").iterdir())

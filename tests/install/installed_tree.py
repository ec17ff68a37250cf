# SPDX-License-Identifier: BSD-3-Clause
"""Builds the example against the build folder by find_package. Installs the build into a temporary prefix,
builds the example there as a user would, runs it; moves the prefix and does the same again."""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

TASKS = 4
LIMIT_S = 300
SIZE_MAX_BYTES = 60 << 20  # with symbols nearly 300 MB
INSTALLED = ("bin/nagaya", "libexec/nagaya/nagaya-host", "libexec/nagaya/nagaya-python",
             "libexec/nagaya/nagaya-execute", "libexec/nagaya/nagaya-reaper", "libexec/nagaya/nagaya-waiter",
             "include/nagaya/task.h", "include/xmp/xmp.h")
MANUAL = ("man1/nagaya.1", "man1/nagaya-run.1", "man1/xmpcc.1", "man3/nagaya_task.3",
          "man3/nagaya_xmp.3", "man7/nagaya.7")


def run(*words, **more):
    print("+", *words, flush=True)
    return subprocess.run([str(word) for word in words], check=True, timeout=LIMIT_S,
                          stdout=subprocess.PIPE, text=True, **more).stdout


def library_folder(prefix):
    return next(prefix.glob("lib/**/libnagaya.so")).parent


def with_pkg_config(compiler, prefix, source, folder):
    environment = dict(os.environ, PKG_CONFIG_PATH=str(library_folder(prefix) / "pkgconfig"))
    flags = run("pkg-config", "--cflags", "--libs", "nagaya", env=environment).split()
    assert f"{prefix}/" in run("pkg-config", "--variable=pcfiledir", "nagaya", env=environment)
    program = folder / "by_pkg_config"
    run(compiler, "-Wall", "-Wextra", "-Werror", source / "native_program.c", "-o", program, *flags)
    return program


def with_cmake(compiler, prefix, source, folder):
    build = folder / "by_cmake"
    run("cmake", "-G", "Ninja", "-S", source, "-B", build, f"-DCMAKE_PREFIX_PATH={prefix}",
        f"-DCMAKE_C_COMPILER={compiler}")
    run("cmake", "--build", build)
    return build / "native_program"


def without_library_path():
    return {name: value for name, value in os.environ.items() if name != "LD_LIBRARY_PATH"}


def check_run(prefix, program):
    output = run(prefix / "bin/nagaya", "run", "-n", TASKS, program, env=without_library_path())
    lines = sorted(output.splitlines())
    assert len(lines) == TASKS, output
    for task, line in enumerate(lines):
        left = (task + TASKS - 1) % TASKS
        assert line == (f"task {task} of {TASKS}: the sum over all rows is 10000, "
                        f"my left neighbour is {left}"), output


def check_xmpcc(prefix, source, folder):
    program = folder / "laplace"
    run(prefix / "bin/xmpcc", "-O1", "-DN=200", source / "xmp/laplace.c", "-o", program, "-lm")
    output = run(prefix / "bin/nagaya", "run", "-n", 2, program, "5", env=without_library_path())
    assert output.endswith("PASS\n") and "2 nodes" in output, output


def check_gdb(compiler, prefix, folder):
    """Finds the symbols of a task, though the installation itself has none."""
    if shutil.which("gdb") is None:
        return
    source, program = folder / "waits.c", folder / "waits"
    source.write_text("#include <stdio.h>\n#include <unistd.h>\nint waits_for_gdb;\n"
                      "int main(void) { printf(\"%d\\n\", getpid()); fflush(stdout); for (;;) pause(); }\n")
    run(compiler, source, "-o", program)
    job = subprocess.Popen([prefix / "bin/nagaya", "run", "-n", "1", program], text=True,
                           stdout=subprocess.PIPE, env=without_library_path())
    try:
        pid = job.stdout.readline().strip()
        said = run(prefix / "bin/nagaya", "gdb", "--pid", pid, "-batch", "-ex", "info symbol &waits_for_gdb")
        assert "waits_for_gdb in section" in said, said
    finally:
        job.terminate()
        job.wait(timeout=LIMIT_S)


def check_module(prefix):
    if shutil.which("modulecmd") is None:
        return
    environment = dict(os.environ, MODULEPATH=str(prefix / "share/modulefiles"))
    said = run("modulecmd", "python", "load", "nagaya", env=environment)
    for name, folder in (("PATH", "bin"), ("MANPATH", "share/man"), ("PYTHONPATH", "lib/python3/dist-packages")):
        [value] = re.findall(rf"os[.]environ\['{name}'\] = r?'([^:']*)", said)
        assert value == str(prefix / folder), said
    [pkg_config] = re.findall(r"os[.]environ\['PKG_CONFIG_PATH'\] = r?'([^:']*)", said)
    assert (pathlib.Path(pkg_config) / "nagaya.pc").exists(), said


def check_size(prefix):
    total = sum(path.lstat().st_size for path in prefix.rglob("*") if path.is_file())
    print(f"{total / 1e6:.0f} MB")
    assert total < SIZE_MAX_BYTES, total


def check_links(documents):
    pages = list(documents.rglob("*.md"))
    assert documents / "docs/llcl.md" in pages, documents
    for page in pages:
        for target in re.findall(r"\]\(([^)#\s]+)", page.read_text()):
            assert "://" in target or (page.parent / target).exists(), f"{page}: {target}"


def files_of(prefix):
    return {path.relative_to(prefix) for path in prefix.rglob("*") if not path.is_dir()}


def check_components(build, packages, whole, folder):
    """Each file is in one package, and those that packaging/README.md names have all files together."""
    components = re.findall(r"^\| `([\w-]+)` \|", packages.read_text(), re.MULTILINE)
    seen = {}
    for component in components:
        run("cmake", "--install", build, "--prefix", folder / component, "--component", component)
        for file in files_of(folder / component):
            assert file not in seen, f"{file}: in {component} and in {seen[file]}"
            seen[file] = component
    missing = files_of(whole) - set(seen)
    assert not missing, f"in no package: {sorted(missing)}"


def check_tree(compiler, prefix, source, folder):
    folder.mkdir()
    for name in INSTALLED:
        assert (prefix / name).exists(), name
    for name in MANUAL:
        assert (prefix / "share/man" / name).exists(), name
    check_module(prefix)
    check_size(prefix)
    check_links(prefix / "share/doc/nagaya")
    check_run(prefix, with_pkg_config(compiler, prefix, source, folder))
    check_run(prefix, with_cmake(compiler, prefix, source, folder))
    if (prefix / "bin/xmpcc").exists():  # it is not built without Clang's libraries
        check_xmpcc(prefix, source, folder)
    check_gdb(compiler, prefix, folder)


def main():
    build, source, compiler = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3]
    with tempfile.TemporaryDirectory(prefix="nagaya-install-") as name:
        folder = pathlib.Path(name).resolve()
        in_build = with_cmake(compiler, build, source, folder / "of_build")
        check_run(build, in_build)
        run("cmake", "--install", build, "--prefix", folder / "first")
        check_components(build, source.parent / "packaging/README.md", folder / "first", folder / "components")
        check_tree(compiler, folder / "first", source, folder / "of_first")
        (folder / "first").rename(folder / "second")
        check_tree(compiler, folder / "second", source, folder / "of_second")
    print("installed tree: works, and works after a move")


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: BSD-3-Clause
"""The findings of `nagaya doctor` on a machine, also on one that refuses something
(tests/programs/restricted.c), and about programs: the name, the level, the remedy, the exit code."""
import errno
import json
import re
import shlex
import shutil
import subprocess

import pytest
from hidden_library import without_library

GIB = 1 << 30
OWN_MOUNTS = ["unshare", "-Urm"]


def examine(user, nagaya, *options, before=()):
    ended = user.run([*before, nagaya, "doctor", "--json", *options])
    assert ended.code in (0, 1) and ended.err == "", ended
    said = json.loads(ended.out)
    findings = {finding["name"]: finding for finding in said["findings"]}
    assert len(findings) == len(said["findings"]), "two findings have one name"
    assert (ended.code == 1) == any(one["level"] == "problem" for one in findings.values()), ended
    return said["tasks"], findings


def test_nothing_is_a_problem_where_jobs_run(user, nagaya, installation):
    job = user.run([nagaya, "run", "-n", 2, installation.program("sharing")])
    assert job.code == 0, job
    tasks, findings = examine(user, nagaya, "-n", 2)
    assert tasks == 2
    assert {name for name, one in findings.items() if one["level"] == "problem"} == set()


def test_every_line_has_a_level_and_names_a_finding(user, nagaya):
    _, findings = examine(user, nagaya, "-n", 2)
    lines = user.run([nagaya, "doctor", "-n", 2]).out.splitlines()
    names = [re.fullmatch(r"(?:ok|warning|problem) +([^:]+): .+", line).group(1) for line in lines]
    assert names == list(findings)


def test_the_job_is_as_large_as_the_machine_by_default(user, nagaya):
    tasks, _ = examine(user, nagaya)
    assert tasks >= 1


@pytest.mark.parametrize("count", ["0", "-1", "4097", "many"])
def test_a_wrong_number_of_tasks_is_refused(user, nagaya, count):
    ended = user.run([nagaya, "doctor", "-n", count])
    assert ended.code == 125 and ended.out == "" and ended.err, ended


# what: (restriction, value, finding, level, a word of the text, a word of the remedy)
RESTRICTED = {
    "clone3 missing": ("clone3", errno.ENOSYS, "clone3", "ok", "clone serves", None),
    "clone3 forbidden": ("clone3", errno.EPERM, "clone3", "problem", "not permitted", "ENOSYS"),
    "changed text": ("text", errno.EACCES, "changed text", "ok", "changed copy", None),
    "old kernel": ("uname", "2.6", "kernel", "warning", "5.16", "--separate"),
    "few descriptors": ("nofile", 20, "descriptors", "problem", "at most 20", "--nofile"),
    "few processes": ("nproc", 2, "user processes", "problem", "ulimit -u", "--nproc"),
    "few addresses": ("as", GIB, "address limit", "problem", "ulimit -v or -d allows 1024 MiB",
                      "--as=unlimited"),
    "addresses for small programs": ("as", 4 * GIB, "address limit", "warning",
                                     "Open MPI ranks 8000, MPICH ranks 32000", "--as=unlimited"),
    "addresses for MPICH": ("as", 40 * GIB, "address limit", "ok", "MPICH ranks 32000", None),
    "little data": ("data", GIB, "address limit", "problem", "1024 MiB", "--data=unlimited"),
    "small stack": ("stack", 65536, "stack", "warning", "64 KiB", "ulimit -s"),
    "little locked memory": ("memlock", 1 << 20, "locked memory", "ok", "1024 KiB, for all 16 tasks",
                             None),
    "unlimited stack": ("stack", "unlimited", "stack", "ok", "16 GiB", None),
}


@pytest.mark.parametrize("what", RESTRICTED)
def test_a_restriction_is_found(user, nagaya, installation, what):
    restriction, value, name, level, word, remedy = RESTRICTED[what]
    if restriction == "nproc" and not user.is_other:
        pytest.skip("this user has processes of its own, and a limit would end the test")
    before = [installation.program("restricted"), restriction, value]
    _, findings = examine(user, nagaya, "-n", 16, before=before)
    found = findings[name]
    assert found["level"] == level and word in found["text"], found
    assert remedy in found["remedy"] if remedy else "remedy" not in found, found


def test_a_soft_limit_of_addresses_is_said(user, nagaya):
    before = ["prlimit", f"--as={GIB}:"]
    _, findings = examine(user, nagaya, "-n", 2, before=before)
    found = findings["address limit"]
    assert found["level"] == "ok" and "ulimit -v or -d is 1024 MiB" in found["text"], found


def test_the_memory_names_the_killer_of_all(user, nagaya):
    _, findings = examine(user, nagaya, "-n", 2)
    assert "OOM killer" in findings["memory"]["text"], findings["memory"]


def examine_with(user, nagaya, variables, *command):
    ended = user.run([nagaya, "doctor", "-n", 2, "--json", *command], env=variables)
    return {one["name"]: one for one in json.loads(ended.out)["findings"]}


# what: (variables, number of tasks, words of the text)
DELEGATEES = {
    "two domains": ({"HWLOC_SYNTHETIC": "pack:2 [numa] core:32 pu:1"}, 64,
                    "have 2 here: one for each of 2 memory domains or 64 of 64 cores, and for 32 of 64"),
    "few tasks": ({"HWLOC_SYNTHETIC": "pack:2 [numa] core:32 pu:1"}, 63, "have 1 here"),
    "one domain": ({"HWLOC_SYNTHETIC": "core:64 pu:2"}, 128, "have 1 here"),
    "a wish": ({"HWLOC_SYNTHETIC": "core:2 pu:1", "NAGAYA_DELEGATEES": "4"}, 2,
               "have 4 here, by NAGAYA_DELEGATEES"),
    "devices": ({"HWLOC_SYNTHETIC": "core:2 pu:1", "NAGAYA_NETWORK_DEVICES": "eth0,eth1"}, 2,
                "have 2 here, for the 2 devices of NAGAYA_NETWORK_DEVICES"),
}


@pytest.mark.parametrize("what", DELEGATEES)
def test_the_number_of_delegatees_is_said_with_its_reasons(user, nagaya, what):
    variables, tasks, words = DELEGATEES[what]
    ended = user.run([nagaya, "doctor", "-n", tasks, "--json"], env=variables)
    [found] = [one for one in json.loads(ended.out)["findings"] if one["name"] == "delegatees"]
    assert found["level"] == "ok" and words in found["text"], found


def test_a_network_device_that_is_not_there_is_a_warning(user, nagaya):
    found = examine_with(user, nagaya, {"NAGAYA_NETWORK_DEVICES": "nosuch0"})["network"]
    assert found["level"] == "warning" and "no network device nosuch0" in found["text"], found
    found = examine_with(user, nagaya, {"NAGAYA_NETWORK_DEVICES": "lo"})["network"]
    assert "on lo" in found["text"], found


def test_a_wrong_number_of_delegatees_is_a_problem(user, nagaya):
    found = examine_with(user, nagaya, {"NAGAYA_DELEGATEES": "3"})["delegatees"]
    assert found["level"] == "problem" and "can be automatic, 1, 2" in found["text"], found


# what: (words that make the folder what it is, words of the text)
FOLDERS = {
    "missing": ("true", "No such file"),
    "a file": ("touch {0}", "Not a directory"),
    "closed": ("mkdir -m 0555 {0}", "Permission denied"),
    "noexec": ("mkdir {0} && mount -t tmpfs -o noexec,mode=777 none {0}", "noexec"),
}


@pytest.mark.parametrize("what", FOLDERS)
def test_a_tmpdir_that_is_of_little_use_is_a_warning(user, nagaya, folder, what):
    make, words = FOLDERS[what]
    place = folder / "temporary"
    command = ["sh", "-c", f'{make.format(place)} || exit 77; TMPDIR={place} "$@"', "sh", nagaya,
               "doctor", "--json"]
    ended = user.run([*(OWN_MOUNTS if what == "noexec" else []), *command])
    if ended.code in (1, 77) and not ended.out:
        pytest.skip("no mount namespace of its own for an ordinary user here")
    [found] = [one for one in json.loads(ended.out)["findings"] if one["name"] == "TMPDIR"]
    assert found["level"] == "warning" and words in found["text"], found
    assert found["remedy"] == "export TMPDIR=/tmp", found


def test_a_tmpdir_whose_path_is_too_long_for_sockets_is_a_problem(user, nagaya, folder):
    place = folder / ("x" * 120) / ("y" * 120)
    user.run(["mkdir", "-p", place])
    found = examine_with(user, nagaya, {"TMPDIR": str(place)})["socket folder"]
    assert found["level"] == "problem" and "255" in found["text"], found
    job = user.run([nagaya, "run", "true"], env={"TMPDIR": str(place)})
    assert job.code == 125 and "path too long" in job.err, job


def test_a_python_that_is_a_script_is_not_examined_and_says_why(user, nagaya, folder):
    user.new_file(folder / "python3", '#!/bin/sh\nexec /usr/bin/python3 "$@"\n', mode=0o755)
    found = examine_with(user, nagaya, {"PATH": f"{folder}:/usr/bin:/bin"})["Python"]
    assert "was not examined: it is a script" in found["text"], found
    again = user.run(["sh", "-c", found["remedy"].replace("nagaya doctor", '"$0" doctor'), nagaya],
                     env={"PATH": f"{folder}:/usr/bin:/bin"})
    [line] = [line for line in again.out.splitlines() if " Python: " in line]
    assert "not examined" not in line, again


def test_memory_in_common_is_tried_as_tasks_are_cloned(user, nagaya, installation):
    program = installation.program("restricted")
    no_clone = [program, "clone", errno.EPERM]
    _, findings = examine(user, nagaya, "-n", 2, before=no_clone)
    assert findings["clone"]["level"] == "ok", findings
    _, findings = examine(user, nagaya, "-n", 2, before=[program, "clone3", errno.ENOSYS, *no_clone])
    assert findings["clone"]["level"] == "problem" and "not permitted" in findings["clone"]["text"]


# what: (file of the kernel, its text, finding, level, a word of the remedy)
SETTINGS = {
    "mappings for small programs": ("/proc/sys/vm/max_map_count", "65530", "mappings", "warning",
                                    "vm.max_map_count=131072"),
    "mappings for nothing": ("/proc/sys/vm/max_map_count", "1000", "mappings", "problem",
                             "vm.max_map_count=131072"),
    "enough mappings": ("/proc/sys/vm/max_map_count", "1048576", "mappings", "ok", None),
    "few threads": ("/proc/sys/kernel/threads-max", "100", "threads-max", "problem",
                    "kernel.threads-max="),
    "few pids": ("/proc/sys/kernel/pid_max", "400", "pid_max", "problem", "kernel.pid_max="),
    "no overcommit": ("/proc/meminfo", None, "overcommit", "problem", "vm.overcommit_memory=0"),
}
NO_ROOM = "MemAvailable: 1000000000 kB\nCommitLimit: 4000000 kB\nCommitted_AS: 3000000 kB\n"


@pytest.mark.parametrize("what", SETTINGS)
def test_a_setting_of_the_kernel_is_weighed_against_the_job(user, nagaya, installation, folder,
                                                            what):
    """A file with other content lies in the place of the kernel's."""
    path, text, name, level, remedy = SETTINGS[what]
    program = installation.program("restricted")
    setting = user.new_file(folder / "setting", (text or NO_ROOM) + "\n")
    before = [*OWN_MOUNTS, program, "instead", f"{setting}:{path}"]
    if text is None:
        mode = user.new_file(folder / "mode", "2\n")
        before += [program, "instead", f"{mode}:/proc/sys/vm/overcommit_memory"]
    if user.run([*before, "true"]).code != 0:
        pytest.skip("no mount namespace of its own for an ordinary user here")
    _, findings = examine(user, nagaya, "-n", 400, before=before)
    assert findings[name]["level"] == level, findings[name]
    assert remedy is None or remedy in findings[name]["remedy"], findings[name]


def test_a_socket_folder_that_others_may_enter_is_a_problem(user, nagaya, folder):
    sockets = folder / f"nagaya-{user.uid}"
    sockets.mkdir()
    user.own(sockets)
    sockets.chmod(0o755)
    ended = user.run([nagaya, "doctor", "-n", 2], env={"TMPDIR": str(folder)})
    [line] = [line for line in ended.out.splitlines() if "socket folder" in line]
    assert ended.code == 1 and line.startswith("problem") and "has mode 0755, not 0700" in line, ended


def test_the_mpi_of_the_tests_is_found(user, nagaya, mpirun):
    said = user.run([mpirun[0], "--version"]).out
    version = re.search(r"\(Open(?:RTE| MPI)\) ([0-9.]+)", said)
    _, findings = examine(user, nagaya, "-n", 2)
    wanted = f"Open MPI {version.group(1)}" if version else "PRRTE"
    assert wanted in findings["MPI"]["text"], findings["MPI"]


def test_the_network_between_nodes_is_examined_as_a_host_opens_it(user, nagaya):
    _, findings = examine(user, nagaya, "-n", 2)
    assert findings["network"]["level"] == "ok" and "random keys" in findings["network"]["text"]
    ended = user.run([nagaya, "doctor", "-n", 2], env={"FI_PROVIDER": "nothing"})
    [line] = [line for line in ended.out.splitlines() if " network: " in line]
    assert ended.code == 0 and line.startswith("warning") and "FI_PROVIDER=nothing" in line, ended


@pytest.mark.parametrize("name", ["x'; touch ran; '", "$(touch ran)", "`touch ran`", "a b", "a\nb",
                                  "\x1b[2J", "it's"])
def test_the_name_of_a_launchers_folder_is_not_carried_out(user, nagaya, folder, name):
    place = user.new_folder(name)
    user.new_file(place / "mpirun", "#!/bin/sh\necho 'mpirun (Open MPI) 9.8.7'\n", 0o755)
    environment = {"PATH": f"{place}:/usr/bin:/bin"}
    ended = user.run([nagaya, "doctor", "-n", 2, "--json"], cwd=folder, env=environment)
    [mpi] = [one for one in json.loads(ended.out)["findings"] if one["name"] == "MPI"]
    assert f"Open MPI 9.8.7 ({place}/mpirun, " in mpi["text"], ended
    said = user.run([nagaya, "doctor", "-n", 2], cwd=folder, env=environment)
    assert all(line.isprintable() for line in said.out.split("\n")), said
    assert re.findall(r"(?m)^(ok|warning|problem) +MPI: ", said.out) == ["ok"], said
    assert list(folder.iterdir()) == []


PYTHON = "/usr/bin/python3"  # Debian has mpi4py for Open MPI only


@pytest.fixture
def program(installation):
    """The command of a program by the name of its MPI; skips what is not installed."""
    def words(mpi):
        if mpi == "mpi4py":
            if subprocess.run([PYTHON, "-c", "import mpi4py"], check=False).returncode != 0:
                pytest.skip(f"{PYTHON} has no mpi4py (Debian: python3-mpi4py)")
            return [PYTHON, "program.py"]
        if mpi == "MPICH" and not installation.has("mpich_ending"):
            pytest.skip("MPICH is not installed")
        names = {"Open MPI": "mpi_ending", "MPICH": "mpich_ending", "none": "plain_ending"}
        return [installation.program(names[mpi]), "exit", "0"]
    return words


def library_of(command):
    said = subprocess.run(["ldd", command[0]], capture_output=True, text=True, check=True).stdout
    return re.search(r"libmpi(?:ch)?\.so\S+ => (\S+)", said).group(1)


@pytest.mark.parametrize("mpi, protocol", [("Open MPI", "PMIx"), ("MPICH", "PMI-1")])
def test_a_program_loads_the_mpi_that_it_is_linked_with(user, nagaya, program, mpi, protocol):
    _, found = examine(user, nagaya, "--", *program(mpi))
    assert list(found) == ["program", "MPI", "one node", "several hosts", "messages"]
    assert re.fullmatch(rf"{mpi} [0-9]+[.][0-9.]+: {library_of(program(mpi))}", found["MPI"]["text"])
    assert found["one node"]["text"] == f"nagaya run starts it itself, over {protocol}"
    assert "/mpirun" in found["several hosts"]["text"]
    assert {one["level"] for one in found.values()} <= {"ok", "warning"}, found
    assert found["messages"]["text"].startswith("through the space within a node"), found


def test_open_mpi_without_libpmix_is_a_problem(user, nagaya, program):
    before = without_library(user, "libpmix.so.2")
    _, found = examine(user, nagaya, *program("Open MPI"), before=before)
    assert found["one node"]["level"] == "problem" and "libpmix" in found["one node"]["remedy"], found


@pytest.mark.parametrize("mpi", ["Open MPI", "mpi4py"])
def test_messages_of_the_release_of_our_components_go_through_the_space(user, nagaya, program,
                                                                       needs_components, mpi):
    _, found = examine(user, nagaya, *program(mpi))
    release = re.match("Open MPI ([0-9.]+):", found["MPI"]["text"]).group(1)
    assert (nagaya.parent.parent / "lib" / "nagaya" / f"ompi-{release}").exists()
    assert found["messages"]["text"].startswith("through the space within a node"), found
    off = user.run([nagaya, "doctor", *program(mpi)], env={"NAGAYA_MPI": "off"})
    assert "messages: through Open MPI's own" in off.out and "do: unset NAGAYA_MPI" in off.out, off


def test_messages_of_another_release_do_so_within_a_node(user, nagaya, program, folder):
    """A copy of the MPI in which its version is another one."""
    library = library_of(program("Open MPI"))
    _, found = examine(user, nagaya, *program("Open MPI"))
    release = re.match("Open MPI ([0-9.]+):", found["MPI"]["text"]).group(1)
    other = release[:-1] + str((int(release[-1]) + 1) % 10)
    copy = user.new_file(folder / library.split("/")[-1],
                         open(library, "rb").read().replace(b"\0%s\0" % release.encode(),
                                                            b"\0%s\0" % other.encode()))
    said = examine_with(user, nagaya, {"LD_LIBRARY_PATH": str(folder)}, *program("Open MPI"))
    assert said["MPI"]["text"] == f"Open MPI {other}: {copy}", said
    assert said["messages"] == {
        "name": "messages", "level": "ok",
        "text": f"through the space within a node, between nodes through Open MPI {other}'s own transports"}


def test_the_mpi_that_mpi4py_loads_by_itself_is_found(user, nagaya, program, folder):
    """As mpi4py 4.1 does: it loads an MPI to choose its module."""
    library = library_of(program("MPICH"))
    (folder / "mpi4py").mkdir()
    user.new_file(folder / "mpi4py" / "__init__.py", f"import ctypes; ctypes.CDLL('{library}')")
    user.new_file(folder / "mpi4py" / "MPI.py", "raise ImportError('nobody needs to import it')")
    found = examine_with(user, nagaya, {"PYTHONPATH": str(folder)}, PYTHON)
    assert re.fullmatch(r"MPICH [0-9.]+: /\S+/libmpich?[.]so[.]\S+", found["MPI"]["text"]), found
    assert found["one node"]["text"].endswith("over PMI-1"), found


def test_an_mpi4py_in_the_working_folder_is_not_run(user, nagaya, folder):
    """Python's -c would find it; a script of another folder does not."""
    (folder / "mpi4py").mkdir()
    user.new_file(folder / "mpi4py" / "__init__.py", f"open('{folder}/ran', 'w')")
    user.own(folder / "mpi4py")
    ended = user.run([nagaya, "doctor", PYTHON, "/dev/null"], cwd=folder)
    assert ended.code == 0 and not (folder / "ran").exists(), ended


def test_a_program_without_mpi_may_load_one_later(user, nagaya, program):
    _, found = examine(user, nagaya, *program("none"))
    assert found["MPI"]["text"].startswith("none found: it may load one later"), found
    assert "messages" not in found


@pytest.mark.parametrize("wrappers", [[["env", "A=1"]], [["nice", "-n", "1"], ["timeout", "10"]]])
def test_behind_a_wrapper_the_remedy_examines_the_program(user, nagaya, program, wrappers):
    command = [word for wrapper in wrappers for word in wrapper] + program("Open MPI")
    for _ in wrappers:
        _, found = examine(user, nagaya, *command)
        assert found["MPI"]["text"].startswith("none found"), found
        assert found["program"]["text"].endswith(", which becomes a task, too"), found
        command = shlex.split(found["program"]["remedy"])[2:]
    assert command == list(map(str, program("Open MPI")))


def test_behind_a_tracer_a_program_is_an_ordinary_process(user, nagaya, program):
    if shutil.which("strace") is None:
        pytest.skip("strace is not installed")
    _, found = examine(user, nagaya, "strace", "-f", *program("Open MPI"))
    assert found["program"]["level"] == "warning", found
    assert found["program"]["text"].endswith(", which is an ordinary process"), found


def test_a_script_is_named_with_what_runs_it(user, nagaya, folder):
    script = user.new_file(folder / "job", "#!/bin/sh\nexec ./program\n", 0o755)
    _, found = examine(user, nagaya, script)
    assert f"{script} runs as a task, by /" in found["program"]["text"], found
    assert "it starts a program, which becomes a task" in found["program"]["text"], found
    script.write_text(f"#!{PYTHON}\nprint(1)\n")
    _, found = examine(user, nagaya, script)
    assert "remedy" not in found["program"], found


def test_a_program_that_cannot_be_a_task_can_be_an_ordinary_process(user, nagaya, installation):
    program = installation.program("not_position_independent")
    _, found = examine(user, nagaya, "-n", 2, program, "exit", 0)
    assert list(found) == ["program"] and found["program"]["level"] == "problem", found
    assert "not position-independent" in found["program"]["text"]
    again = user.run([nagaya, *shlex.split(found["program"]["remedy"])[1:]])
    assert again.code == 0, again


def test_a_program_that_does_not_exist_is_a_problem(user, nagaya):
    ended = user.run([nagaya, "doctor", "--", "--no-program"])
    assert (ended.code, ended.out) == (1, "problem  program: --no-program: no such program\n"), ended


def test_an_mpi_that_is_not_found_is_a_problem(user, nagaya, program, folder):
    content = open(program("Open MPI")[0], "rb").read()
    broken = user.new_file(folder / "broken", content.replace(b"libmpi.so.", b"libmpi_so."), 0o755)
    _, found = examine(user, nagaya, broken)
    assert found["MPI"]["level"] == "problem", found
    assert "its MPI is not found: libmpi_so." in found["MPI"]["text"], found
    assert "LD_LIBRARY_PATH" in found["MPI"]["remedy"], found


def test_a_library_that_is_not_found_is_a_problem(user, nagaya, folder):
    source = user.new_file(folder / "f.c", "int f(void) { return 0; }\n")
    subprocess.run(["cc", "-shared", "-fPIC", source, "-o", folder / "libf.so"], check=True)
    main = user.new_file(folder / "m.c", "int f(void); int main(void) { return f(); }\n")
    subprocess.run(["cc", main, "-o", folder / "m", f"-L{folder}", "-lf"], check=True)
    found = examine_with(user, nagaya, {}, folder / "m")["program"]
    assert found == {"name": "program", "level": "problem",
                     "text": f"libf.so, which {folder / 'm'} needs, is not found",
                     "remedy": "export LD_LIBRARY_PATH=FOLDER:$LD_LIBRARY_PATH"}, found
    found = examine_with(user, nagaya, {"LD_LIBRARY_PATH": str(folder)}, folder / "m")["program"]
    assert found["level"] == "ok", found


def test_a_dynamic_linker_that_a_program_names_is_not_run(user, nagaya, folder):
    """Its file's name is that of glibc's."""
    linker, source = folder / "ld-linux-x86-64.so.2", user.new_file(
        folder / "linker.c", f'#include <fcntl.h>\nint main(void) {{ return creat("{folder}/ran", 0600); }}\n')
    subprocess.run(["cc", "-static-pie", source, "-o", linker], check=True)
    main = user.new_file(folder / "main.c", "int main(void) { return 0; }\n")
    subprocess.run(["cc", main, "-o", folder / "main", f"-Wl,--dynamic-linker={linker}"], check=True)
    user.run([nagaya, "doctor", folder / "main"])
    assert not (folder / "ran").exists()


def test_the_name_of_a_program_is_not_carried_out(user, nagaya, installation, folder):
    name = folder / "a $(touch ran)\x1b[2J\nproblem  x"
    shutil.copy(installation.program("plain_ending"), name)
    ended = user.run([nagaya, "doctor", name], cwd=folder)
    assert ended.code == 0 and ended.out.count("\n") == 4, ended
    assert all(line.isprintable() for line in ended.out.split("\n")), ended

# SPDX-License-Identifier: BSD-3-Clause
"""Command lines that are wrong, and strange words of launchers: one clear line each. Help, and output that
cannot be written."""
import pytest
from refusals import CANNOT_RUN, HOW, NOT_FOUND, OWN_FAILURE, expect_refusal

# arguments: (exit code, words that the message must have)
COMMAND_LINES = {
    "bogus": (OWN_FAILURE, ["bogus"]),
    "help bogus": (OWN_FAILURE, ["bogus"]),
    "--bogus": (OWN_FAILURE, ["--bogus"]),
    "-host x run true": (OWN_FAILURE, ["-host"]),
    "run": (OWN_FAILURE, ["program"]),
    "run -n 2": (OWN_FAILURE, ["program"]),
    "run -n": (OWN_FAILURE, ["-n:"]),
    "run -n 0 true": (OWN_FAILURE, ["-n:", "4096"]),
    "run -n -1 true": (OWN_FAILURE, ["-n:", "4096"]),
    "run -n 4097 true": (OWN_FAILURE, ["-n:", "4096"]),
    "run -n 1000000000 true": (OWN_FAILURE, ["-n:", "4096"]),
    "run -n 99999999999999999999999 true": (OWN_FAILURE, ["-n:"]),
    "run --np 0 true": (OWN_FAILURE, ["--np:", "4096"]),
    "run -n abc true": (OWN_FAILURE, ["-n:", "abc"]),
    "run -n 1.5 true": (OWN_FAILURE, ["-n:", "1.5"]),
    "run -n 2x true": (OWN_FAILURE, ["-n:", "2x"]),
    "run -np 0 true": (OWN_FAILURE, ["--np:", "4096"]),
    "run -np": (OWN_FAILURE, ["--np:"]),
    "run -np4 true": (OWN_FAILURE, ["run: -np4:", "write -np 4"]),
    "run -n 2 --blacs -n 2 true": (OWN_FAILURE, ["-n is given", "once"]),
    "run --bogus true": (OWN_FAILURE, ["run: --bogus:", "--launcher-arg=--bogus"]),
    "run -n 2 --launcher-arg=--bogus true": (OWN_FAILURE, ["--launcher-arg", "--launcher mpi"]),
    "run --launcher bogus true": (OWN_FAILURE, ["--launcher", "bogus"]),
    "run --launcher mpi true": (OWN_FAILURE, ["--launcher mpi", "true", "leave the option out"]),
    "run true :": (OWN_FAILURE, ["no program", "-- PROGRAM :"]),
    "run : true": (OWN_FAILURE, ["no program", "-- PROGRAM :"]),
    "run true : -n 0 true": (OWN_FAILURE, ["-n:", "4096"]),
    "run true : -np abc true": (OWN_FAILURE, ["--np:", "abc"]),
    "run -n 4000 true : -n 97 true": (OWN_FAILURE, ["4097", "4096"]),
    "run true : --label true": (OWN_FAILURE, ["--label:", "before its first program"]),
    "run true : -host x true": (OWN_FAILURE, ["-host:", "before its first program"]),
    "run -x =1 true": (OWN_FAILURE, ["-x =1", "NAME=VALUE"]),
    "run -x": (OWN_FAILURE, ["-x:"]),
    "run --timeout 0 true": (OWN_FAILURE, ["--timeout 0", "H:M:S"]),
    "run --timeout 1m true": (OWN_FAILURE, ["--timeout 1m", "H:M:S"]),
    "run --bind-to cores true": (OWN_FAILURE, ["--bind-to cores", "package"]),
    "run --map-by ppr:2:node true": (OWN_FAILURE, ["--map-by ppr:2:node", "--hosts a:2,b:2", "package"]),
    "run --map-by core:span true": (OWN_FAILURE, ["--map-by core:span", ":PE=n"]),
    "run -n 4096 --bind-to core true": (OWN_FAILURE, ["--bind-to core:", "core:overload-allowed"]),
    "run --map-by slot:PE=4096 true": (OWN_FAILURE, ["--map-by slot:PE=4096", "too few cores"]),
    "run --stdin 1 true": (OWN_FAILURE, ["--stdin 1", "0 to 0"]),
    "run --stdin all true": (OWN_FAILURE, ["--stdin all", "one rank"]),
    "run --output out-%t true": (OWN_FAILURE, ["--output", "%r", "out-%t"]),
    "run --output tag true": (OWN_FAILURE, ["--output tag", "--label"]),
    "run --output /nowhere/at/all true": (OWN_FAILURE, ["/nowhere/at/all", "No such file"]),
    "run --wdir /nowhere/at/all true": (NOT_FOUND, ["/nowhere/at/all"]),
    "run --separate": (OWN_FAILURE, ["program"]),
    "exec": (OWN_FAILURE, ["program"]),
    "exec --bogus true": (OWN_FAILURE, ["--bogus"]),
    "exec -np 4 true": (OWN_FAILURE, ["exec: -np:", "mpirun -np ... nagaya exec"]),
    "ps -host": (OWN_FAILURE, ["ps: -host:"]),
    "doctor -nx": (OWN_FAILURE, ["doctor: -nx:"]),
    "clean -nh": (OWN_FAILURE, ["clean: -nh:"]),
    "run EMPTY": (NOT_FOUND, ["no program is named"]),
    "exec EMPTY": (NOT_FOUND, ["no program is named"]),
}


# An option of mpirun, mpiexec or srun: words of the answer. ANY: how to hand it to the launcher. More
# of them: test_coming_from_mpirun.py.
ANY = ["--launcher mpi --launcher-arg={0}", "mpirun {0} ... nagaya exec"]
LAUNCHER_OPTIONS = {
    "-host": ["--hosts"], "--host": ["--hosts"], "-H": ["--hosts"], "--nodelist": ["--hosts"],
    "-f": ["--hostfile"], "-machinefile": ["--hostfile"], "-c": ["-n COUNT", "slot:PE=COUNT"],
    "--ntasks": ["-n COUNT"], "-genv": ["-x NAME=VALUE"], "--export": ["-x NAME=VALUE"],
    "--mca": ["-x OMPI_MCA_NAME=VALUE"], "-mca": ["-x OMPI_MCA_NAME=VALUE"], "--chdir": ["--wdir"],
    "--oversubscribe": ["leave it out"], "--overcommit": ["leave it out"],
    "--allow-run-as-root": ["leave it out"], "--tag-output": ["--label"], "-ppn": ["--hosts a:2"],
    "-npernode": ["--hosts a:2"], "--bind-to-core": ["say --bind-to core"], "--bind-to-socket": ["say --bind-to package"],
    "--mem": ["srun ... nagaya exec"], "-p": ["srun ... nagaya exec"], "--account": ["srun ... nagaya exec"],
    "-v": ["NAGAYA_MPI_VERBOSE=1"], "--version": ["nagaya --version"], "--rank-by": ANY, "-nolocal": ANY, "--xterm": ANY, "--h": ANY,
}


@pytest.mark.parametrize("shape", ["{} x true", "-n 2 {} x y true", "{}=x true"])
@pytest.mark.parametrize("option", LAUNCHER_OPTIONS)
def test_an_option_of_a_launcher_gets_ours_for_an_answer(user, nagaya, leftovers, option, shape):
    words = [word.format(option) for word in LAUNCHER_OPTIONS[option]]
    ended = user.run([nagaya, "run", *shape.format(option).split()], timeout=20)
    expect_refusal(ended, leftovers, OWN_FAILURE, f"run: {option}:", *words)


@pytest.mark.parametrize("count", ["-n 3", "-n3", "-np 3", "-np=3", "--np 3", "--np=3", "-n 3 --"])
def test_each_spelling_of_the_count_is_understood(user, nagaya, count):
    ended = user.run([nagaya, "run", *count.split(), "echo", "-np", "-host"])
    assert (ended.code, ended.out, ended.err) == (0, "-np -host\n" * 3, ""), ended


def test_a_colon_ends_a_program_as_a_whole_word(user, nagaya):
    def run(*words):
        ended = user.run([nagaya, "run", *words])
        assert (ended.code, ended.err) == (0, ""), ended
        return sorted(ended.out.splitlines())
    assert run("echo", "a:", ":b", ":", "-np", 2, "-x", "A=1", "echo", "-n4", "c") == [
        "-n4 c", "-n4 c", "a: :b"]
    assert run("echo", "a", ":", "-n", 1, "--", "echo", "-x", ":", "echo", "b") == ["-x", "a", "b"]
    assert run("-n", 2, "--", "echo", ":", "b") == [": b", ": b"]


SUBCOMMANDS = ["run", "exec", "ps", "gdb", "clean", "doctor", "bench"]


def test_without_words_nagaya_lists_its_subcommands(user, nagaya):
    ended = user.run([nagaya])
    assert ended.code == OWN_FAILURE and ended.out == "", ended
    assert ended.err == user.run([nagaya, "help"]).out == user.run([nagaya, "--help"]).out, ended
    assert all(f"\n  {name} " in ended.err for name in SUBCOMMANDS), ended


@pytest.mark.parametrize("name", SUBCOMMANDS)
def test_each_subcommand_has_help(user, nagaya, name):
    first, *others = [user.run([nagaya, *words]) for words in
                      (["help", name], [name, "--help"], [name, "-h"])]
    assert first.code == 0 and first.err == "" and f"nagaya {name} [" in first.out, first
    assert all(other.out == first.out for other in others), (first, others)


def test_help_of_run_shows_the_program_and_examples(user, nagaya):
    said = user.run([nagaya, "run", "--help"]).out
    assert "Usage: nagaya run [OPTIONS] PROGRAM [ARGUMENT...]\n" in said, said
    assert "Examples:\n  nagaya run -n 4 " in said and "--separate" in said, said


WRITERS = [["--version"], ["--help"], ["help", "run"], ["ps"], ["ps", "--json"], ["clean"],
           ["doctor", "-n", "2"], ["doctor", "--json"], ["bench", "list"], ["bench", "--help"]]


@pytest.mark.parametrize("place", ["a full disk", "a reader that has gone"])
@pytest.mark.parametrize("words", WRITERS, ids=" ".join)
def test_output_that_cannot_be_written_is_one_error(user, nagaya, folder, words, place):
    command = {"a full disk": '"$@" > /dev/full',
               # Its signal is ignored: else that would end the command before it can say anything.
               "a reader that has gone": 'trap "" PIPE; mkfifo pipe; sleep 0 < pipe & exec 3> pipe; '
                                         'wait; "$@" >&3 3>&-'}[place]
    ended = user.run(["sh", "-c", command, "sh", nagaya, *words], cwd=folder)
    cause = "No space left" if place == "a full disk" else "Broken pipe"
    assert ended.code == (2 if words[0] == "bench" else OWN_FAILURE), ended
    assert len(ended.err.splitlines()) == 1 and cause in ended.err, ended


@pytest.mark.parametrize("words", [["bogus"], ["run"], ["run", "no-such-program"], ["gdb"]], ids=" ".join)
def test_an_error_that_nobody_can_read_keeps_its_code(user, nagaya, words):
    told = user.run([nagaya, *words])
    for where in ("2> /dev/full", "2>&-"):
        ended = user.run(["sh", "-c", f'"$@" {where}', "sh", nagaya, *words])
        assert ended.code == told.code, (where, ended)


@pytest.mark.parametrize("line", COMMAND_LINES)
def test_a_wrong_command_line_is_refused(user, nagaya, leftovers, line):
    code, words = COMMAND_LINES[line]
    arguments = ["" if word == "EMPTY" else word for word in line.split()]
    expect_refusal(user.run([nagaya, *arguments], timeout=20), leftovers, code, *words)


@pytest.mark.parametrize("how", HOW)
@pytest.mark.parametrize("variable", ["NAGAYA_BLACS", "NAGAYA_MPI"])
def test_a_mistyped_variable_is_refused(user, nagaya, leftovers, how, variable):
    ended = user.run([nagaya, *HOW[how], "true"], env={variable: "yes"}, timeout=20)
    expect_refusal(ended, leftovers, CANNOT_RUN, f"{variable}=yes", "on", "off")


@pytest.mark.parametrize("size", ["abc", "-1", "0", "1000000000", "99999999999999999999"])
def test_a_strange_number_of_local_tasks_is_no_riddle(user, nagaya, installation, leftovers, size):
    """Launchers say it by environment: either the job runs nevertheless, or the number is named."""
    environment = {"OMPI_MCA_orte_precondition_transports": "1-2", "PMIX_NAMESPACE": "x",
                   "OMPI_COMM_WORLD_LOCAL_SIZE": size, "OMPI_COMM_WORLD_LOCAL_RANK": size}
    # The launcher of this job ends with it, so the host does not wait for tasks that never come.
    job = ["sh", "-c", '"$@"; exit $?', "sh", nagaya, "exec", installation.program("plain_ending"),
           "exit", "5"]
    ended = user.run(job, env=environment, timeout=20)
    if ended.code == 5:
        assert ended.err == "", ended
        assert not leftovers.after_limit().processes
    else:
        expect_refusal(ended, leftovers, OWN_FAILURE, "tasks")

# SPDX-License-Identifier: BSD-3-Clause
"""Command lines that are wrong, and strange words of launchers: one clear line each."""
import pytest
from refusals import CANNOT_RUN, HOW, NOT_FOUND, OWN_FAILURE, expect_refusal

# arguments: (exit code, words that the message must have)
COMMAND_LINES = {
    "": (OWN_FAILURE, ["subcommand"]),
    "bogus": (OWN_FAILURE, ["bogus"]),
    "--bogus": (OWN_FAILURE, ["--bogus"]),
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
    "run --bogus true": (OWN_FAILURE, ["--bogus"]),
    "run --launcher bogus true": (OWN_FAILURE, ["--launcher", "bogus"]),
    "run --separate": (OWN_FAILURE, ["program"]),
    "exec": (OWN_FAILURE, ["program"]),
    "exec --bogus true": (OWN_FAILURE, ["--bogus"]),
    "run EMPTY": (NOT_FOUND, ["no program is named"]),
    "exec EMPTY": (NOT_FOUND, ["no program is named"]),
}


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

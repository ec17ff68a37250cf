# SPDX-License-Identifier: BSD-3-Clause
"""The completions of the shells, in the shells: they offer what runs, and carry nothing out that a name
of a job, a program or a benchmark says."""
import pathlib
import re
import shlex
import shutil

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[3]
COMPLETIONS, PAGES = ROOT / "completions", ROOT / "docs/man"
HOSTILE = ["$(touch ran)", "`touch ran`", "a;touch ran", "a'$(touch ran)'", '"$(touch ran)"', "a b",
           "a[0]:x:{touch ran}", "*", "~", "${IFS}", "<(touch ran)"]
GOOD = "job-1.good_name"

# Does as readline: hands the words to the function and prints its offers.
BASH = """
source {file}
complete -p nagaya | grep -q -- '-F _nagaya'
COMP_WORDS=({words}); COMP_CWORD=$(({count} - 1))
_nagaya
printf '%s\\n' "${{COMPREPLY[@]}}"
"""
FISH = "source {file}; complete -C {line}"
# A shell with a terminal of its own, in which the key is pressed that lists what is offered. Its prompt
# says that its editor reads the keys: before, the terminal itself takes those that delete.
ZSH = """
zmodload zsh/zpty
zpty -b shell zsh -f -i
zpty -w shell 'PS1=PROM""PT; fpath=({folder} $fpath); autoload -Uz compinit; compinit -u -d $PWD/.dump
  zstyle ":completion:*" list-colors ""; LISTMAX=1000; unsetopt list_beep
  stty columns 200; bindkey "^I" list-choices; echo READY'
zpty -r -m shell out '*READY*READY*PROMPT*'
zpty -n -w shell {line}$'\\t\\x15'
zpty -w shell 'echo DO""NE'
zpty -r -m shell text '*DONE*'
zpty -d shell
print -r -- $text
"""


def ask(shell, user, folder, path, *words):
    line = " ".join(words)
    texts = {
        "bash": BASH.format(file=COMPLETIONS / "nagaya.bash", count=len(words),
                            words=" ".join(map(shlex.quote, words))),
        "fish": FISH.format(file=COMPLETIONS / "nagaya.fish", line=shlex.quote(line)),
        "zsh": ZSH.format(folder=COMPLETIONS, line=shlex.quote(line))}
    options = {"bash": ["--norc"], "fish": ["--no-config"], "zsh": ["-f"]}[shell]
    ended = user.run([shutil.which(shell), *options, "-c", texts[shell]], cwd=folder,
                     env={"PATH": f"{path}:/usr/bin:/bin", "TERM": "xterm"})
    offered = {line.split("\t")[0] for line in ended.out.splitlines()}
    if shell == "zsh":
        offered = set(re.sub(r"\x1b\[[0-9;?]*[A-Za-z]|\x07", " ", ended.out).split())
    return offered, ended


@pytest.fixture(params=["bash", "fish", "zsh"])
def shell(request):
    if shutil.which(request.param) is None:
        pytest.skip(f"{request.param} is not installed")
    return request.param


@pytest.fixture
def hostile(user, folder):
    """A `nagaya` that prints hostile names where the real one prints names."""
    path = user.new_folder("path")
    jobs = "".join(f"job {name}: 2 tasks, host 5\n" for name in [GOOD, *HOSTILE])
    tasks = "".join(f"  {number:>4}  123  running S  $(touch ran)\n" for number in (0, 31))
    benchmarks = "".join(f"{name} figure\n" for name in ["halo", *HOSTILE])
    for name, text in (("ps", jobs + tasks), ("bench", benchmarks)):
        user.new_file(path / f"{name}.txt", text)
    user.new_file(path / "nagaya", f"#!/bin/sh\ncat {path}/$1.txt\n", 0o755)
    return path


@pytest.mark.parametrize("words, wanted", [
    (("nagaya", "gdb", "--job", ""), {GOOD}), (("nagaya", "gdb", ""), {"0", "31"}),
    (("nagaya", "bench", ""), {"all", "tune", "halo"})])
def test_names_are_offered_and_not_carried_out(shell, user, folder, hostile, words, wanted):
    offered, ended = ask(shell, user, folder, hostile, *words)
    assert wanted <= offered, ended
    if "--job" in words:
        assert not offered & set(HOSTILE), ended
    assert not [path.name for path in folder.iterdir() if not path.name.startswith(".")], ended


@pytest.mark.parametrize("words", [("exec",), ("doctor",), ("doctor", "-n", "2"), ("run", "-n", "2")])
def test_programs_are_offered(shell, user, folder, words):
    offered, ended = ask(shell, user, folder, folder, "nagaya", *words, "tru")
    assert "true" in offered, ended


def test_a_real_job_of_a_hostile_program_is_offered_and_carries_nothing_out(shell, user, folder,
                                                                           nagaya, installation,
                                                                           running):
    place = user.new_folder("x\njob $(touch ran): 1 tasks, host 1\n  77 $(touch ran)")
    program = place / "a\x1b[2J\n.out"
    shutil.copy(installation.program("plain_ending"), program)
    running([nagaya, "run", "-n", 2, program, "linger"], ready=2)
    offered, ended = ask(shell, user, folder, nagaya.parent, "nagaya", "gdb", "")
    assert {"0", "1"} <= offered and "77" not in offered, ended
    offered, ended = ask(shell, user, folder, nagaya.parent, "nagaya", "gdb", "--job", "")
    assert len(offered) >= 1, ended
    assert not [path.name for path in folder.iterdir() if not path.name.startswith(".")], ended


@pytest.mark.parametrize("subcommand", ["run", "ps", "top", "trace", "gdb", "clean", "doctor", "bench"])
def test_each_option_is_offered_and_stands_in_the_page(shell, user, folder, nagaya, subcommand):
    said = user.run([nagaya, subcommand, "--help"]).out
    options = set(re.findall(r"^ +(?:-\w,)?(--[\w-]+)", said, re.MULTILINE)) - {"--help"}
    assert options, said
    offered, ended = ask(shell, user, folder, nagaya.parent, "nagaya", subcommand, "--")
    assert options <= offered, ended
    page = (PAGES / f"nagaya-{subcommand}.1").read_text(encoding="utf-8")
    assert not [option for option in options if f"-{option[2:]}" not in page]

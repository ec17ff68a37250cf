# SPDX-License-Identifier: BSD-3-Clause
"""Does what a page of the manual says, as its reader would: writes the page's files into the present
folder, then types its commands into one shell, and compares what they print with the page.

    page.py PAGE [PLACE]

A block of code is a file if its first line is a comment with nothing but the file's name. In a block
`console` a line that begins with "$ " is a command; the lines after it are its output, errors
included, in which "..." stands for any text of a line, and a line "..." for any lines. A command that
prints nothing must succeed. The commands of a block after a line "<!-- in: PLACE -->" are left out in
all other places.
"""
import dataclasses
import pathlib
import re
import subprocess
import sys

BLOCK = re.compile(r"^(?:<!-- in: ([^\n]*) -->\n)?```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NAME = re.compile(r"(?:/\*|#|!) ([\w.-]+\.\w+)(?: \*/)?\n")
COMMAND = re.compile(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", re.MULTILINE)
# Where other tests take the processors, a job needs longer than on a reader's machine.
SLEEP = 'sleep() { command sleep "$((3 * $1))"; }'
END = "-- end of a command:"
# The status of a command is that of the next one's `$?`.
AFTER_EACH = f"""status=$?; printf '\\n{END} %s\\n' "$status"; (exit "$status")"""


class Differs(AssertionError):
    """A command does not do what its page shows."""


@dataclasses.dataclass
class Command:
    text: str
    shown: str
    place: str

    def prepares(self):
        return not self.shown and not self.text.endswith("&")


class Page:
    def __init__(self, path):
        blocks = BLOCK.findall(path.read_text())
        self.files = {name.group(1): text for _, _, text in blocks if (name := NAME.match(text))}
        self.commands = [Command(*match, place) for place, language, text in blocks if language == "console"
                         for match in COMMAND.findall(text)]
        # Commands that nobody would try.
        self.untested = [text for _, language, text in blocks if language in ("sh", "bash")]

    def in_place(self, place):
        return [command for command in self.commands if command.place in ("", place)]

    def only_in_place(self, place):
        """The commands that belong to this place alone, and those that prepare them."""
        return [command for command in self.in_place(place) if command.place == place or command.prepares()]


def on_hosts(command, names):
    """The command for hosts of these names, where the page has `a` and `b` behind --hosts."""
    if "--hosts" not in command.text or not names:
        return command
    text = command.text
    for letter, name in zip("ab", names):
        text = re.sub(rf"(--hosts.*?\b){letter}\b(?=[:,\s])", rf"\g<1>{name}", text)
    # Open MPI's launcher may warn of its remote shell there.
    return dataclasses.replace(command, text=f"{text} 2>warnings || cat warnings")


def script_of(commands):
    return "\n".join(["exec 2>&1", SLEEP, *(f"{command.text}\n{AFTER_EACH}" for command in commands), ""])


def is_as_shown(output, shown):
    patterns = [r"(?:.*\n)*" if line == "..." else re.escape(line).replace(r"\.\.\.", ".*") + r"\n"
                for line in shown.rstrip("\n").splitlines()]
    return re.fullmatch("".join(patterns), "".join(f"{line}\n" for line in output.rstrip("\n").splitlines()))


def check(commands, output):
    """Compares the output of the commands' script with the page."""
    parts = re.split(rf"\n{END} (\d+)\n", output)
    for command, printed, status in zip(commands, parts[::2], parts[1::2]):
        if not is_as_shown(printed, command.shown) or (not command.shown and status != "0"):
            raise Differs(f"$ {command.text}\n{printed}\n(exit status {status})\n--- the page shows\n{command.shown}")
    if len(parts) // 2 < len(commands):
        raise Differs(f"$ {commands[len(parts) // 2].text}\n{parts[-1]}\n(the shell ended there)")


def main():
    page = Page(pathlib.Path(sys.argv[1]))
    for name, text in page.files.items():
        pathlib.Path(name).write_text(text)
    commands = page.in_place("".join(sys.argv[2:]))
    ended = subprocess.run(["bash", "-c", script_of(commands)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                           text=True, check=False)
    check(commands, ended.stdout)
    print(f"{sys.argv[1]}: {len(commands)} commands do what it shows")


if __name__ == "__main__":
    main()

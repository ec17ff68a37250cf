# SPDX-License-Identifier: BSD-3-Clause
"""Cases of bad input: each gets one clear line and the right exit code, and leaves nothing behind."""

HOW = {"exec": ["exec"], "run": ["run", "-n", "2"]}
OWN_FAILURE, CANNOT_RUN, NOT_FOUND = 125, 126, 127


def expect_refusal(ended, leftovers, code, *words):
    assert ended.code == code, ended
    assert len(ended.err.splitlines()) == 1 and ended.out == "", ended
    for word in words:
        assert str(word).lower() in ended.err.lower(), (word, ended)
    left = leftovers.after_limit()
    assert not (left.processes or left.sockets), left

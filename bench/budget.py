# SPDX-License-Identifier: BSD-3-Clause
"""The time that the benchmark under way may take: there is one at a time in a driver. The loop over rounds
(jobs.run) asks whether one more fits."""

import contextlib
import time

_end: float | None = None  # None: it may take any time


@contextlib.contextmanager
def of(seconds: float | None):
    global _end
    _end = None if seconds is None else time.monotonic() + seconds
    try:
        yield
    finally:
        _end = None


def has(seconds: float) -> bool:
    """Returns true if so much time is left."""
    return _end is None or time.monotonic() + seconds <= _end

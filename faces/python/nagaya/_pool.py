# SPDX-License-Identifier: BSD-3-Clause
"""Work that the processes of a node share."""
import itertools

import numpy

from . import _arrays, _job

_calls = itertools.count()
_NEXT, _FAILURES = 0, 1  # of the state that all processes of a call share
_NONE_LEFT = 1 << 62


class _Map:
    """One call of map(), as one process sees it."""

    def __init__(self, function, array, chunk):
        self.function, self.chunk, self.results = function, chunk, None
        self.name = f"nagaya.map.{next(_calls)}"
        self.is_first = _job.rank() == 0
        if self.is_first:
            arguments = _arrays.as_array(array)
            if arguments.ndim == 0 or len(arguments) == 0:
                raise ValueError("map needs an array of at least one dimension and one element")
            _arrays.publish(self.name + ".arguments", arguments)
            _arrays.publish(self.name + ".state", numpy.array([1, 0]))  # rank 0 itself takes the first element
        self.arguments = _arrays.view(0, self.name + ".arguments")
        self.state = _arrays.view(0, self.name + ".state", writable=True)

    def work(self):
        if self.is_first:
            value = numpy.asarray(self.function(self.arguments[0]))
            results = numpy.empty((len(self.arguments), *value.shape), value.dtype)
            results[0] = value
            _arrays.publish(self.name + ".results", results)
        while (begin := _arrays.fetch_add(self.state, _NEXT, self.chunk)) < len(self.arguments):
            for index in range(begin, min(begin + self.chunk, len(self.arguments))):
                value = self.function(self.arguments[index])
                if self.find_results():
                    self.results[index] = value
        self.find_results()

    def find_results(self):
        """Waits until rank 0 has its first result. Returns False if a process has failed."""
        while self.results is None and not self.state[_FAILURES]:
            try:
                self.results = _arrays.view(0, self.name + ".results", writable=True, timeout=0.1)
            except TimeoutError:
                pass
        return self.results is not None

    def fail(self):
        _arrays.fetch_add(self.state, _FAILURES, 1)
        _arrays.fetch_add(self.state, _NEXT, _NONE_LEFT)

    def close(self):
        if self.is_first:
            for part in ("arguments", "state", "results"):
                try:
                    _arrays.withdraw(f"{self.name}.{part}")
                except KeyError:
                    pass  # it has failed before


def map(function, array, chunk=1):  # pylint: disable=redefined-builtin
    """Applies a function to each element of an array (to each row, if it has more than one dimension),
    by all processes together. Collective: all processes of the job call it with the same function and
    `chunk`; the array is that of rank 0, others may give None.

        squares = nagaya.map(lambda x: x * x, numpy.arange(1000.))

    A process that is free takes the next `chunk` elements. Nothing is copied or pickled: arguments are views
    of rank 0's array, and each process stores its results where all of them see them. Returns the results as
    an array, the same memory in all processes: a change is seen by all. The job is on one node; the function
    returns numbers or arrays of one type and shape, and must not call collective functions. Raises, after the
    barrier at its end, what the function has raised here, or RuntimeError if it has raised in other processes;
    NotATask, ValueError (several nodes; an array without elements; chunk)."""
    if chunk < 1:
        raise ValueError(f"map: chunk is {chunk}, not at least 1")
    call, failure = _Map(function, array, chunk), None
    try:
        call.work()
    except Exception as error:  # pylint: disable=broad-except
        failure = error
        call.fail()
    _job.barrier()
    failures = call.state[_FAILURES]
    call.close()
    if failure is not None:
        raise failure
    if failures:
        raise RuntimeError(f"map: the function has raised an exception in {failures} other processes")
    return call.results

# SPDX-License-Identifier: BSD-3-Clause
"""Work that the processes of a node share."""
import contextlib
import functools
import itertools
import pickle
import time
import traceback

import numpy

from . import _arrays, _collectives, _job
from ._library import calls

_calls, _orders = itertools.count(), itertools.count()
# A call's state: the next element, how many processes have failed, the blocks of two shared arrays.
_NEXT, _FAILURES, _ARGUMENTS, _RESULTS = range(4)
_NONE_LEFT = 1 << 40  # more than any array has elements; each process may add it
_CHUNK_SECONDS = 20e-6  # a chunk that takes less costs more than it is worth
_AS_PYTHON_NUMBERS = [numpy.dtype(kind) for kind in (numpy.bool_, numpy.int64, numpy.float64, numpy.complex128)]


def _check(array, chunk):
    if array is not None and (array.ndim == 0 or len(array) == 0):
        raise ValueError("map needs an array of at least one dimension and one element")
    if chunk is not None and chunk < 1:
        raise ValueError(f"map: chunk is {chunk}, not at least 1")


@functools.lru_cache(maxsize=None)
def _states():
    """Returns the states of two calls, which all processes share: one call uses one, the next one the other."""
    if _job.rank() == 0:
        _arrays.publish_any("nagaya.map", numpy.zeros((2, 4), numpy.int64))
    return _arrays.view(0, "nagaya.map", writable=True)


class _Map:
    """One call of map(), as one process sees it."""

    def __init__(self, function, array, chunk):
        self.function, self.state, self.failure = function, _states()[next(_calls) % 2], None
        self.results, self.shared = None, []
        if _job.rank() == 0:
            self.begin(_arrays.as_array(array), chunk)
        _collectives.barrier()
        if not self.state[_FAILURES]:
            self.results = _arrays.view_shared(int(self.state[_RESULTS]), True)

    def begin(self, arguments, chunk):
        """Rank 0 makes room for results like the first one before the others begin."""
        _check(arguments, chunk)
        self.state[:] = 1, 0, 0, 0  # the first element is done here
        with self.noticing_failure():
            value = numpy.asarray(self.values(arguments[:1])[0])
            results = numpy.empty((len(arguments), *value.shape), value.dtype)
            results[0] = value
            self.share(_ARGUMENTS, arguments)
            self.share(_RESULTS, results)

    def share(self, which, array):
        self.shared.append(_arrays.share(array))
        self.state[which] = self.shared[-1].block

    def values(self, part):
        function = self.function
        if part.ndim == 1 and part.dtype in _AS_PYTHON_NUMBERS:
            part = part.tolist()
        return [function(argument) for argument in part]

    def work(self, chunk):
        """Takes elements that nobody has taken, until there are none: `chunk` at once; with None a chunk for each
        process would be half of what is left, so that all processes end at about the same time."""
        arguments, length, processes, least = None, len(self.results), _job.size(), 1
        with self.noticing_failure():
            while (left := length - int(self.state[_NEXT])) > 0:
                if arguments is None:
                    arguments = _arrays.view_shared(int(self.state[_ARGUMENTS]), False)
                step = chunk or max(least, left // (2 * processes))
                begin = _arrays.fetch_add(self.state, _NEXT, step)
                if begin >= length:
                    break
                began, end = time.perf_counter(), min(begin + step, length)
                values = self.values(arguments[begin:end])
                if not calls.store(values, self.results, begin):
                    self.results[begin:end] = values
                least = int((end - begin) * _CHUNK_SECONDS / (time.perf_counter() - began)) + 1

    @contextlib.contextmanager
    def noticing_failure(self):
        try:
            yield
        except Exception as error:  # pylint: disable=broad-except
            self.failure = error
            _arrays.fetch_add(self.state, _FAILURES, 1)
            _arrays.fetch_add(self.state, _NEXT, _NONE_LEFT)

    def close(self):
        """Called when all processes have called work()."""
        _arrays.end_sharing(self.shared)


def map(function, array, chunk=None):  # pylint: disable=redefined-builtin
    """Applies a function to each element of an array (to each row, if it has more than one dimension),
    by all processes together. Collective: all processes of the job call it with the same function and
    `chunk`; the array is that of rank 0, others may give None.

        squares = nagaya.map(lambda x: x * x, numpy.arange(1000.))

    A process that is free takes the next `chunk` elements; None: many at first, few at last. Nothing is copied or
    pickled: rows are views of rank 0's array (elements of bool, int64, float64 and complex128 are Python's numbers),
    and each process stores its results where all of them see them. Returns the results as
    an array, the same memory in all processes: a change is seen by all. The job is on one node; the function
    returns numbers or arrays of one type and shape, and must not call collective functions. Raises, after the
    barrier at its end, what the function has raised here, or RuntimeError if it has raised in other processes;
    NotATask, ValueError (several nodes; an array without elements; chunk)."""
    results, failure, failures = _run(function, array, chunk)
    if failure is not None:
        raise failure
    if failures:
        raise RuntimeError(f"map: the function has raised an exception in {failures} other processes")
    return results


def _run(function, array, chunk):
    """Returns the results of map(), what the function has raised here, in how many processes it has."""
    _check(None, chunk)
    call = _Map(function, array, chunk)
    if call.results is not None:
        call.work(chunk)
    _collectives.barrier()
    failures = call.state[_FAILURES]
    call.close()
    return call.results, call.failure, failures


class Pool:
    """Processes that work for rank 0: only it runs the block, with a Pool; the others work until its end, and
    skip the block's statements by `if pool`.

        with nagaya.Pool() as pool:          # all processes of the job
            if pool:                         # rank 0
                squares = pool.map(function, numpy.arange(1000.))

    Collective. The job is on one node."""

    def __enter__(self):
        if _job.rank() == 0:
            return self
        while order := pickle.loads(_arrays.view(0, _order_name(next(_orders))).tobytes()):
            function, chunk = order
            failure = _run(_loaded(function), None, chunk)[1]
            if failure is not None:  # rank 0 raises RuntimeError
                traceback.print_exception(type(failure), failure, failure.__traceback__)
        return None

    def __exit__(self, *_):
        if _job.rank() == 0:
            name = _give(None)
        _collectives.barrier()
        if _job.rank() == 0:
            _arrays.withdraw(name)

    def map(self, function, array, chunk=None):
        """Does what nagaya.map() does. The function is one that can be pickled: a name of a module, which all
        processes have; no lambda."""
        array, order = _arrays.as_array(array), (pickle.dumps(function), chunk)
        _check(array, chunk)
        name = _give(order)
        try:
            return map(function, array, chunk)
        finally:
            _arrays.withdraw(name)


def _order_name(number):
    return f"nagaya.pool.{number}"


def _give(order):
    name = _order_name(next(_orders))
    _arrays.publish_any(name, numpy.frombuffer(pickle.dumps(order), numpy.uint8))
    return name


def _loaded(pickled):
    """Returns a function; if it cannot be found here, one that says so when it is called."""
    try:
        return pickle.loads(pickled)
    except Exception as error:  # pylint: disable=broad-except
        reason = error

    def fail(_):
        raise reason
    return fail

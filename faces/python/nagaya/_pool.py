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
# A call's state: the next element, how many processes have failed, the first of them, the blocks of two shared arrays.
_NEXT, _FAILURES, _FIRST_FAILED, _ARGUMENTS, _RESULTS = range(5)
_NONE_LEFT = 1 << 40  # more than any array has elements; each process may add it
_CHUNK_SECONDS = 20e-6  # a chunk that takes less costs more than it is worth
_AS_PYTHON_NUMBERS = [numpy.dtype(kind) for kind in (numpy.bool_, numpy.int64, numpy.float64, numpy.complex128)]


def _check_array(array):
    if array.ndim == 0 or len(array) == 0:
        raise ValueError("map needs an array of at least one dimension and one element")


def _check_chunk(chunk):
    if chunk is not None and chunk < 1:
        raise ValueError(f"map: chunk is {chunk}, not at least 1")


def _check_nodes():
    if _job.has_several_nodes():
        raise ValueError("map and Pool are for jobs on one node")


@functools.lru_cache(maxsize=None)
def _states():
    """Returns the states of two calls, which all processes share: one call uses one, the next one the other."""
    if _job.rank() == 0:
        _arrays.publish_any("nagaya.map", numpy.zeros((2, 5), numpy.int64))
    return _arrays.view(0, "nagaya.map", writable=True)


class _Map:
    """One call of map(), as one process sees it."""

    def __init__(self, function, array, chunk):
        self.number, self.function, self.failure = next(_calls), function, None
        self.results, self.shared, self.state = None, [], _states()[self.number % 2]
        if _job.rank() == 0:
            self.begin(array, chunk)
        _collectives.barrier()
        if not self.state[_FAILURES]:
            self.results = _arrays.view_shared(int(self.state[_RESULTS]), True)

    def begin(self, array, chunk):
        """Rank 0 makes room for results like the first one before the others begin."""
        self.state[:] = 1, 0, 0, 0, 0  # the first element is done here
        with self.noticing_failure():
            arguments = _arrays.as_array(array)
            _check_array(arguments)
            _check_chunk(chunk)
            value = _arrays.as_array(self.values(arguments[:1])[0])
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
            if isinstance(self.function, Exception):
                raise self.function
            _check_chunk(chunk)
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
            if _arrays.fetch_add(self.state, _FAILURES, 1) == 0:
                text = f"{type(error).__name__}: {error}"
                _arrays.publish_any(self.failure_name(), numpy.frombuffer(text.encode(errors="replace"), numpy.uint8))
                self.state[_FIRST_FAILED] = _job.rank()
            _arrays.fetch_add(self.state, _NEXT, _NONE_LEFT)

    def failure_name(self):
        return f"nagaya.failure.{self.number}"

    def close(self):
        """Called when all processes have called work(). Returns the exception for processes that have not failed
        themselves; None: nobody has failed."""
        _arrays.end_sharing(self.shared)
        failures, first = int(self.state[_FAILURES]), int(self.state[_FIRST_FAILED])
        if failures == 0:
            return None
        text = _arrays.view(first, self.failure_name()).tobytes().decode()
        _collectives.barrier()
        if first == _job.rank():
            _arrays.withdraw(self.failure_name())
        return RuntimeError(f"map has failed in {failures} other processes, first in rank {first}: {text}")


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
    barrier at its end, what the function has raised here, or RuntimeError with that text if it has raised in other
    processes, or rank 0's array is wrong; in rank 0 then TypeError (elements or results that are objects), ValueError
    (an array without elements). Raises ValueError (chunk, several nodes), NotATask."""
    results, failure, failure_elsewhere = _run(function, array, chunk)
    if failure is not None:
        raise failure
    if failure_elsewhere is not None:
        raise failure_elsewhere
    return results


def _run(function, array, chunk):
    """Returns the results of map(), what has been raised here, and the exception for what others have raised."""
    _check_nodes()
    call = _Map(function, array, chunk)
    if call.results is not None:
        call.work(chunk)
    _collectives.barrier()
    failure_elsewhere = call.close()
    return call.results, call.failure, failure_elsewhere


class Pool:
    """Processes that work for rank 0: only it runs the block, with a Pool; the others work until its end, and
    skip the block's statements by `if pool`.

        with nagaya.Pool() as pool:          # all processes of the job
            if pool:                         # rank 0
                squares = pool.map(function, numpy.arange(1000.))

    Collective. The job is on one node."""

    def __enter__(self):
        _check_nodes()
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
        processes have; no lambda and no function that is defined in another one (TypeError)."""
        array, order = _arrays.as_array(array), (_pickled(function), chunk)
        _check_array(array)
        _check_chunk(chunk)
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


def _pickled(function):
    try:
        return pickle.dumps(function)
    except Exception as error:  # pylint: disable=broad-except
        name = getattr(function, "__qualname__", repr(function))
        raise TypeError(f"Pool.map: the other processes cannot find {name} by its name: define it by `def` at the top "
                        "of the program or of a module, or let all processes call nagaya.map(), which takes any "
                        "function") from error


def _loaded(pickled):
    """Returns a function, or the exception that says why it cannot be found here."""
    try:
        return pickle.loads(pickled)
    except Exception as error:  # pylint: disable=broad-except
        return RuntimeError(f"Pool.map: this process has no such function: define it before `with nagaya.Pool()`, in "
                            f"all processes ({error})")

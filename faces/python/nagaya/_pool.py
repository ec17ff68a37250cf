# SPDX-License-Identifier: BSD-3-Clause
"""Work that the processes of a node share."""
import itertools

import numpy

from . import _arrays, _job

_calls = itertools.count()


def map(function, array, chunk=1):  # pylint: disable=redefined-builtin
    """Applies a function to each element of an array (to each row, if it has more than one dimension),
    by all processes together. Collective: all processes of the job call it with the same function and
    `chunk`; the array is that of rank 0, others may give None.

        squares = nagaya.map(lambda x: x * x, numpy.arange(1000.))

    Who is free takes the next `chunk` elements. Nothing is copied or pickled: arguments are views of rank
    0's array, and each process stores its results where all of them see them. Returns the results as an
    array, the same memory in all processes: whoever changes it changes it for all. The job is on one
    node; the function returns numbers or arrays of one type and shape, and must not call collective
    functions. If it raises, that process's exception is raised there, and the others' calls end
    with an error when it has ended. Raises NotATask, ValueError (several nodes; an array without
    elements)."""
    name = f"nagaya.map.{next(_calls)}"
    is_first = _job.rank() == 0
    if is_first:
        arguments = _arrays.as_array(array)
        if arguments.ndim == 0 or len(arguments) == 0:
            raise ValueError("map needs an array of at least one dimension and one element")
        first = numpy.asarray(function(arguments[0]))
        results = numpy.empty((len(arguments), *first.shape), first.dtype)
        results[0] = first
        _arrays.publish(name + ".arguments", arguments)
        _arrays.publish(name + ".results", results)
        _arrays.publish(name + ".next", numpy.ones(1, numpy.int64))
    arguments = _arrays.view(0, name + ".arguments")
    results = _arrays.view(0, name + ".results", writable=True)
    following = _arrays.view(0, name + ".next", writable=True)
    while True:
        begin = _arrays.fetch_add(following, 0, chunk)
        if begin >= len(arguments):
            break
        for index in range(begin, min(begin + chunk, len(arguments))):
            results[index] = function(arguments[index])
    _job.barrier()
    if is_first:
        for part in ("arguments", "results", "next"):
            _arrays.withdraw(f"{name}.{part}")
    return results

# SPDX-License-Identifier: BSD-3-Clause
"""Nagaya: the sum reads the array where it is; blocks are copied by scatter() and gather()."""
import nagaya
import numpy

import measure
import together
from arithmetic import function

rank, size = nagaya.rank(), nagaya.size()
sums = numpy.zeros(size) if rank == 0 else None


def sum_of(array):
    if rank == 0:
        nagaya.publish("array", array)
    nagaya.barrier()
    array = nagaya.view(0, "array")
    bounds = [len(array) * one // size for one in (rank, rank + 1)]
    nagaya.gather(array[bounds[0]:bounds[1]].sum(keepdims=True), sums)
    return None if sums is None else sums.sum()


def exchange(array, block, changed):
    nagaya.scatter(array, block)
    numpy.add(block, 1, out=block)
    nagaya.gather(block, changed)


def map_of(numbers):
    return nagaya.map(function, numbers)


if __name__ == "__main__":
    together.measure_by(rank, nagaya.barrier, sum_of, exchange, map_of)

# SPDX-License-Identifier: BSD-3-Clause
"""mpi4py by buffers: all processes together call MPI_Scatter and MPI_Gather."""
from mpi4py import MPI
import numpy

import measure
import together
from arithmetic import function

world = MPI.COMM_WORLD


def scattered(array):
    length = world.bcast(None if array is None else len(array))
    part = numpy.empty(length // world.size)
    world.Scatter(array, part)
    return part


def sum_of(array):
    return world.reduce(scattered(array).sum())


def exchange(array, block, changed):
    world.Scatter(array, block)
    numpy.add(block, 1, out=block)
    world.Gather(block, changed)


def map_of(numbers):
    results = None if numbers is None else numpy.empty(len(numbers))
    world.Gather(numpy.array([function(number) for number in scattered(numbers).tolist()]), results)
    return results


if __name__ == "__main__":
    together.measure_by(world.rank, world.Barrier, sum_of, exchange, map_of)

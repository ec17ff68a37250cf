# SPDX-License-Identifier: BSD-3-Clause
"""Ray, whose object store workers map."""
import numpy
import ray

import measure
from arithmetic import function

CHUNKS_EACH = 4  # of numbers for a worker, at least


@ray.remote
def add_up(array, part):
    return array[part].sum()


@ray.remote
def change(block):
    return block + 1


@ray.remote
def apply(numbers):
    return numpy.array([function(number) for number in numbers.tolist()])


def sum_of(array):
    there, length = ray.put(array), len(array)
    parts = [slice(length * one // measure.PROCESSES, length * (one + 1) // measure.PROCESSES)
             for one in range(measure.PROCESSES)]
    return sum(ray.get([add_up.remote(there, part) for part in parts]))


def exchange(array, changed):
    blocks = ray.get([change.remote(block) for block in array.reshape(measure.PROCESSES, -1)])
    for target, block in zip(changed.reshape(measure.PROCESSES, -1), blocks):
        target[:] = block


def map_of(numbers):
    parts = numpy.array_split(numbers, CHUNKS_EACH * measure.PROCESSES)
    return numpy.concatenate(ray.get([apply.remote(part) for part in parts]))


if __name__ == "__main__":
    ray.init(num_cpus=measure.PROCESSES, include_dashboard=False, log_to_driver=False,
             object_store_memory=max(1 << 28, 3 * measure.SUM_BYTES))
    measure.measure_by(sum_of, exchange, map_of)

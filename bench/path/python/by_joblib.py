# SPDX-License-Identifier: BSD-3-Clause
"""joblib, whose workers map long arguments from a file (in /dev/shm where there is room)."""
import numpy
from joblib import Parallel, delayed

import measure
from arithmetic import function


def add_up(array, part):
    return array[part].sum()


def change(block):
    return block + 1


def main():
    with Parallel(n_jobs=measure.PROCESSES) as parallel:
        def sum_of(array):
            length = len(array)
            parts = [slice(length * one // measure.PROCESSES, length * (one + 1) // measure.PROCESSES)
                     for one in range(measure.PROCESSES)]
            return sum(parallel(delayed(add_up)(array, part) for part in parts))

        def exchange(array, changed):
            blocks = parallel(delayed(change)(block) for block in array.reshape(measure.PROCESSES, -1))
            for target, block in zip(changed.reshape(measure.PROCESSES, -1), blocks):
                target[:] = block

        def map_of(numbers):
            return numpy.array(parallel(delayed(function)(number) for number in numbers.tolist()))
        measure.measure_by(sum_of, exchange, map_of)


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: BSD-3-Clause
"""An allreduce of 1 MiB by mpi4py, as any Python program calls it. Knows nothing of Nagaya.

Rank 0 prints "python VALUE", the median over turns of the slowest rank's time [ms], and "check SUM"
of the results."""
import statistics

import numpy
from mpi4py import MPI

NUMBERS = (1 << 20) // 8
TURNS, TURNS_BEFORE = 11, 2

world = MPI.COMM_WORLD
received = numpy.empty(NUMBERS)
times, check = [], 0.0
for turn in range(TURNS + TURNS_BEFORE):
    sent = numpy.arange(NUMBERS) % 64 + float(turn + world.rank)
    world.Barrier()
    start = MPI.Wtime()
    world.Allreduce(sent, received, op=MPI.SUM)
    times.append(world.reduce(MPI.Wtime() - start, op=MPI.MAX))
    expected = world.size * (numpy.arange(NUMBERS) % 64) + sum(turn + rank for rank in range(world.size))
    if not numpy.array_equal(received, expected):
        raise SystemExit(f"allreduce.py: rank {world.rank} received wrong data")
    check += float(received.sum())
if world.rank == 0:
    print(f"python {statistics.median(times[TURNS_BEFORE:]) * 1e3:.6f}\ncheck {check:.0f}")

# SPDX-License-Identifier: BSD-3-Clause
# mpi_ring.py - mpi4py: objects around a ring, arrays in a reduction.
import sys
from array import array

from mpi4py import MPI

world = MPI.COMM_WORLD
rank, size = world.Get_rank(), world.Get_size()
right, left = (rank + 1) % size, (rank - 1) % size
got = world.sendrecv({"from": rank, "words": sys.argv[1:]}, dest=right, source=left)
assert got == {"from": left, "words": sys.argv[1:]}, got
total = array("d", [0.0] * 100000)
world.Allreduce(array("d", [rank + 1.0] * 100000), total)
assert set(total) == {size * (size + 1) / 2}
if rank == 0:
    print(f"ring of {size} as {sys.argv[0].rsplit('/', 1)[-1]} {sys.argv[1:]}")

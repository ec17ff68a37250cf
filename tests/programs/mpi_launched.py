# SPDX-License-Identifier: BSD-3-Clause
# mpi_launched.py - does as `mpi_launched report` by mpi4py.
import os
import sys

from mpi4py import MPI

world = MPI.COMM_WORLD
rank, size = world.Get_rank(), world.Get_size()
program = world.Get_attr(MPI.APPNUM)
# A lone rank of MPICH would start the mpiexec that it finds in PATH, to ask it.
universe = world.Get_attr(MPI.UNIVERSE_SIZE) if size > 1 else 1
program, universe = [-1 if value is None else value for value in (program, universe)]
line = f"rank {rank} of {size}, process {os.getpid()}, program {program}, universe {universe}\n"
os.write(1, line.encode())
if rank == 0:
    os.read(0, 1)
world.Barrier()
sys.exit(int(sys.argv[2]) if len(sys.argv) > 2 else 0)

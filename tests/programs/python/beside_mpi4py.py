# SPDX-License-Identifier: BSD-3-Clause
"""Views and messages beside those of an MPI."""
from mpi4py import MPI

import nagaya
import numpy

world = MPI.COMM_WORLD
assert (nagaya.rank(), nagaya.size()) == (world.rank, world.size)
mine = nagaya.publish("mine", numpy.full(4, world.rank))
world.Barrier()
assert nagaya.view((world.rank + 1) % world.size, "mine")[0] == (world.rank + 1) % world.size
total = numpy.zeros(4, int)
world.Allreduce(mine, total)
sending = nagaya.start_send(total, (world.rank + 1) % world.size)
request = world.Isend(total, (world.rank + 1) % world.size)
got = numpy.zeros(4, int)
world.Recv(got)
assert (nagaya.receive().array == got).all() and got[0] == sum(range(world.size))
request.Wait()
sending.wait()
world.Barrier()
print(f"rank {world.rank}: right")

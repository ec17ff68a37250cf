# SPDX-License-Identifier: BSD-3-Clause
"""Messages and collectives of mpi4py through the face. Rank 0 prints "ours among N", or "beneath among N" if the
requests are the MPI's own."""
import array

from mpi4py import MPI

world = MPI.COMM_WORLD
rank, ranks = world.rank, world.size
before, after = (rank - 1) % ranks, (rank + 1) % ranks


def check_buffers(comm):
    sent, received = array.array("i", [rank] * 1000), array.array("i", [-1] * 1000)
    status = MPI.Status()
    requests = [comm.Irecv([received, MPI.INT], before, 5), comm.Isend([sent, MPI.INT], after, 5)]
    number = requests[0].py2f()
    MPI.Request.Waitall(requests, [status, MPI.Status()])
    assert received == array.array("i", [before] * 1000)
    assert (status.source, status.tag, status.Get_count(MPI.INT)) == (before, 5, 1000)
    assert requests[0] == requests[1] == MPI.REQUEST_NULL
    return number


def check_objects(comm):
    assert comm.sendrecv({"rank": rank}, after, source=before) == {"rank": before}
    request = comm.isend([rank] * 10, after)
    message = comm.mprobe(before)
    assert message.recv() == [before] * 10
    request.wait()


def check_statuses_of_several(comm):
    """They end no request. One more request is null."""
    sent, received = array.array("i", [rank]), [array.array("i", [-1]) for _ in range(2)]
    requests = [MPI.REQUEST_NULL, *(comm.Irecv([one, MPI.INT], rank, tag) for tag, one in enumerate(received))]
    assert MPI.Request.get_status_any(requests) == (MPI.UNDEFINED, False)
    comm.Send([sent, MPI.INT], rank, 1)
    while not requests[2].get_status():
        pass
    status, statuses = MPI.Status(), []
    assert MPI.Request.get_status_any(requests, status) == (2, True) and status.tag == 1
    assert MPI.Request.get_status_some(requests, statuses) == [2] and statuses[0].tag == 1
    assert not MPI.Request.get_status_all(requests)
    comm.Send([sent, MPI.INT], rank, 0)
    while not MPI.Request.get_status_all(requests, statuses):
        pass
    assert [one.tag for one in statuses[1:]] == [0, 1]
    MPI.Request.Waitall(requests)
    assert MPI.Request.get_status_any(requests) == (MPI.UNDEFINED, True)
    assert MPI.Request.get_status_some(requests) is None


def check_collectives(comm):
    assert comm.allreduce(rank) == ranks * (ranks - 1) // 2
    assert comm.allgather(rank) == list(range(ranks))
    total = array.array("d", [0.0])
    comm.Allreduce([array.array("d", [1.5]), MPI.DOUBLE], [total, MPI.DOUBLE], MPI.SUM)
    assert total[0] == 1.5 * ranks
    counts = list(range(1, ranks + 1))
    gathered = array.array("i", [-1] * sum(counts))
    comm.Allgatherv([array.array("i", [rank] * (rank + 1)), MPI.INT], [gathered, counts, None, MPI.INT])
    assert gathered == array.array("i", [one for one in range(ranks) for _ in range(one + 1)])


def check_orders(comm):
    """The standard wants one order of all collectives, but MPIs tell those that block from those that do not."""
    for root in range(ranks):
        part, total = array.array("i", [rank]), array.array("i", [-1])
        if rank != root:
            comm.Barrier()
        request = comm.Iallreduce([part, MPI.INT], [total, MPI.INT])
        if rank == root:
            assert not request.Test() and total[0] == -1
            comm.Barrier()
        request.Wait()
        assert total[0] == ranks * (ranks - 1) // 2


def check_intercommunicator():
    """Its messages stay beneath, with the large counts that the MPI may lack."""
    half = world.Split(rank % 2)
    between = half.Create_intercomm(0, world, 1 - rank % 2, 3)
    between.send(rank, half.rank % between.remote_size)
    between.recv()
    others = list(range(1 - rank % 2, ranks, 2))
    assert between.allgather(rank) == others
    counts, got = [2] * len(others), array.array("i", [-1] * 2 * len(others))
    between.Alltoallv([array.array("i", [rank] * 2 * len(others)), (counts, None), MPI.INT],
                      [got, (counts, None), MPI.INT])
    assert got == array.array("i", [one for one in others for _ in range(2)])
    between.Free()
    half.Free()


def error_of(call, *arguments):
    try:
        call(*arguments)
    except MPI.Exception as error:
        return error.Get_error_class()
    return MPI.SUCCESS


def check_revocation():
    """Each call fails from then on, also one that had been ours."""
    comm = world.Dup()
    comm.Barrier()
    try:
        comm.Revoke()
    except NotImplementedError:
        return comm.Free()
    assert comm.Is_revoked()
    for call, *arguments in ((comm.Barrier,), (comm.Send, bytes(1), MPI.PROC_NULL), (comm.Recv, bytearray(1), before)):
        assert error_of(call, *arguments) == MPI.ERR_REVOKED
    comm.Free()


def check_groups():
    """Communicators of groups, without one that has both."""
    group = world.Get_group()
    try:
        made = MPI.Intracomm.Create_from_group(group)
    except NotImplementedError:
        return group.Free()
    assert made.allreduce(1) == ranks
    made.Free()
    half = ranks // 2
    halves = [group.Range_incl([(0, half - 1, 1)]), group.Range_incl([(half, ranks - 1, 1)])]
    leaders = [0, ranks - half - 1]
    mine = int(rank >= half)
    between = MPI.Intercomm.Create_from_groups(halves[mine], leaders[mine], halves[1 - mine], leaders[1 - mine])
    assert (between.rank, between.remote_size) == (halves[mine].rank, halves[1 - mine].size)
    between.Free()
    for one in (group, *halves):
        one.Free()


number = check_buffers(world)
dup = world.Dup()
check_objects(dup)
check_statuses_of_several(dup)
check_collectives(dup)
check_orders(dup)
check_buffers(dup)
if ranks % 2 == 0:
    check_intercommunicator()
check_revocation()
check_groups()
dup.Free()
is_ours = 0x2C000000 < number < 0x30000000 or 1 << 30 <= number < 0x44000000
if rank == 0:
    print("ours" if is_ours else "beneath", "among", ranks)

# SPDX-License-Identifier: BSD-3-Clause
"""What each plot of docs/results shows: its title, the names of its figures, the meaning of its axes."""

# In the order of a page; the titles of the plots.
FILES = {
    "memory.svg": "Memory of an MPI job, by the number of its ranks",
    "coll.svg": "MPI collectives, 2 ranks on 2 processors",
    "coll_crowded.svg": "MPI collectives, 16 ranks on the processors there are",
    "memory_rendezvous.svg": "Memory of an MPI job whose ranks exchange 16 KiB, by rendezvous",
    "memory_is.svg": "NPB's IS of class A, 128 ranks (table 4 of the PVAS paper)",
    "memory_is_rendezvous.svg": "NPB's IS of class A, 128 ranks, all by rendezvous (table 5)",
    "npb.svg": "NPB, 16 ranks, eager up to 4 KiB (figure 12 of the PVAS paper)",
    "npb_rendezvous.svg": "NPB, 16 ranks, all by rendezvous (figure 13)",
    "npb_openmp.svg": "NPB by MPI beside OpenMP (figure 18)",
    "npb_pie.svg": "NPB, position-independent programs (figure 19)",
    "blacs.svg": "BLACS operations, 2 x 2 processes",
    "xmp_node.svg": "Laplace solver in XcalableMP on one node",
    "xmp_strong.svg": "Laplace solver in XcalableMP: one field, over more and more hosts",
    "xmp_weak.svg": "Laplace solver in XcalableMP: a field that grows with the hosts",
    "fmpl_messages.svg": "FMPL: a message from one process to another (figure 6 of its paper)",
    "fmpl_barrier.svg": "FMPL: barrier (figure 7)",
    "fmpl_bcast.svg": "FMPL: broadcast of 8 KB from changing processes (figure 8)",
    "fmpl_sum.svg": "FMPL: sum of 8 KB at changing processes (figure 9)",
    "fmpl_hosts_messages.svg": "FMPL between two hosts: a message (figure 6)",
    "fmpl_hosts_barrier.svg": "FMPL between hosts: barrier (figure 7)",
    "fmpl_hosts_bcast.svg": "FMPL between hosts: broadcast of 8 KB from changing processes (figure 8)",
    "fmpl_hosts_sum.svg": "FMPL between hosts: sum of 8 KB at changing processes (figure 9)",
    "pvas_eager.svg": "MPI message, eager up to 1 MiB (figure 9 of the PVAS paper)",
    "pvas_rendezvous.svg": "MPI message, all by rendezvous (figure 9 of the PVAS paper)",
    "pvas_bcast.svg": "MPI_Bcast of 240 ranks on the processors there are (figure 10 of the PVAS paper)",
    "pvas_allreduce.svg": "MPI_Allreduce of 240 ranks on the processors there are (figure 11)",
    "delegation_pingpong.svg": "A message between two hosts over 1 Gbit/s (figure 4 of the delegation paper)",
    "delegation_alltoall.svg": "Alltoall of eight hosts over 1 Gbit/s (figure 5 of the delegation paper)",
    "pingpong.svg": "A message between two hosts, by the ways to notify the delegatee",
    "requests_latency.svg": "Reading memory of another host: time until the data is there",
    "requests_rate.svg": "Reading 8 bytes of another host's memory, many requests at a time",
    "requests_overhead.svg": "Reading 8 bytes of another host's memory: time until the request is accepted",
    "requests_sizes.svg": "Reading another host's memory, many requests at a time, by threads and sizes",
    "scale_barrier.svg": "Barrier, by a model of 2 x AMD EPYC 7763",
    "scale_bcast.svg": "Broadcast of 8 bytes, by a model of 2 x AMD EPYC 7763",
    "scale_reduce.svg": "Reduce of 8 bytes, by a model of 2 x AMD EPYC 7763",
    "scale_allreduce.svg": "Allreduce of 8 bytes, by a model of 2 x AMD EPYC 7763",
    "scale_allgather.svg": "Allgather of 8 bytes, by a model of 2 x AMD EPYC 7763",
    "scale_alltoall.svg": "Alltoall of 8 bytes, by a model of 2 x AMD EPYC 7763",
    "scale_mailbox.svg": "A message to a mailbox of several posters, by a model of 2 x AMD EPYC 7763",
    "scale_delegatees.svg": "Delegatees of 120 tasks that ask all the time, by a model of 2 x AMD EPYC 7763",
    "malloc.svg": "malloc and free of a block that is written in full",
    "ratios.svg": "What tasks ask of the kernel and of malloc, compared with separate processes",
}
SIZE = r"(?P<x>\d+)(?P<unit>B|KiB|MiB)"
MODE = "(automatic|kernel|polling)"  # ways to notify the delegatee
RATIO = "time / that of the fastest other\n(below 1: Nagaya is faster)"
# The figures of a plot, and the meaning of its x and its y. Its curves are the jobs that the
# figures compare; or, where a name has a `curve`, the ratios of these.
CURVES = {
    "requests_latency.svg": (rf"requests_hosts_latency_1_{SIZE}(_over_.*)?", "size of the data", "nanoseconds"),
    "requests_rate.svg": (r"requests_hosts_rate_(?P<x>\d+)_8B(_over_.*)?", "threads",
                          "nanoseconds per request"),
    "requests_overhead.svg": (r"requests_hosts_overhead_(?P<x>\d+)_8B(_over_.*)?", "threads", "nanoseconds"),
    "requests_sizes.svg": (r"requests_hosts_rate_(?P<x>\d+)_(?P<curve>\d+(B|KiB|MiB))", "threads", RATIO),
    "coll.svg": (rf"coll_(?!crowded|hosts|long|xhc)(?P<curve>[a-z_]+)_{SIZE}", "size of the data", RATIO),
    "coll_crowded.svg": (rf"coll_crowded_(?P<curve>[a-z_]+)_{SIZE}", "size of the data", RATIO),
    "pvas_eager.svg": (rf"figure_9_eager_pingpong_{SIZE}", "size of the data", "microseconds, one way"),
    "pvas_rendezvous.svg": (rf"figure_9_rendezvous_pingpong_{SIZE}_.*", "size of the data",
                            "microseconds, one way"),
    "pvas_bcast.svg": (rf"coll_240_bcast_{SIZE}_.*", "size of the data", "microseconds"),
    "pvas_allreduce.svg": (rf"coll_240_allreduce_{SIZE}_.*", "size of the data", "microseconds"),
    "delegation_pingpong.svg": (rf"gigabit_pingpong_{SIZE}_{MODE}", "size of the data", "microseconds, one way"),
    "delegation_alltoall.svg": (rf"gigabit_alltoall_{SIZE}_{MODE}", "size of the data", "microseconds"),
    "pingpong.svg": (rf"pingpong_{SIZE}_{MODE}", "size of the data", "microseconds, one way"),
    "blacs.svg": (rf"blacs_(?P<curve>[a-z_]+)_{SIZE}", "size of the data", RATIO),
    "xmp_node.svg": (r"xmp_(?P<x>\d+)_laplace_.*", "tasks or threads", "milliseconds per step"),
    "xmp_strong.svg": (r"xmp_strong_(?P<x>\d+)_laplace_.*", "hosts", "milliseconds per step"),
    "xmp_weak.svg": (r"xmp_weak_(?P<x>\d+)_laplace_.*", "hosts", "milliseconds per step"),
}
for hosts in ("", "hosts_"):
    CURVES |= {f"fmpl_{hosts}messages.svg": (rf"fmpl_{hosts}2_pingpong_{SIZE}_.*", "size of the data",
                                             "microseconds, one way"),
               **{f"fmpl_{hosts}{kind}.svg": (rf"fmpl_{hosts}(?P<x>\d+)_{kind}_(?!.*_beside_).*",
                                              "hosts" if hosts else "processes", "microseconds")
                  for kind in ("barrier", "bcast", "sum")}}
CURVES |= {f"scale_{kind}.svg": (rf"scale_milan_{kind}_(?P<x>\d+)_[08]B_(?!best$).*", "members", "microseconds")
           for kind in ("barrier", "bcast", "reduce", "allreduce", "allgather", "alltoall")}
CURVES["scale_mailbox.svg"] = (r"scale_milan_mailbox_(?P<x>\d+)", "posters", "microseconds a message")
CURVES["scale_delegatees.svg"] = (r"scale_milan_delegatees_(?P<x>\d+)", "delegatees",
                                  "microseconds until the answer")
# The figures of a plot with a group of bars for each label, and the meaning of its y.
KERNEL, SHORTER = "(?P<label>[a-z]+_[A-Z])", "its time / ours\n(above 1: ours is shorter)"
BESIDE_MPI = "Nagaya / Open MPI"
BARS = {
    "npb.svg": (f"npb_{KERNEL}_time_(?P<curve>S|K)", SHORTER),
    "npb_rendezvous.svg": (f"npb_rendezvous_{KERNEL}_time_(?P<curve>S|K)", SHORTER),
    "npb_openmp.svg": (f"npb_openmp_{KERNEL}_time", "MPI's time / OpenMP's"),
    "npb_pie.svg": (f"npb_pie_{KERNEL}_time", "time / that of a program\nthat is not position-independent"),
    "memory_is.svg": ("memory_IS_128_(?P<label>pss|page_tables|speed)_Nagaya", BESIDE_MPI),
    "memory_is_rendezvous.svg": ("memory_rendezvous_IS_128_(?P<label>pss|page_tables|speed)", "Nagaya / S"),
}
MEMORY_FILES = {"memory.svg": "memory", "memory_rendezvous.svg": "memory_rendezvous"}
SEPARATE = ("separate processes", "posix_spawn")  # incumbents
STOCK = "Open MPI"
MARKERS = "os^"
PUBLISHED = ("D--", "v:", "x-.", "*--", "P:", "h-.")
MEMORY = {"both": "memory and page tables [MiB]",
          "pss": "memory without page tables [MiB]", "page_tables": "page tables [MiB]",
          "dev_shm": "files in /dev/shm [MiB]"}
# Names of jobs in the words of a reader who knows no settings.
CURVE_NAMES = {"kernel": "by kernel notification", "polling": "by polling", "automatic": "Nagaya's choice",
               "Nagaya btl self": "Nagaya, and Open MPI's own segments left out", "Open MPI tcp": "Open MPI over TCP",
               "libfabric, FI_THREAD_SAFE": "libfabric, its own locks", "hybrid": "XMP and OpenMP"}
UNITS = {"B": 1, "KiB": 1024, "MiB": 1024**2}

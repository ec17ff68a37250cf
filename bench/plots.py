# SPDX-License-Identifier: BSD-3-Clause
"""The plots of docs/results. The same figures give the same bytes."""

import pathlib
import re

import matplotlib

matplotlib.use("svg")
matplotlib.rcParams["svg.hashsalt"] = "nagaya"
from matplotlib import pyplot, ticker  # noqa: E402  (after the backend was chosen)

# In the order of a page; the titles of the plots.
FILES = {
    "memory.svg": "Memory of an MPI job, by the number of its ranks",
    "coll.svg": "MPI collectives, 2 ranks on 2 processors",
    "coll_crowded.svg": "MPI collectives, 16 ranks on the processors there are",
    "blacs.svg": "BLACS operations, 2 x 2 processes",
    "xmp_node.svg": "Laplace solver in XcalableMP on one node",
    "xmp_strong.svg": "Laplace solver in XcalableMP: one field, over more and more hosts",
    "xmp_weak.svg": "Laplace solver in XcalableMP: a field that grows with the hosts",
    "fmpl_messages.svg": "FMPL: a message from one process to another (figure 6 of its paper)",
    "fmpl_barrier.svg": "FMPL: barrier (figure 7)",
    "fmpl_bcast.svg": "FMPL: broadcast of 8 KB from changing processes (figure 8)",
    "fmpl_sum.svg": "FMPL: sum of 8 KB at changing processes (figure 9)",
    "pvas_eager.svg": "MPI message, eager up to 1 MiB (figure 9 of the PVAS paper)",
    "pvas_rendezvous.svg": "MPI message, all by rendezvous (figure 9 of the PVAS paper)",
    "delegation_pingpong.svg": "A message between two hosts over 1 Gbit/s (figure 4 of the delegation paper)",
    "delegation_alltoall.svg": "Alltoall of eight hosts over 1 Gbit/s (figure 5 of the delegation paper)",
    "pingpong.svg": "A message between two hosts, by the ways to notify the delegatee",
    "requests_latency.svg": "Reading memory of another host: time until the data is there",
    "requests_rate.svg": "Reading 8 bytes of another host's memory, many requests at a time",
    "scale_barrier.svg": "Barrier, by a model of 2 x AMD EPYC 7763",
    "scale_bcast.svg": "Broadcast of 8 bytes, by a model of 2 x AMD EPYC 7763",
    "scale_reduce.svg": "Reduce of 8 bytes, by a model of 2 x AMD EPYC 7763",
    "scale_allreduce.svg": "Allreduce of 8 bytes, by a model of 2 x AMD EPYC 7763",
    "scale_allgather.svg": "Allgather of 8 bytes, by a model of 2 x AMD EPYC 7763",
    "scale_alltoall.svg": "Alltoall of 8 bytes, by a model of 2 x AMD EPYC 7763",
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
    "coll.svg": (rf"coll_(?!crowded|hosts|long|xhc)(?P<curve>[a-z_]+)_{SIZE}", "size of the data", RATIO),
    "coll_crowded.svg": (rf"coll_crowded_(?P<curve>[a-z_]+)_{SIZE}", "size of the data", RATIO),
    "pvas_eager.svg": (rf"figure_9_eager_pingpong_{SIZE}", "size of the data", "microseconds, one way"),
    "pvas_rendezvous.svg": (rf"figure_9_rendezvous_pingpong_{SIZE}_.*", "size of the data",
                            "microseconds, one way"),
    "delegation_pingpong.svg": (rf"gigabit_pingpong_{SIZE}_{MODE}", "size of the data", "microseconds, one way"),
    "delegation_alltoall.svg": (rf"gigabit_alltoall_{SIZE}_{MODE}", "size of the data", "microseconds"),
    "pingpong.svg": (rf"pingpong_{SIZE}_{MODE}", "size of the data", "microseconds, one way"),
    "fmpl_messages.svg": (rf"fmpl_2_pingpong_{SIZE}_.*", "size of the data", "microseconds, one way"),
    "fmpl_barrier.svg": (r"fmpl_(?P<x>\d+)_barrier_.*", "processes", "microseconds"),
    "fmpl_bcast.svg": (r"fmpl_(?P<x>\d+)_bcast_.*", "processes", "microseconds"),
    "fmpl_sum.svg": (r"fmpl_(?P<x>\d+)_sum_.*", "processes", "microseconds"),
    "blacs.svg": (rf"blacs_(?P<curve>[a-z_]+)_{SIZE}", "size of the data", RATIO),
    "xmp_node.svg": (r"xmp_(?P<x>\d+)_laplace_.*", "tasks or threads", "milliseconds per step"),
    "xmp_strong.svg": (r"xmp_strong_(?P<x>\d+)_laplace_.*", "hosts", "milliseconds per step"),
    "xmp_weak.svg": (r"xmp_weak_(?P<x>\d+)_laplace_.*", "hosts", "milliseconds per step"),
}
CURVES |= {f"scale_{kind}.svg": (rf"scale_milan_{kind}_(?P<x>\d+)_[08]B_(?!best$).*", "members", "microseconds")
           for kind in ("barrier", "bcast", "reduce", "allreduce", "allgather", "alltoall")}
CURVES["scale_delegatees.svg"] = (r"scale_milan_delegatees_(?P<x>\d+)", "delegatees",
                                  "microseconds until the answer")
SEPARATE = ("separate processes", "posix_spawn")  # incumbents
MARKERS = "os^"
MEMORY = {"both": "memory and page tables [MiB]",
          "pss": "memory without page tables [MiB]", "page_tables": "page tables [MiB]",
          "dev_shm": "files in /dev/shm [MiB]"}
# Names of jobs in the words of a reader who knows no settings.
CURVE_NAMES = {"kernel": "by kernel notification", "polling": "by polling", "automatic": "Nagaya's choice",
               "Nagaya btl self": "Nagaya, and Open MPI's own segments left out", "Open MPI tcp": "Open MPI over TCP",
               "libfabric, FI_THREAD_SAFE": "libfabric, its own locks", "hybrid": "XMP and OpenMP"}
UNITS = {"B": 1, "KiB": 1024, "MiB": 1024**2}


def plain_number(value: float, _position: int = 0) -> str:
    return f"{value:,.0f}" if value >= 1 and value == round(value) else f"{value:g}"


def plain_size(bytes_: float, _position: int = 0) -> str:
    unit = max((unit for unit, size in UNITS.items() if size <= max(bytes_, 1)), key=UNITS.get)
    return f"{bytes_ / UNITS[unit]:g} {unit}"


def set_log_axes(are_sizes: bool) -> None:
    pyplot.xscale("log", base=2)
    pyplot.yscale("log")
    pyplot.gca().xaxis.set_major_formatter(plain_size if are_sizes else plain_number)
    low, high = pyplot.gca().get_ylim()
    steps = (1, 2, 5) if high < 300 * low else (1,)
    pyplot.gca().yaxis.set_major_locator(ticker.LogLocator(subs=steps))
    pyplot.gca().yaxis.set_major_formatter(plain_number)
    pyplot.gca().yaxis.set_minor_formatter("")


def malloc_size(name: str) -> int | None:
    match = re.fullmatch(r"malloc_(\d+)(B|KiB|MiB)", name)
    return int(match[1]) * UNITS[match[2]] if match else None


def malloc_figures(figures: dict) -> list[tuple[int, dict]]:
    return [(malloc_size(name), figure) for name, figure in figures.items() if malloc_size(name)]


def ratio_figures(figures: dict) -> list[tuple[str, dict]]:
    return [(name, figure) for name, figure in figures.items()
            if "ratio" in figure and figure["incumbent"]["name"] in SEPARATE]


def curves_of(file: str, figures: dict) -> dict:
    """Returns the points (x, spread) of each curve, by its name. Several figures may have the same
    side at the same point."""
    curves = {}
    for name, figure in figures.items():
        if match := re.fullmatch(CURVES[file][0], name):
            found = match.groupdict()
            x = int(found["x"]) * UNITS[found.get("unit", "B")]
            for curve, spread in spreads_of(figure, found.get("curve")):
                curves.setdefault(curve, {})[x] = spread
    return {curve: sorted(points.items()) for curve, points in curves.items()}


def spreads_of(figure: dict, curve: str | None) -> list[tuple[str, dict]]:
    if curve:
        return [(curve.replace("_", " "), figure["ratio"])] if "ratio" in figure else []
    return [(figure[side]["name"], figure[side]) for side in ("subject", "incumbent")
            if side in figure]


def memory_curves(kind: str, figures: dict) -> dict:
    """Returns the points (ranks, spread) of each job, by its name."""
    curves = {}
    for name, figure in figures.items():
        match = re.fullmatch(rf"memory_(\d+)_{kind}_.*", name)
        for side in ("floor", "incumbent", "subject") if match else ():
            curves.setdefault(figure[side]["name"], {})[int(match[1])] = figure[side]
    return {job: sorted(points.items()) for job, points in curves.items()}


def has_data(file: str, figures: dict) -> bool:
    if file == "memory.svg":
        return bool(memory_curves("pss", figures))
    if file in CURVES:
        return bool(curves_of(file, figures))
    return bool(malloc_figures(figures) if file == "malloc.svg" else ratio_figures(figures))


def save(path: pathlib.Path) -> None:
    pyplot.suptitle(FILES[path.name], fontsize=11)
    pyplot.tight_layout()
    pyplot.savefig(path, metadata={"Date": None})
    pyplot.close()


def draw_ratios(figures: dict, path: pathlib.Path) -> None:
    chosen = ratio_figures(figures)[::-1]
    pyplot.figure(figsize=(8, 1.2 + 0.28 * len(chosen)))
    for row, (_, figure) in enumerate(chosen):
        ratio = figure["ratio"]
        pyplot.plot([ratio["p10"], ratio["p90"]], [row, row], color="tab:blue", linewidth=3)
        pyplot.plot(ratio["p50"], row, "o", color="tab:blue")
    pyplot.axvline(1, color="black", linewidth=0.8)
    pyplot.xscale("log")
    pyplot.yticks(range(len(chosen)), [figure["title"] for _, figure in chosen], fontsize=7)
    pyplot.gca().xaxis.set_major_formatter(plain_number)
    pyplot.gca().xaxis.set_minor_formatter("")
    pyplot.xlabel("time / that of separate processes (below 1: Nagaya is faster;\nmedian, 10th to 90th percentile)",
                  fontsize=8)
    pyplot.grid(axis="x", which="both", alpha=0.3)
    save(path)


def draw_malloc(figures: dict, path: pathlib.Path) -> None:
    chosen = malloc_figures(figures)
    sizes = [size for size, _ in chosen]
    pyplot.figure(figsize=(7, 4))
    for side, style in (("subject", "o-"), ("incumbent", "s--"), ("floor", "^:")):
        spreads = [figure[side] for _, figure in chosen]
        pyplot.plot(sizes, [spread["p50"] for spread in spreads], style,
                    label=spreads[0]["name"], markersize=4)
        pyplot.fill_between(sizes, [spread["p10"] for spread in spreads],
                            [spread["p90"] for spread in spreads], alpha=0.15)
    set_log_axes(are_sizes=True)
    pyplot.xlabel("size of the block")
    pyplot.ylabel("nanoseconds per block")
    pyplot.legend()
    pyplot.grid(alpha=0.3)
    save(path)


def draw_curves(file: str, figures: dict, path: pathlib.Path) -> None:
    _, x_label, y_label = CURVES[file]
    pyplot.figure(figsize=(9, 4))
    for number, (curve, points) in enumerate(curves_of(file, figures).items()):
        places = [place for place, _ in points]
        pyplot.plot(places, [spread["p50"] for _, spread in points],
                    f"{MARKERS[number % len(MARKERS)]}-", label=CURVE_NAMES.get(curve, curve), markersize=4)
        pyplot.fill_between(places, [spread["p10"] for _, spread in points],
                            [spread["p90"] for _, spread in points], alpha=0.15)
    set_log_axes(are_sizes=x_label.startswith("size"))
    if y_label == RATIO:
        pyplot.axhline(1, color="black", linewidth=0.8)
    pyplot.xlabel(x_label)
    pyplot.ylabel(y_label)
    pyplot.legend(fontsize=8, loc="upper left", bbox_to_anchor=(1, 1))
    pyplot.grid(alpha=0.3)
    save(path)


def draw_memory(figures: dict, path: pathlib.Path) -> None:
    _, sheets = pyplot.subplots(2, 2, figsize=(9, 7))
    for sheet, (kind, label) in zip(sheets.flat, MEMORY.items()):
        ranks = []
        for job, points in memory_curves(kind, figures).items():
            ranks = [count for count, _ in points]
            sheet.plot(ranks, [spread["p50"] for _, spread in points], "o-", label=CURVE_NAMES.get(job, job), markersize=4)
            sheet.fill_between(ranks, [spread["p10"] for _, spread in points],
                               [spread["p90"] for _, spread in points], alpha=0.15)
        sheet.set_xticks(ranks)
        sheet.set_ylim(bottom=0)
        sheet.set_xlabel("ranks")
        sheet.set_ylabel(label)
        sheet.grid(alpha=0.3)
    sheets.flat[0].legend(fontsize=8)
    save(path)


def draw_all(figures: dict, out: pathlib.Path) -> None:
    if has_data("ratios.svg", figures):
        draw_ratios(figures, out / "ratios.svg")
    if has_data("malloc.svg", figures):
        draw_malloc(figures, out / "malloc.svg")
    if has_data("memory.svg", figures):
        draw_memory(figures, out / "memory.svg")
    for file in CURVES:
        if has_data(file, figures):
            draw_curves(file, figures, out / file)

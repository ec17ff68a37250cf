# SPDX-License-Identifier: BSD-3-Clause
"""The plots of docs/results. The same figures give the same bytes."""

import pathlib
import re

import matplotlib

matplotlib.use("svg")
matplotlib.rcParams["svg.hashsalt"] = "nagaya"
from matplotlib import pyplot  # noqa: E402  (after the backend was chosen)

FILES = {
    "ratios.svg": "Cost in a space, relative to separate processes",
    "malloc.svg": "malloc and free of a reused block, by size",
    "memory.svg": "Memory of an MPI job that has exchanged 2 KiB among all its ranks, by their number",
    "requests_latency.svg": "READ between two hosts, one thread, until its data is there",
    "requests_rate.svg": "READ of 8 B between two hosts, many under way, by threads",
    "coll.svg": "Collectives of two ranks of a node, relative to the best incumbent",
    "coll_crowded.svg": "Collectives of 16 ranks on the processors there are, relative to the best incumbent",
    "fmpl_messages.svg": "FMPL's messages of two, as in figure 6 of its paper",
    "fmpl_barrier.svg": "FMPL's barrier (figure 7)",
    "fmpl_bcast.svg": "FMPL's broadcast of 8 KB, the root changing (figure 8)",
    "fmpl_sum.svg": "FMPL's sum of 8 KB, the root changing (figure 9)",
    "blacs.svg": "The BLACS on a grid of 2 x 2, relative to the reference",
    "xmp_node.svg": "Laplace by XcalableMP on one node, by tasks or threads",
    "xmp_strong.svg": "Laplace by XcalableMP over hosts of two tasks or threads each",
    "xmp_weak.svg": "The same of a field that grows with the hosts",
}
SIZE = r"(?P<x>\d+)(?P<unit>B|KiB|MiB)"
RATIO = "cost / incumbent's cost"
# The figures of a plot, and the meaning of its x and its y. Its curves are the jobs that the
# figures compare; or, where a name has a `curve`, the ratios of these.
CURVES = {
    "requests_latency.svg": (rf"requests_hosts_latency_1_{SIZE}(_over_.*)?", "size [bytes]", "ns"),
    "requests_rate.svg": (r"requests_hosts_rate_(?P<x>\d+)_8B(_over_.*)?", "threads",
                          "ns per request of all"),
    "coll.svg": (rf"coll_(?!crowded|hosts|long|xhc)(?P<curve>[a-z_]+)_{SIZE}", "size [bytes]", RATIO),
    "coll_crowded.svg": (rf"coll_crowded_(?P<curve>[a-z_]+)_{SIZE}", "size [bytes]", RATIO),
    "fmpl_messages.svg": (rf"fmpl_2_pingpong_{SIZE}_.*", "size [bytes]", "us one way"),
    "fmpl_barrier.svg": (r"fmpl_(?P<x>\d+)_barrier_.*", "processes", "us"),
    "fmpl_bcast.svg": (r"fmpl_(?P<x>\d+)_bcast_.*", "processes", "us"),
    "fmpl_sum.svg": (r"fmpl_(?P<x>\d+)_sum_.*", "processes", "us"),
    "blacs.svg": (rf"blacs_(?P<curve>[a-z_]+)_{SIZE}", "size [bytes]", RATIO),
    "xmp_node.svg": (r"xmp_(?P<x>\d+)_laplace_.*", "tasks or threads", "ms per step"),
    "xmp_strong.svg": (r"xmp_strong_(?P<x>\d+)_laplace_.*", "hosts", "ms per step"),
    "xmp_weak.svg": (r"xmp_weak_(?P<x>\d+)_laplace_.*", "hosts", "ms per step"),
}
SEPARATE = ("separate processes", "posix_spawn")  # incumbents
MARKERS = "os^"
MEMORY = {"both": "Pss and page tables [MiB]", "pss": "Pss [MiB]", "page_tables": "page tables [MiB]",
          "dev_shm": "files in /dev/shm [MiB]"}
UNITS = {"B": 1, "KiB": 1024, "MiB": 1024**2}


def malloc_size(name: str) -> int | None:
    match = re.fullmatch(r"malloc_(\d+)(B|KiB|MiB)", name)
    return int(match[1]) * UNITS[match[2]] if match else None


def malloc_figures(figures: dict) -> list[tuple[int, dict]]:
    return [(malloc_size(name), figure) for name, figure in figures.items() if malloc_size(name)]


def ratio_figures(figures: dict) -> list[tuple[str, dict]]:
    return [(name, figure) for name, figure in figures.items()
            if "ratio" in figure and figure["incumbent"]["name"] in SEPARATE]


def curves_of(file: str, figures: dict) -> dict:
    """Points (x, spread) of each curve, by its name. Several figures may have the same side at the same
    point."""
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
    """Points (ranks, spread) of each job, by its name."""
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
    pyplot.gca().xaxis.set_major_formatter("{x:g}")
    pyplot.xlabel("cost / incumbent's cost (median, 10th to 90th percentile)", fontsize=8)
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
    pyplot.xscale("log", base=2)
    pyplot.yscale("log")
    pyplot.xlabel("block size [bytes]")
    pyplot.ylabel("ns per block, its pages written")
    pyplot.legend()
    pyplot.grid(alpha=0.3)
    save(path)


def draw_curves(file: str, figures: dict, path: pathlib.Path) -> None:
    _, x_label, y_label = CURVES[file]
    pyplot.figure(figsize=(9, 4))
    for number, (curve, points) in enumerate(curves_of(file, figures).items()):
        places = [place for place, _ in points]
        pyplot.plot(places, [spread["p50"] for _, spread in points],
                    f"{MARKERS[number % len(MARKERS)]}-", label=curve, markersize=4)
        pyplot.fill_between(places, [spread["p10"] for _, spread in points],
                            [spread["p90"] for _, spread in points], alpha=0.15)
    pyplot.xscale("log", base=2)
    pyplot.yscale("log")
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
            sheet.plot(ranks, [spread["p50"] for _, spread in points], "o-", label=job, markersize=4)
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

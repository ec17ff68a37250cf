# SPDX-License-Identifier: BSD-3-Clause
"""The plots of docs/results. The same figures give the same bytes. A plot for a published figure also shows
what was published (papers.json): values of the same unit in the same sheet, ratios in a second one."""

import pathlib
import re
from collections.abc import Iterator

import matplotlib

from papers import Plot
from plot_files import (
    BARS, CURVE_NAMES, CURVES, FILES, MARKERS, MEMORY, MEMORY_FILES, PUBLISHED, RATIO, SEPARATE, STOCK, UNITS)

matplotlib.use("svg")
matplotlib.rcParams["svg.hashsalt"] = "nagaya"
from matplotlib import pyplot, ticker  # noqa: E402  (after the backend was chosen)


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


def points_of(file: str, figures: dict) -> Iterator[tuple[int, str | None, dict]]:
    """Yields x, the name of the curve if a name of a figure has it, and the figure, for each of a plot."""
    for name, figure in figures.items():
        if match := re.fullmatch(CURVES[file][0], name):
            found = match.groupdict()
            yield int(found["x"]) * UNITS[found.get("unit", "B")], found.get("curve"), figure


def curves_of(file: str, figures: dict) -> dict:
    """Returns the points (x, spread) of each curve, by its name. Several figures may have the same
    side at the same point."""
    curves = {}
    for x, name, figure in points_of(file, figures):
        for curve, spread in spreads_of(figure, name):
            curves.setdefault(curve, {})[x] = spread
    return {curve: sorted(points.items()) for curve, points in curves.items()}


def spreads_of(figure: dict, curve: str | None) -> list[tuple[str, dict]]:
    if curve:
        return [(curve.replace("_", " "), figure["ratio"])] if "ratio" in figure else []
    sides = [(figure[side]["name"], figure[side]) for side in ("subject", "incumbent") if side in figure]
    return sides + list(figure.get("peers", {}).items())


def ratios_of(file: str, figures: dict) -> dict:
    """Returns the points (x, spread) of the ratios of each job that the plot's figures hold against another; of
    several others the first."""
    curves = {}
    for x, _, figure in points_of(file, figures):
        if "ratio" in figure:
            curves.setdefault(figure["subject"]["name"], {}).setdefault(x, figure["ratio"])
    return {curve: sorted(points.items()) for curve, points in curves.items()}


def bars_of(file: str, figures: dict) -> dict:
    """Returns the ratio for each label, by the name of the bars."""
    bars = {}
    for name, figure in figures.items():
        match = re.fullmatch(BARS[file][0], name)
        if match and "ratio" in figure:
            found = match.groupdict()
            bars.setdefault(found.get("curve", "here"), {})[found["label"].replace("_", " ")] = figure["ratio"]
    return bars


def memory_curves(kind: str, figures: dict, prefix: str = "memory") -> dict:
    """Returns the points (ranks, spread) of each job, by its name."""
    curves = {}
    for name, figure in figures.items():
        match = re.fullmatch(rf"{prefix}_(\d+)_{kind}_.*", name)
        for side in ("floor", "incumbent", "subject") if match else ():
            curves.setdefault(figure[side]["name"], {})[int(match[1])] = figure[side]
    return {job: sorted(points.items()) for job, points in curves.items()}


def has_data(file: str, figures: dict) -> bool:
    if file in MEMORY_FILES:
        return bool(memory_curves("pss", figures, MEMORY_FILES[file]))
    if file in BARS:
        return bool(bars_of(file, figures))
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


def draw_curves(file: str, figures: dict, path: pathlib.Path, plot: Plot) -> None:
    _, x_label, y_label = CURVES[file]
    sheets = [(curves_of(file, figures), plot.values, y_label)]
    if plot.ratios:
        sheets.append((ratios_of(file, figures), plot.ratios, plot.ratio))
    pyplot.figure(figsize=(9, 4 * len(sheets)))
    for row, (curves, published, label) in enumerate(sheets, 1):
        pyplot.subplot(len(sheets), 1, row)
        draw_sheet(curves, published)
        set_log_axes(are_sizes=x_label.startswith("size"))
        if row == 2 or y_label == RATIO:
            pyplot.axhline(1, color="black", linewidth=0.8)
        pyplot.xlabel(x_label)
        pyplot.ylabel(label)
        pyplot.legend(fontsize=8, loc="upper left", bbox_to_anchor=(1, 1))
        pyplot.grid(alpha=0.3)
    save(path)


def draw_sheet(curves: dict, published: dict) -> None:
    for number, (curve, points) in enumerate(curves.items()):
        places = [place for place, _ in points]
        pyplot.plot(places, [spread["p50"] for _, spread in points],
                    f"{MARKERS[number % len(MARKERS)]}-", label=CURVE_NAMES.get(curve, curve), markersize=4)
        pyplot.fill_between(places, [spread["p10"] for _, spread in points],
                            [spread["p90"] for _, spread in points], alpha=0.15)
    for number, (curve, points) in enumerate(published.items()):
        pyplot.plot(*zip(*points), PUBLISHED[number % len(PUBLISHED)], color="0.35", label=f"published: {curve}")


def draw_bars(file: str, figures: dict, path: pathlib.Path, plot: Plot) -> None:
    bars = bars_of(file, figures)
    labels = list(dict.fromkeys(label for ratios in bars.values() for label in ratios))
    pyplot.figure(figsize=(9, 4))
    width = 0.8 / len(bars)
    for number, (name, ratios) in enumerate(bars.items()):
        places = [labels.index(label) + (number + 0.5) * width - 0.4 for label in ratios]
        middles = [ratio["p50"] for ratio in ratios.values()]
        reach = [[abs(ratio[end] - ratio["p50"]) for ratio in ratios.values()] for end in ("p10", "p90")]
        pyplot.bar(places, middles, width, yerr=reach, label=name)
    for number, (name, points) in enumerate(plot.ratios.items()):
        known = [(labels.index(label), value) for label, value in points if label in labels]
        if known:
            pyplot.plot(*zip(*known), "Dv"[number % 2], color="black", label=f"published: {name}")
    pyplot.axhline(1, color="black", linewidth=0.8)
    pyplot.xticks(range(len(labels)), labels)
    pyplot.ylabel(BARS[file][1])
    pyplot.legend(fontsize=8, loc="upper left", bbox_to_anchor=(1, 1))
    pyplot.grid(axis="y", alpha=0.3)
    save(path)


def draw_memory(figures: dict, path: pathlib.Path, plot: Plot) -> None:
    """Published is how much less memory the paper's job took than its incumbent."""
    _, sheets = pyplot.subplots(2, 2, figsize=(9, 7))
    for sheet, (kind, label) in zip(sheets.flat, MEMORY.items()):
        ranks = []
        curves = memory_curves(kind, figures, MEMORY_FILES[path.name])
        for job, points in curves.items():
            ranks = [count for count, _ in points]
            sheet.plot(ranks, [spread["p50"] for _, spread in points], "o-", label=CURVE_NAMES.get(job, job), markersize=4)
            sheet.fill_between(ranks, [spread["p10"] for _, spread in points],
                               [spread["p90"] for _, spread in points], alpha=0.15)
        stock = dict(curves.get(STOCK, ()))
        for count, less_mib in plot.values.get(kind, ()):
            if count in stock:
                sheet.plot(count, stock[count]["p50"] - less_mib, "D", color="black",
                           label=f"{STOCK} less the {less_mib} MiB\nthat were published")
        sheet.set_xticks(ranks)
        sheet.set_ylim(bottom=0)
        sheet.set_xlabel("ranks")
        sheet.set_ylabel(label)
        sheet.grid(alpha=0.3)
    for sheet in sheets.flat[:2]:
        if sheet.get_legend_handles_labels()[0]:
            sheet.legend(fontsize=8)
    save(path)


def draw_all(figures: dict, out: pathlib.Path, published: dict[str, Plot] | None = None) -> None:
    """Draws each plot that has figures. `published`: what the papers' plots show besides, by file."""
    for file in FILES:
        if has_data(file, figures):
            draw(file, figures, out / file, (published or {}).get(file, Plot(file)))


def draw(file: str, figures: dict, path: pathlib.Path, plot: Plot) -> None:
    if file in MEMORY_FILES:
        draw_memory(figures, path, plot)
    elif file in BARS:
        draw_bars(file, figures, path, plot)
    elif file in CURVES:
        draw_curves(file, figures, path, plot)
    else:
        {"ratios.svg": draw_ratios, "malloc.svg": draw_malloc}[file](figures, path)

# SPDX-License-Identifier: BSD-3-Clause
"""docs/results: tables in Markdown, plots in SVG, the figures themselves in JSON."""

import json
import pathlib
import re

import bars
import jobs
import machine
import plots

BEGIN, END = "<!-- measured -->", "<!-- /measured -->"


def number(value: float) -> str:
    return f"{value:.3g}" if value < 1000 else f"{value:,.0f}"


def spread_cell(spread: dict | None) -> str:
    return bars.spread_text(spread) if spread else ""


def side_cell(side: dict | None) -> str:
    return f"{number(side['p50'])} ({side['name']})" if side else ""


def comparison_table(figures: dict) -> list[str]:
    lines = [
        "| figure | unit | Nagaya | incumbent | floor | / incumbent [p10..p90] | / floor |",
        "|---|---|---:|---:|---:|---|---|",
    ]
    for figure in figures.values():
        if "incumbent" not in figure and "floor" not in figure:
            continue
        lines.append(
            f"| {figure['title']} | {figure['unit']} | {number(figure['subject']['p50'])} "
            f"| {side_cell(figure.get('incumbent'))} | {side_cell(figure.get('floor'))} "
            f"| {spread_cell(figure.get('ratio'))} | {spread_cell(figure.get('floor_ratio'))} |")
    return lines


def single_table(figures: dict) -> list[str]:
    lines = ["| measured alone | unit | p50 [p10..p90] | p99 |", "|---|---|---|---:|"]
    for figure in figures.values():
        if "subject" in figure and "incumbent" not in figure and "floor" not in figure:
            lines.append(f"| {figure['title']} | {figure['unit']} "
                         f"| {spread_cell(figure['subject'])} | {number(figure['subject']['p99'])} |")
    return lines


def derived_table(figures: dict) -> list[str]:
    lines = ["| derived | | |", "|---|---:|---|"]
    for figure in figures.values():
        if "value" in figure:
            lines.append(f"| {figure['title']} | {number(figure['value'])} | {figure['note']} |")
    return lines


def bar_table(lines: list[bars.Verdict]) -> list[str]:
    table = ["| bar | demanded by | | measured | |", "|---|---|---|---|---|"]
    for line in lines:
        if line.bar:
            table.append(f"| {line.bar.name} | {line.bar.source} "
                         f"| {line.bar.comparison} {line.bar.value:g} "
                         f"| {line.text} | {line.verdict} |")
    return table


def machine_text(results: dict) -> str:
    about = results["machine"]
    quick = " Made with --quick: these are NO measurements." if results["quick"] else ""
    dirty = (" Commits marked -dirty had uncommitted changes."
             if machine.DIRTY in about.get("commit", "") else "")
    return (f"{about.get('cpu')}, {about.get('cores')} cores, Linux {about.get('kernel')}, "
            f"{about.get('libc')}; commit {about.get('commit')}; {about.get('date')}; load average "
            f"before {about.get('load_before')}.{dirty}{quick}")


def body(results: dict, lines: list[bars.Verdict], prefix: str) -> list[str]:
    """All tables and plots; `prefix` leads from the page to the folder of the plots."""
    figures = results["figures"]
    return [
        machine_text(results), "",
        "Every comparison was made in interleaved rounds: Nagaya, incumbent, floor, and again. "
        "Ratios are formed within a round; given are their median and, in brackets, their 10th and "
        "90th percentile. They are ratios of cost: below 1, what the line names first is cheaper. Two ranks run at "
        "once, one per core, unless the line says otherwise.", "",
        *bar_table(lines), "",
        *comparison_table(figures), "",
        *derived_table(figures), "",
        *(f"![{title}]({prefix}{file})" for file, title in plots.FILES.items()
          if plots.has_data(file, figures)), "",
        *single_table(figures), "",
    ]


def write(results: dict, lines: list[bars.Verdict], out: pathlib.Path) -> None:
    out.mkdir(parents=True, exist_ok=True)
    (out / "results.json").write_text(json.dumps(results, indent=1) + "\n")
    plots.draw_all(results["figures"], out)
    text = ["<!-- SPDX-License-Identifier: BSD-3-Clause -->",
            "# Measured", "", "Written by `nagaya bench report`; not to be edited.", "",
            *body(results, lines, "")]
    (out / "README.md").write_text("\n".join(text))


def require_markers(page: pathlib.Path) -> str:
    """The page's text."""
    text = page.read_text()
    if BEGIN not in text or END not in text:
        raise jobs.Failed(f"{page} has no {BEGIN} ... {END}")
    return text


def update_page(results: dict, lines: list[bars.Verdict], page: pathlib.Path,
                out: pathlib.Path) -> None:
    """Replaces what stands between the markers of `page`."""
    text = require_markers(page)
    prefix = f"{out.name}/"  # the page lies beside the folder
    new = "\n".join([BEGIN, *body(results, lines, prefix), END])
    page.write_text(re.sub(f"{BEGIN}.*?{END}", lambda _: new, text, flags=re.DOTALL))

# SPDX-License-Identifier: BSD-3-Clause
"""Writes docs/results: tables in Markdown and as a page for a browser, plots in SVG, the figures themselves
in JSON."""

import json
import pathlib
import re

import bars
import catalogue
import jobs
import machine
import papers
import plots
import report_page
from makers import maker_of
from papers import number

# The figures of the first lines, and what each is, for readers who know none of the others.
SUMMARY = {
    "memory_240_both_Nagaya": "memory and page tables of an MPI job of 240 ranks",
    "memory_240_page_tables_Nagaya": "its page tables alone",
    "mpi_pingpong_8B": "MPI message of 8 bytes, within a node",
    "mpi_pingpong_1048576B": "MPI message of 1 MiB, within a node",
    "coll_allreduce_1MiB": "MPI_Allreduce of 1 MiB, 2 ranks on 2 processors",
    "coll_crowded_allreduce_1MiB": "MPI_Allreduce of 1 MiB, 16 ranks on 2 processors",
    "coll_crowded_alltoall_1MiB": "MPI_Alltoall of 1 MiB, 16 ranks on 2 processors",
    "blacs_pdgesv_64": "ScaLAPACK's pdgesv, N = 2000, 4 ranks on 2 processors",
    "xmp_2_laplace_XMP": "a step of a Laplace solver in XcalableMP, 2 tasks",
    "mpi_hosts_pingpong_8B": "MPI message of 8 bytes between two hosts",
    "mpi_hosts_pingpong_4194304B": "MPI message of 4 MiB between two hosts",
}

BEGIN, END = "<!-- measured -->", "<!-- /measured -->"
LICENSE = "<!-- SPDX-License-Identifier: BSD-3-Clause -->"
COMPARISONS = "Comparisons"


def spread_cell(spread: dict | None) -> str:
    return bars.spread_text(spread) if spread else ""


def side_cell(side: dict | None) -> str:
    return f"{number(side['p50'])} ({side['name']})" if side else ""


def peers_cell(figure: dict) -> str:
    """Returns the values of all jobs of which the incumbent is the cheapest."""
    peers = figure.get("peers", {})
    return ", ".join(f"{name} {number(spread['p50'])}" for name, spread in peers.items()) if len(peers) > 1 else ""


def comparison_table(figures: dict) -> list[str]:
    lines = [
        "| figure | unit | Nagaya | incumbent | floor | / incumbent [p10..p90] | / floor | every peer |",
        "|---|---|---:|---:|---:|---|---|---|",
    ]
    for figure in figures.values():
        if "incumbent" not in figure and "floor" not in figure:
            continue
        lines.append(
            f"| {figure['title']} | {figure['unit']} | {number(figure['subject']['p50'])} "
            f"| {side_cell(figure.get('incumbent'))} | {side_cell(figure.get('floor'))} "
            f"| {spread_cell(figure.get('ratio'))} | {spread_cell(figure.get('floor_ratio'))} "
            f"| {peers_cell(figure)} |")
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


def published() -> list[papers.Paper]:
    return papers.load(catalogue.FOLDER / "papers.json")


def plot_lines(files: list[str], figures: dict, prefix: str) -> list[str]:
    return [f"![{plots.FILES[file]}]({prefix}{file})" for file in files if plots.has_data(file, figures)]


def paper_tables(figures: dict, prefix: str) -> list[str]:
    """Returns a row for every published figure, beside ours, and our plots."""
    text = ["A row holds if all our figures for it are within the bound that the published one sets."]
    for paper in published():
        text += ["", f"### {paper.name}", "", f"Published on: {paper.machine}.", "",
                 "| published | there | here | | by `nagaya bench` |", "|---|---|---|---|---|"]
        for row in paper.rows:
            judged = papers.judged(row, figures)
            text.append(f"| {row.figure} | {row.published} | {judged.ours} | {judged.verdict} "
                        f"| {' '.join(row.benchmarks())} |")
        text += ["", *plot_lines([plot.file for plot in paper.plots], figures, prefix)]
    return text


def other_plots() -> list[str]:
    of_papers = {plot.file for paper in published() for plot in paper.plots}
    return [file for file in plots.FILES if file not in of_papers]


def absent_table(results: dict) -> list[str]:
    """Returns a row for every benchmark of which these results have no figure."""
    made = {maker_of(name) for name in results["figures"]}
    about = {**dict.fromkeys(results.get("skipped", []), ", skipped"), **dict.fromkeys(results["failed"], ", failed")}
    rows = [f"| `nagaya bench {name}` | {benchmark.what}{about.get(name, '')} |"
            for name, benchmark in catalogue.BENCHMARKS.items() if name not in made]
    return ["| made by | figures |", "|---|---|", *rows] if rows else ["Every benchmark has its figures here."]


def machine_text(results: dict) -> str:
    about = results["machine"]
    quick = " Made with --quick: these are NO measurements." if results["quick"] else ""
    dirty = (" Commits marked -dirty had uncommitted changes."
             if machine.DIRTY in about.get("commit", "") else "")
    return (f"{about.get('cpu')}, {about.get('cores')} cores, Linux {about.get('kernel')}, "
            f"{about.get('libc')}; commit {about.get('commit')}; {about.get('date')}; load average "
            f"before {about.get('load_before')}.{dirty}{quick}")


def summary(figures: dict, lines: list[bars.Verdict]) -> list[str]:
    """Returns the main figures in plain words, and the number of targets that are met."""
    table = ["| | unit | Nagaya | compared with | ratio |", "|---|---|---:|---:|---:|"]
    for name, words in SUMMARY.items():
        if figure := figures.get(name):
            table.append(f"| {words} | {figure['unit']} | {number(figure['subject']['p50'])} "
                         f"| {side_cell(figure['incumbent'])} | {figure['ratio']['p50']:.2f} |")
    verdicts = [line.verdict for line in lines if line.bar]
    of_papers = [papers.judged(row, figures).verdict for paper in published() for row in paper.rows]
    return [*(table if len(table) > 2 else []), "",
            f"Each target (a bound that was set before the measurement) has a line below: {counted(verdicts)}. "
            f"So has each published figure of the papers that Nagaya continues: {counted(of_papers)}. "
            "A line without a figure names the command that makes it."]


def counted(verdicts: list[str]) -> str:
    return ", ".join(f"{verdicts.count(verdict)} {verdict}" for verdict in dict.fromkeys(verdicts))


def sections(results: dict, lines: list[bars.Verdict], prefix: str) -> dict[str, list[str]]:
    """Returns all tables and plots by their headings; `prefix` leads from the page to the folder of
    the plots."""
    figures = results["figures"]
    return {
        "How it was measured": [
            machine_text(results), "",
            "Every comparison was made in interleaved rounds: Nagaya, incumbent (what it would replace), "
            "floor (what the hardware allows), and again. "
            "Ratios are formed within a round; given are their median and, in brackets, their 10th and "
            "90th percentile. They are ratios of cost: below 1, what the line names first is cheaper. Two ranks run "
            "at once, one per core, unless the line says otherwise."],
        "Published figures": paper_tables(figures, prefix),
        "More plots": plot_lines(other_plots(), figures, prefix),
        "Targets": bar_table(lines),
        COMPARISONS: comparison_table(figures),
        "Derived figures": derived_table(figures),
        "Measured alone": single_table(figures),
        "Not in these results": absent_table(results),
    }


def body(results: dict, lines: list[bars.Verdict], prefix: str) -> list[str]:
    return [line for part in sections(results, lines, prefix).values() for line in [*part, ""]]


def text_of(parts: dict[str, list[str]]) -> list[str]:
    return [line for heading, part in parts.items() for line in [f"## {heading}", "", *part, ""]]


def write(results: dict, lines: list[bars.Verdict], out: pathlib.Path) -> None:
    out.mkdir(parents=True, exist_ok=True)
    (out / "results.json").write_text(json.dumps(results, indent=1) + "\n")
    plots.draw_all(results["figures"], out, {plot.file: plot for paper in published() for plot in paper.plots})
    all_sections = sections(results, lines, "")
    begin = ["# Measured", "", "Written by `nagaya bench report`; not to be edited.", "",
             *summary(results["figures"], lines), ""]
    (out / "index.html").write_text(report_page.page("\n".join([*begin, *text_of(all_sections)]), out))
    # Most comparisons have no target. With them README.md would be too large for viewers of Markdown.
    comparisons = {COMPARISONS: all_sections[COMPARISONS]}
    all_sections[COMPARISONS] = ["[All comparisons](comparisons.md), also those without a target."]
    (out / "README.md").write_text("\n".join([LICENSE, *begin, *text_of(all_sections)]))
    (out / "comparisons.md").write_text("\n".join([LICENSE, "[Measured](README.md)", "", *text_of(comparisons)]))


def require_markers(page: pathlib.Path) -> str:
    """Returns the page's text; raises Failed if it lacks the markers."""
    text = page.read_text()
    if BEGIN not in text or END not in text:
        raise jobs.Failed(f"{page} has no {BEGIN} ... {END}")
    return text


def update_page(results: dict, lines: list[bars.Verdict], page: pathlib.Path,
                out: pathlib.Path) -> None:
    """Replaces the text between the markers of `page`."""
    text = require_markers(page)
    prefix = f"{out.name}/"  # the page lies beside the folder
    new = "\n".join([BEGIN, *body(results, lines, prefix), END])
    page.write_text(re.sub(f"{BEGIN}.*?{END}", lambda _: new, text, flags=re.DOTALL))

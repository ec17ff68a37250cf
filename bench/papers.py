# SPDX-License-Identifier: BSD-3-Clause
"""The published figures of papers.json, held against ours."""

import dataclasses
import json
import pathlib
import re

import bars
from makers import maker_of

HOLDS, DOES_NOT, NO_FIGURE, NOT_HERE = "holds", "does not hold", "no figure yet", "cannot be shown here"
HERE = re.compile(f"{NOT_HERE}: (.*)")


@dataclasses.dataclass(frozen=True)
class Row:
    figure: str
    published: str
    figures: str = ""  # a pattern of our figures' names
    part: str = ""
    comparison: str = ""
    value: float = 0
    unit: str = ""
    instead: str = ""  # why no benchmark makes it; or why it cannot be shown here
    # How ours differs from the paper's.
    other: str = ""

    def benchmarks(self) -> list[str]:
        """Returns the benchmarks that make our figures: the pattern begins with what names them."""
        return [maker_of(beginning_of(self.figures))] if self.figures else []


@dataclasses.dataclass(frozen=True)
class Plot:
    """A plot of our figures, and what was published, as lines: [[x, y], ...] by their name."""

    file: str
    values: dict = dataclasses.field(default_factory=dict)  # in the units of the plot
    ratios: dict = dataclasses.field(default_factory=dict)  # in a sheet of its own
    ratio: str = ""  # of which times these are


@dataclasses.dataclass(frozen=True)
class Paper:
    name: str
    machine: str
    plots: list[Plot]
    rows: list[Row]


@dataclasses.dataclass(frozen=True)
class Verdict:
    row: Row
    ours: str
    verdict: str


def beginning_of(pattern: str) -> str:
    """Returns an example of the names that a pattern of papers.json matches."""
    example = pattern.replace(r"\d+", "1").replace(".*", "x").replace("[a-z]+", "x").replace("[A-Z]", "X")
    return re.sub(r"\(([^|)]*)[^)]*\)\??", r"\1", example)


def load(path: pathlib.Path) -> list[Paper]:
    return [Paper(paper["paper"], paper["machine"], [Plot(**plot) for plot in paper["plots"]],
                  [Row(**row) for row in paper["rows"]])
            for paper in json.loads(path.read_text())["papers"]]


def judged(row: Row, figures: dict) -> Verdict:
    if not row.figures:
        here = HERE.match(row.instead)
        return Verdict(row, here[1], NOT_HERE) if here else Verdict(row, row.instead, NO_FIGURE)
    values = {name: value for name in figures if re.fullmatch(row.figures, name)
              if (value := bars.value_at(figures[name], row.part)) is not None}
    if not values:
        return Verdict(row, f"made by `nagaya bench {' '.join(row.benchmarks())}`", NO_FIGURE)
    holds = bars.COMPARISONS[row.comparison]
    wrong = [name for name, value in values.items() if not holds(value, row.value)]
    return Verdict(row, text_of(row, values, wrong), DOES_NOT if wrong else HOLDS)


def number(value: float) -> str:
    return f"{value:.3g}" if abs(value) < 1000 else f"{value:,.0f}"


def text_of(row: Row, values: dict, wrong: list[str]) -> str:
    """Returns our values in few words: their range, and how many of them are beyond the bound."""
    low, high = min(values.values()), max(values.values())
    text = number(low) if low == high else f"{number(low)} to {number(high)}"
    text += f" {row.unit} (bound {row.comparison} {row.value:g}"
    if len(values) > 1:
        text += f"; {len(values) - len(wrong)} of {len(values)} figures within it"
    return text + ")" + f"; {row.other}" * bool(row.other)

# SPDX-License-Identifier: BSD-3-Clause
"""The bars of bars.json, and figures held against them."""

import dataclasses
import json
import operator
import pathlib

from makers import maker_of

COMPARISONS = {"<=": operator.le, ">=": operator.ge}
MET, MISSED, REPORTED, NOT_MEASURED = "met", "missed", "reported", "not measured"


@dataclasses.dataclass(frozen=True)
class Bar:
    name: str
    figure: str  # path in the figures: "task_start_time.ratio.p50"
    comparison: str
    value: float
    source: str  # the sentence that demands it

    def holds_for(self, value: float) -> bool:
        return COMPARISONS[self.comparison](value, self.value)


@dataclasses.dataclass(frozen=True)
class Verdict:
    """One line of the result: a figure, beside its bar if it has one; or a bar without a figure."""

    figure: str
    title: str
    text: str  # the value with its spread
    verdict: str
    bar: Bar | None


def load(path: pathlib.Path) -> list[Bar]:
    bars = [Bar(**bar) for bar in json.loads(path.read_text())["bars"]]
    for bar in bars:
        if bar.comparison not in COMPARISONS:
            raise ValueError(f"{path}: {bar.name}: comparison {bar.comparison!r}")
    return bars


def value_at(figures: dict, path: str) -> float | None:
    """Returns the number at a dotted path; None when that figure was not measured."""
    here = figures
    for key in path.split("."):
        if key not in here:
            return None
        here = here[key]
    return float(here)


def spread_text(spread: dict) -> str:
    return f"{spread['p50']:.3f} [{spread['p10']:.3f}..{spread['p90']:.3f}]"


def text_of(figure: dict, part: str | None = None) -> str:
    """Returns a part of the figure in few words. `part` None: its ratio to the incumbent, or else to
    the floor, or else its subject."""
    if "value" in figure:
        return f"{figure['value']:.3f} {figure['note']}"
    part = part or next(key for key in ("ratio", "floor_ratio", "subject") if key in figure)
    unit = "times" if part.endswith("ratio") else figure["unit"]
    other = {"ratio": "incumbent", "above": "incumbent", "floor_ratio": "floor",
             "above_floor": "floor"}.get(part)
    beside = f"{' above' * part.startswith('above')} {figure[other]['name']}" if other else ""
    return f"{spread_text(figure[part])} {unit}{beside}"


def verdicts(figures: dict, bars: list[Bar]) -> list[Verdict]:
    """Returns a line for every figure, in the order measured."""
    result = []
    for name, figure in figures.items():
        own = [bar for bar in bars if bar.figure.split(".")[0] == name]
        for bar in own or [None]:
            verdict, part = REPORTED, None
            if bar is not None:
                part = bar.figure.split(".")[1]
                value = value_at(figures, bar.figure)
                if value is None:
                    raise ValueError(f"bar {bar.name!r}: no figure {bar.figure}")
                verdict = MET if bar.holds_for(value) else MISSED
            result.append(Verdict(name, figure["title"], text_of(figure, part), verdict, bar))
    return result


def not_measured(figures: dict, bars: list[Bar]) -> list[Verdict]:
    """Returns a line for every bar whose figure is missing."""
    missing = [bar for bar in bars if bar.figure.split(".")[0] not in figures]
    return [Verdict(name := bar.figure.split(".")[0], bar.name, f"made by `nagaya bench {maker_of(name)}`",
                    NOT_MEASURED, bar) for bar in missing]


def print_verdicts(lines: list[Verdict]) -> None:
    width = max((len(line.figure) for line in lines), default=0)
    for line in lines:
        bar = f"   bar {line.bar.comparison} {line.bar.value:g}" if line.bar else ""
        print(f"{line.verdict:<12}  {line.figure:<{width}}  {line.text}{bar}")

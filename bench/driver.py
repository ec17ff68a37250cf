#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""`nagaya bench`: runs benchmarks, holds their figures against the bars of bars.json, and writes
the report of docs/results. Exit code 1 when a bar is missed, 2 when something could not be
measured, read or written, or its data check failed."""

import argparse
import os
import pathlib
import signal
import sys
import traceback

import bars
import catalogue
import jobs
import machine
import tune
from runs import HOURS, measure, read_run


def held_against_bars(results: dict, is_whole: bool) -> list[bars.Verdict]:
    """Returns a line for each figure; if the run was to measure all, also one for each bar without a
    figure."""
    all_bars = bars.load(catalogue.FOLDER / "bars.json")
    lines = bars.verdicts(results["figures"], all_bars)
    return lines + bars.not_measured(results["figures"], all_bars) * is_whole


def exit_code(results: dict, lines: list[bars.Verdict]) -> int:
    if results["failed"]:
        print("FAILED: " + ", ".join(results["failed"]))
        return 2
    missed = sum(line.verdict == bars.MISSED for line in lines)
    met = sum(line.verdict == bars.MET for line in lines)
    absent = sum(line.verdict == bars.NOT_MEASURED for line in lines)
    print(f"{met} bars met, {missed} missed" + f", {absent} not measured" * bool(absent))
    if results["quick"]:
        print("--quick: the programs work; this is no measurement, and no bar counts")
        return 0
    return 1 if missed else 0


def require_writable(path: pathlib.Path) -> None:
    """Raises OSError if `path` cannot be written: now, not after hours of measuring. Leaves no new
    file."""
    was_there = path.exists()
    path.open("a").close()
    if not was_there:
        path.unlink()


def bench(names: list[str], options: argparse.Namespace) -> int:
    if file := options.resume or options.json:
        require_writable(file)
    results = measure(names, options)
    about = results["machine"]
    print(", ".join(f"{key} {value}" for key, value in about.items()))
    lines = held_against_bars(results, is_whole=names == list(catalogue.BENCHMARKS))
    bars.print_verdicts(lines)
    return exit_code(results, lines)


def merged(files: list[pathlib.Path]) -> dict:
    """Merges the figures in files of --json, or of earlier reports, of several runs on one machine.
    Returns them as one run. If several files have a figure, the last one's is used."""
    runs = [read_run(file) for file in files]
    abouts = [run["machine"] for run in runs if run["figures"]]
    machines, commits, dates = (list(dict.fromkeys(about[key] for about in abouts))
                                for key in ("cpu", "commit", "date"))
    if len(machines) > 1:
        raise jobs.Failed(f"report --from: measured on {' and on '.join(machines)}: "
                          "a report is of one machine")
    about = {**(abouts or [{}])[0], "commit": ", ".join(commits), "date": ", ".join(dates)}
    last = {name: number for number, run in enumerate(runs) for name in run.get("measured", [])}

    def unless_measured_later(key: str) -> list[str]:
        return list(dict.fromkeys(name for number, run in enumerate(runs) for name in run.get(key, [])
                                  if number > last.get(name, -1)))
    return {"machine": about, "quick": any(run["quick"] for run in runs),
            "measured": list(last),
            "failed": unless_measured_later("failed"), "skipped": unless_measured_later("skipped"),
            "figures": {name: one for run in runs for name, one in run["figures"].items()}}


def require_clean_commit() -> None:
    """Raises Failed if the programs were built from uncommitted changes: a report names the commit
    that it measured, so that others can measure it again."""
    commit = machine.of_own_program()["commit"]
    if commit.endswith(machine.DIRTY):
        raise jobs.Failed(f"report: built from uncommitted changes ({commit}): commit them, build, and "
                          "measure again (nagaya bench all --json FILE measures any build)")


def write_report(options: argparse.Namespace) -> int:
    import report  # here, because it needs matplotlib, which measuring does not

    out = options.out or pathlib.Path("docs/results")
    if options.sources:
        results = merged(options.sources)
    else:
        out.mkdir(parents=True, exist_ok=True)
        require_writable(out / "results.json")
        if options.page:
            report.require_markers(options.page)
        require_clean_commit()
        if options.resume:
            require_writable(options.resume)
        results = measure(list(catalogue.BENCHMARKS), options)
    lines = held_against_bars(results, is_whole=True)
    report.write(results, lines, out)
    if options.page:
        report.update_page(results, lines, options.page, out)
    print(f"written to {out}", file=sys.stderr)
    return exit_code(results, lines)


def write_table(options: argparse.Namespace) -> int:
    path = options.out or pathlib.Path("nagaya.tuning")
    require_writable(path)
    path.write_text(tune.table(options.quick, options.rounds))
    print(f"written to {path}: NAGAYA_TUNING={path.resolve()} makes jobs use it", file=sys.stderr)
    return 0


def list_benchmarks() -> int:
    for name, benchmark in catalogue.BENCHMARKS.items():
        print(f"{name:<25} {benchmark.what}")
    return 0


def positive(word: str) -> int:
    if (number := int(word)) < 1:
        raise ValueError
    return number


def positive_hours(word: str) -> float:
    if not 0 < (number := float(word)) < 1e6:
        raise ValueError
    return number


def parse(words: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="nagaya bench", description=__doc__)
    commands = ["all", "list", "report", "tune"]
    parser.add_argument("names", metavar=" | ".join([*commands, "NAME"]), nargs="+",
                        choices=[*commands, *catalogue.BENCHMARKS])
    parser.add_argument("--quick", action="store_true",
                        help="few, short rounds: proves that the programs work")
    parser.add_argument("--rounds", type=positive, help="interleaved rounds of each benchmark")
    parser.add_argument("--json", type=pathlib.Path,
                        help="also write the figures to this file, after each benchmark")
    parser.add_argument("--resume", type=pathlib.Path, metavar="FILE",
                        help="as --json, and skip what the file has already of this commit")
    parser.add_argument("--hours", type=positive_hours,
                        help=f"do fewer rounds, so that all take no longer (all, report: {HOURS:g})")
    parser.add_argument("--from", dest="sources", type=pathlib.Path, metavar="FILE", nargs="+",
                        help="report: instead of measuring use what --json, or an earlier report as "
                             "its results.json, has written; later figures replace earlier ones")
    parser.add_argument("--out", type=pathlib.Path,
                        help="report: the folder to write (default: docs/results); "
                             "tune: the table (default: nagaya.tuning)")
    parser.add_argument("--page", type=pathlib.Path,
                        help="report: also replace the measured part of this Markdown page")
    options = parser.parse_args(words)
    if options.json and options.resume:
        parser.error("--resume FILE writes the figures to FILE: leave --json out")
    if options.hours is None and options.names in (["all"], ["report"]):
        options.hours = HOURS
    for name in options.names:
        if name in commands and len(options.names) > 1:
            parser.error(f"{name} stands alone; benchmarks may be several: nagaya bench NAME NAME")
    return options


def carry_out(options: argparse.Namespace) -> int:
    match options.names:
        case ["list"]:
            return list_benchmarks()
        case ["report"]:
            return write_report(options)
        case ["tune"]:
            return write_table(options)
        case ["all"]:
            return bench(list(catalogue.BENCHMARKS), options)
        case names:
            return bench(names, options)


def flush_output() -> None:
    """Flushes the output while errors can still be reported: a full disk, a reader that has ended."""
    if sys.stdout is None:  # descriptor 1 is closed
        return
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # Python would try again at its end
        raise


def end_by_signal(number: int, _frame: object) -> None:
    """Ends the benchmark under way as an error would: its jobs, hosts and folders go. Finished benchmarks are
    in the file of --json or --resume."""
    raise SystemExit(128 + number)


def main() -> int:
    for number in (signal.SIGINT, signal.SIGTERM):
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, end_by_signal)
    try:
        try:
            return carry_out(parse(sys.argv[1:]))
        finally:
            flush_output()
    except (jobs.Failed, jobs.Skipped, OSError) as error:
        print(f"nagaya bench: {error}", file=sys.stderr)
    except Exception:  # Python's own exit code is that of a missed bar
        traceback.print_exc()
    return 2


if __name__ == "__main__":
    sys.exit(main())

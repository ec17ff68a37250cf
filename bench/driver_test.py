#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tests of the driver on invented figures: nothing is measured."""

import contextlib
import io
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import time
import unittest
from unittest import mock

import applications
import bars
import budget
import catalogue
import driver
import faces
import fmpl
import jobs
import memory
import mpis
import npb
import python_ways
import runs
import xmp
import xmp_primitives
from jobs import Comparison, Job, Jobs

FOLDER = pathlib.Path(__file__).resolve().parent


def spread(middle: float) -> dict:
    return {"name": "x", "p50": middle, "p10": middle * 0.9, "p90": middle * 1.1,
            "p99": middle * 1.2, "min": middle, "max": middle, "count": 3, "rounds": [middle] * 3}


def figure(ratio: float) -> dict:
    return {"title": "Invented", "unit": "ns", "subject": spread(ratio * 10),
            "incumbent": spread(10), "floor": spread(5), "ratio": spread(ratio),
            "floor_ratio": spread(ratio * 2)}


def figures(start_ratio: float) -> dict:
    return {
        "task_start_time": figure(start_ratio),
        "task_start_page_tables": figure(0.2),
        "malloc_1MiB": figure(1.0),
        "malloc_64B": figure(1.0),
        "malloc_reused_worst": {"title": "Worst", "note": "at 64B", "value": 1.0},
        "page_fault": figure(1.08),
        "protect": {**figure(1), "incumbent": {**spread(10), "name": "separate processes"}},
        "memory_60_pss_Nagaya": figure(0.7),
        "memory_120_pss_Nagaya": figure(0.8),
        "memory_120_waiters_Nagaya": {"title": "Waiters", "unit": "MiB", "subject": spread(3),
                                      "incumbent": spread(0)},
        "coll_crowded_bcast_8B": figure(0.5),
        "fmpl_8B": {"title": "8 bytes", "unit": "us", "subject": spread(2), "floor": spread(1),
                    "floor_ratio": spread(2)},
    }


class Words(unittest.TestCase):
    def test_several_benchmarks_may_be_named_but_a_command_stands_alone(self):
        self.assertEqual(driver.parse(["blacs", "fmpl", "--quick"]).names, ["blacs", "fmpl"])
        with contextlib.redirect_stderr(io.StringIO()) as said, self.assertRaises(SystemExit):
            driver.parse(["blacs", "report"])
        self.assertIn("report stands alone", said.getvalue())

    def test_rounds_are_one_or_more(self):
        self.assertEqual(driver.parse(["fmpl", "--rounds", "1"]).rounds, 1)
        for word in ("0", "-1", "few"):
            with contextlib.redirect_stderr(io.StringIO()) as said, self.assertRaises(SystemExit):
                driver.parse(["fmpl", "--rounds", word])
            self.assertIn(f"invalid positive value: '{word}'", said.getvalue())


class Mistakes(unittest.TestCase):
    """Exit code 1 is a missed bar's alone."""

    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.measure = self.enterContext(mock.patch("driver.measure"))
        self.table = self.enterContext(mock.patch("tune.table", return_value="measured\n"))

    def said_by(self, *words: object) -> str:
        with mock.patch("sys.argv", ["driver.py", *map(str, words)]), \
                contextlib.redirect_stderr(io.StringIO()) as said:
            self.assertEqual(driver.main(), 2)
        return said.getvalue()

    def test_what_cannot_be_written_is_said_before_anything_is_measured(self):
        nowhere = self.folder / "none/file"
        for words in (["fmpl", "--json", nowhere], ["tune", "--out", nowhere],
                      ["report", "--out", "/proc/none"], ["report", "--out", self.folder / "out",
                                                          "--page", nowhere]):
            self.assertRegex(self.said_by(*words), "nagaya bench: .*: '/.*none")
        self.measure.assert_not_called()
        self.table.assert_not_called()

    def test_what_fails_leaves_no_file(self):
        self.measure.side_effect = self.table.side_effect = jobs.Failed("no memory")
        for words in (["fmpl", "--json"], ["tune", "--out"]):
            self.assertEqual(self.said_by(*words, self.folder / "file"), "nagaya bench: no memory\n")
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_a_source_that_is_none_is_named(self):
        file = self.folder / "source"
        self.assertRegex(self.said_by("report", "--from", file), f"No such file.*{file}")
        for text, why in (("{", "Expecting"), ("{}", "no output of --json"),
                          ("[]", "no output of --json")):
            file.write_text(text)
            self.assertRegex(self.said_by("report", "--from", file), f"nagaya bench: {file}.*{why}")

    def test_an_error_of_the_driver_is_no_missed_bar(self):
        self.measure.side_effect = KeyError("figure")
        self.assertIn("Traceback", self.said_by("fmpl"))


class WholeRuns(unittest.TestCase):
    """Runs of three invented benchmarks."""

    NAMES = ["page_fault", "thread", "protect"]

    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.file = self.folder / "run.json"
        self.began, self.broken, self.commit = [], {}, "abc"
        self.enterContext(mock.patch("catalogue.run", self.benchmark))
        self.enterContext(mock.patch("machine.of_own_program", self.about))
        self.said = self.enterContext(contextlib.redirect_stderr(io.StringIO()))

    def about(self) -> dict:
        return {"machine": {"cpu": "Invented CPU"}, "commit": self.commit}

    def benchmark(self, name: str, _quick: bool, _rounds: int | None) -> dict:
        self.began.append(name)
        if name in self.broken:
            self.broken[name]()
        return {**self.about(), "figures": {name: figure(len(self.began))}}

    def run_of(self, *words: str, hours: float | None = None) -> dict:
        options = driver.parse([*self.NAMES, *words])
        options.hours = hours
        self.began = []
        return runs.measure(self.NAMES, options)

    def stored(self) -> dict:
        return json.loads(self.file.read_text())

    def test_the_file_has_the_figures_of_each_benchmark_as_soon_as_it_has_ended(self):
        self.broken["protect"] = lambda: self.assertEqual(list(self.stored()["figures"]), ["page_fault", "thread"])
        self.assertEqual(self.run_of("--json", str(self.file)), self.stored())
        self.assertEqual((self.stored()["failed"], self.stored()["measured"]), ([], self.NAMES))

    def test_a_run_that_was_ended_goes_on_where_it_was(self):
        def end():
            raise KeyboardInterrupt
        self.broken["thread"] = end
        with self.assertRaises(KeyboardInterrupt):
            self.run_of("--resume", str(self.file))
        self.broken.clear()
        self.assertEqual(list(self.run_of("--resume", str(self.file))["figures"]), self.NAMES)
        self.assertEqual(self.began, ["thread", "protect"])
        self.assertIn("[2/3] thread\n", self.said.getvalue())
        self.assertIn("[3/3] protect, about 0 s left\n", self.said.getvalue())

    def test_a_benchmark_that_fails_loses_no_other_and_is_tried_again(self):
        def fail():
            raise ZeroDivisionError
        self.broken["thread"] = fail
        self.assertEqual(self.run_of("--resume", str(self.file))["failed"], ["thread"])
        self.assertEqual(list(self.stored()["figures"]), ["page_fault", "protect"])
        self.broken.clear()
        self.assertEqual(self.run_of("--resume", str(self.file))["failed"], [])
        self.assertEqual(self.began, ["thread"])

    def test_a_benchmark_that_takes_too_long_is_stopped(self):
        ended = []

        def wait():
            try:
                with contextlib.suppress(Exception):  # no error of a job
                    time.sleep(600)
            finally:
                ended.append("thread")
        self.broken["thread"] = wait
        with mock.patch("runs.LEAST_LIMIT_S", 0.01), mock.patch("runs.STOPPED_AFTER", 1e-5):
            self.assertEqual(self.run_of("--json", str(self.file), hours=1)["failed"], ["thread"])
        self.assertEqual((ended, self.began), (["thread"], self.NAMES))

    def test_what_the_time_has_no_room_for_is_said_and_can_be_resumed(self):
        self.assertEqual(self.run_of("--resume", str(self.file), hours=1e-12)["failed"], self.NAMES)
        self.assertIn("not measured: page_fault thread protect; the same command", self.said.getvalue())
        self.assertEqual(self.run_of("--resume", str(self.file))["measured"], self.NAMES)

    def test_figures_of_another_commit_are_kept_and_not_mixed(self):
        self.run_of("--resume", str(self.file))
        before = self.stored()
        self.commit = "def"
        with self.assertRaisesRegex(jobs.Failed, "its commit is abc, here it is def"):
            self.run_of("--resume", str(self.file))
        self.assertEqual(before, self.stored())

    def test_rounds_are_fewer_where_the_time_is_short(self):
        with mock.patch("runs.catalogue.run", lambda *_: {**self.about(), "figures": {}, "room": budget.has(3600)}):
            for hours, room in ((None, True), (1, False)):
                shares = []
                with mock.patch.object(runs.Run, "add", lambda _self, _name, run, _s: shares.append(run["room"])):
                    self.run_of(hours=hours)
                self.assertEqual(shares, [room] * 3)

    def test_each_benchmark_has_its_seconds_and_all_fit_into_the_time(self):
        usual = runs.usual_seconds()
        self.assertEqual(list(usual), list(catalogue.BENCHMARKS))
        whole = driver.parse(["all"])
        clock = runs.Clock(list(usual), whole.hours, usual)
        self.assertAlmostEqual(sum(map(clock.share_s, usual)), whole.hours * 3600, delta=5)


class Judgement(unittest.TestCase):
    def verdicts(self, start_ratio: float) -> dict:
        lines = bars.verdicts(figures(start_ratio), bars.load(FOLDER / "bars.json"))
        return {line.figure: line.verdict for line in lines}

    def test_a_figure_within_its_bar_is_met(self):
        self.assertEqual(self.verdicts(0.99)["task_start_time"], bars.MET)

    def test_a_figure_beyond_its_bar_is_missed(self):
        self.assertEqual(self.verdicts(1.01)["task_start_time"], bars.MISSED)

    def test_a_figure_without_a_bar_is_reported(self):
        self.assertEqual(self.verdicts(1)["page_fault"], bars.REPORTED)

    def test_a_line_shows_what_its_bar_is_about(self):
        def text(part):
            bar = bars.Bar("b", f"page_fault.{part}.p50", "<=", 1, "s")
            return bars.verdicts({"page_fault": figure(1.08)}, [bar])[0].text
        self.assertEqual(text("ratio"), "1.080 [0.972..1.188] times x")
        self.assertEqual(text("floor_ratio"), "2.160 [1.944..2.376] times x")
        self.assertEqual(text("subject"), "10.800 [9.720..11.880] ns")

    def test_a_line_without_a_bar_shows_a_ratio(self):
        lines = bars.verdicts(figures(1), [])
        texts = {line.figure: line.text for line in lines}
        self.assertEqual(texts["page_fault"], "1.080 [0.972..1.188] times x")
        self.assertEqual(texts["fmpl_8B"], "2.000 [1.800..2.200] times x")
        self.assertEqual(texts["memory_120_waiters_Nagaya"], "3.000 [2.700..3.300] MiB")

    def test_a_bar_without_a_figure_is_not_measured(self):
        absent = bars.Bar("speed of light", "light.ratio.p50", "<=", 1, "s")
        present = bars.Bar("b", "page_fault.ratio.p50", "<=", 1, "s")
        lines = bars.not_measured(figures(1), [present, absent])
        self.assertEqual([(line.title, line.verdict, line.bar) for line in lines],
                         [("speed of light", bars.NOT_MEASURED, absent)])

    def test_a_bar_on_a_path_that_a_figure_lacks_is_an_error(self):
        wrong = bars.Bar("b", "page_fault.ratio.p49", "<=", 1, "s")
        with self.assertRaises(ValueError):
            bars.verdicts(figures(1), [wrong])


class Listing(unittest.TestCase):
    def test_the_first_word_of_each_line_is_a_name(self):
        with contextlib.redirect_stdout(io.StringIO()) as text:
            driver.list_benchmarks()
        self.assertEqual([line.split()[0] for line in text.getvalue().splitlines()],
                         list(catalogue.BENCHMARKS))


class Report(unittest.TestCase):
    def report(self, folder: pathlib.Path, start_ratio: float,
               other_cpu: str = "Invented CPU") -> int:
        """Of two runs: task starts by one, the rest by another."""
        all_figures, page = figures(start_ratio), folder / "page.md"
        starts = {name: all_figures.pop(name) for name in list(all_figures) if "start" in name}
        sources = [self.run_of(folder, "abc", starts),
                   self.run_of(folder, "def", all_figures, cpu=other_cpu)]
        page.write_text("before\n<!-- measured -->old<!-- /measured -->\nafter\n")
        command = [sys.executable, str(FOLDER / "driver.py"), "report", "--from", *map(str, sources),
                   "--out", str(folder / "results"), "--page", str(page)]
        return subprocess.run(command, check=False, capture_output=True).returncode

    def run_of(self, folder: pathlib.Path, commit: str, some: dict, cpu="Invented CPU",
               **names) -> pathlib.Path:
        path = folder / f"{commit}.json"
        path.write_text(json.dumps({
            "machine": {"cpu": cpu, "cores": 2, "kernel": "6", "libc": "glibc",
                        "commit": commit, "date": "2001-01-01", "load_before": "0"},
            "quick": False, "failed": [], "figures": some, **names}))
        return path

    def test_it_writes_a_row_for_each_bar_plots_and_the_page(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            self.assertEqual(self.report(folder, 0.9), 0)
            text = (folder / "results/README.md").read_text()
            self.assertIn("Invented CPU", text)
            self.assertIn("commit abc, def", text)
            for bar in bars.load(FOLDER / "bars.json"):
                self.assertIn(f"| {bar.name} | {bar.source} |", text)
            self.assertRegex(text, r"\| sleeping in a barrier \|.*\| not measured \|")
            compared = (folder / "results/comparisons.md").read_text()
            self.assertIn("| Invented |", compared)
            self.assertIn("| Waiters | MiB | 3 | 0 (x) |  |  |  |", compared)
            self.assertIn("| Worst | 1 | at 64B |", text)
            self.assertIn("| 8 bytes | us | 2 |  | 1 (x) |  | 2.000 [1.800..2.200] |", compared)
            for plot in ("ratios.svg", "malloc.svg", "memory.svg", "coll_crowded.svg"):
                self.assertIn("<svg", (folder / "results" / plot).read_text())
            headings = ["# Measured", "## How it was measured", "## Published figures", "## More plots",
                        "## Targets", "## Comparisons", "## Derived figures", "## Measured alone", "## Not in these results"]
            self.assertEqual([line for line in text.splitlines() if re.match("##? ", line)], headings)
            for_browsers = (folder / "results/index.html").read_text()
            for heading in headings[1:]:
                self.assertRegex(for_browsers, f"<h2 [^>]*>{heading[3:]}</h2>")
            self.assertRegex(for_browsers, '<td class="(met|missed)">')
            self.assertEqual(for_browsers.count("<img "), text.count("!["))
            page = (folder / "page.md").read_text()
            self.assertTrue(page.startswith("before\n<!-- measured -->\n"))
            self.assertTrue(page.endswith("<!-- /measured -->\nafter\n"))
            self.assertNotIn("-->old<!--", page)

    def test_uncommitted_changes_are_said_and_not_measured_for_a_report(self):
        import report
        about = {"commit": "abc-dirty"}
        self.assertIn("uncommitted changes", report.machine_text({"machine": about, "quick": False}))
        self.assertNotIn("uncommitted", report.machine_text({"machine": {"commit": "abc"}, "quick": False}))
        with mock.patch("machine.of_own_program", return_value=about), \
                self.assertRaisesRegex(jobs.Failed, "uncommitted changes .abc-dirty.: commit them"):
            driver.require_clean_commit()

    def test_curves_are_of_jobs_or_of_what_their_figures_name(self):
        try:
            import plots
        except ModuleNotFoundError as missing:  # measuring does not need it
            self.skipTest(str(missing))
        shown = {name: figure(0.5) for name in (
            "coll_bcast_64KiB", "coll_crowded_bcast_8B", "coll_long_bcast_1MiB", "fmpl_2_sum_FMPL",
            "fmpl_16_sum_FMPL", "fmpl_2_pingpong_8B_FMPL", "blacs_sum_all_1MiB", "blacs_pdgesv_16")}
        shown["fmpl_16_sum_FMPL"]["incumbent"] = {**spread(3), "name": "Open MPI"}

        def points_of(file):
            return {curve: [(x, one["p50"]) for x, one in points]
                    for curve, points in plots.curves_of(file, shown).items()}
        self.assertEqual(points_of("fmpl_sum.svg"), {"x": [(2, 10), (16, 5)], "Open MPI": [(16, 3)]})
        self.assertEqual(list(points_of("fmpl_messages.svg")), ["x"])
        self.assertEqual(points_of("coll.svg"), {"bcast": [(64 << 10, 0.5)]})
        self.assertEqual(points_of("coll_crowded.svg"), {"bcast": [(8, 0.5)]})
        self.assertEqual(points_of("blacs.svg"), {"sum all": [(1 << 20, 0.5)]})

    def test_a_report_begins_with_main_figures_in_plain_words_and_the_count_of_targets(self):
        import report
        shown = {"mpi_pingpong_8B": {**figure(0.7), "unit": "us"}, "other": figure(1)}
        text = "\n".join(report.summary(shown, bars.verdicts(figures(1.5), bars.load(FOLDER / "bars.json"))))
        self.assertIn("| MPI message of 8 bytes, within a node | us | 7 | 10 (x) | 0.70 |", text)
        self.assertNotIn("Invented", text)
        self.assertRegex(text, r"below: \d+ missed, \d+ met")

    def test_memory_comes_first_and_each_plot_has_a_title_and_plain_axes(self):
        import plots
        self.assertEqual(next(iter(plots.FILES)), "memory.svg")
        with tempfile.TemporaryDirectory() as name:
            plots.matplotlib.rcParams["svg.fonttype"] = "none"  # text as text
            plots.draw_all(figures(0.9), pathlib.Path(name))
            for file in pathlib.Path(name).iterdir():
                text = file.read_text()
                self.assertEqual(text.count(plots.FILES[file.name]), 1, file.name)
                self.assertEqual(re.findall("Pss|incumbent|cost|mathdefault", text), [], file.name)

    def test_sizes_and_numbers_are_as_people_write_them(self):
        import plots
        self.assertEqual([plots.plain_size(size) for size in (0, 8, 1024, 96 << 10, 1 << 20)],
                         ["0 B", "8 B", "1 KiB", "96 KiB", "1 MiB"])
        self.assertEqual([plots.plain_number(number) for number in (0.5, 1, 20000, 1e7)],
                         ["0.5", "1", "20,000", "10,000,000"])

    def test_a_missed_bar_is_its_exit_code(self):
        with tempfile.TemporaryDirectory() as name:
            self.assertEqual(self.report(pathlib.Path(name), 1.5), 1)

    def test_a_later_run_replaces_what_stands_in_a_report(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            first = {"page_fault": figure(1.08), "malloc_1MiB": figure(1.0)}
            old = self.run_of(folder, "abc", first, measured=["malloc"], failed=["page", "npb"])
            new = self.run_of(folder, "def", {"page_fault": figure(0.5)}, measured=["page"])
            both = driver.merged([old, new])
            self.assertEqual(both["figures"]["page_fault"]["ratio"]["p50"], 0.5)
            self.assertEqual(both["figures"]["malloc_1MiB"]["ratio"]["p50"], 1)
            self.assertEqual(both["failed"], ["npb"])
            self.assertEqual(driver.merged([new, old])["failed"], ["page", "npb"])

    def test_a_run_that_has_measured_nothing_changes_no_figure(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            nothing = folder / "nothing.json"
            nothing.write_text(json.dumps({"machine": {"load_before": "0"}, "quick": False,
                                           "failed": [], "skipped": ["npb"], "figures": {}}))
            both = driver.merged([nothing, self.run_of(folder, "abc", {"thread": figure(1)})])
            self.assertEqual((both["machine"]["commit"], list(both["figures"]), both["skipped"]),
                             ("abc", ["thread"], ["npb"]))

    def test_runs_on_two_machines_make_no_report(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            self.assertNotEqual(self.report(folder, 0.9, "Other CPU"), 0)
            self.assertFalse((folder / "results").exists())


def printed(**values: float) -> dict:
    """The output of a program whose figures have these values."""
    return {"figures": {name: {"title": name.upper(), "unit": "us", "subject": spread(value)}
                        for name, value in values.items()}}


class SeveralJobs(unittest.TestCase):
    PLAN = Jobs(hosts=2, setting="crowded", jobs=[Job("own"), Job("fast"), Job("slow start")],
                comparisons=[Comparison("own", ["slow start"], ["fast", "slow start"]),
                             Comparison("fast")])
    ROUNDS = [[printed(a=6), printed(a=2), printed(a=3)],
              [printed(a=6), printed(a=6), printed(a=3)]]

    def test_every_comparison_makes_a_figure_of_the_rounds_of_its_jobs(self):
        figures = jobs.compared(self.PLAN, self.ROUNDS)
        self.assertEqual(list(figures), ["crowded_a_own", "crowded_a_fast"])
        own, fast = figures.values()
        self.assertEqual((own["title"], own["unit"]), ("A, crowded, own", "us"))
        self.assertEqual(own["ratio"]["p50"], 2)
        self.assertEqual(own["incumbent"]["name"], "slow start")
        self.assertEqual(fast["subject"]["rounds"], [2, 6])
        self.assertNotIn("ratio", fast)

    def test_of_several_jobs_the_one_counts_that_is_cheapest_over_all_rounds(self):
        own = jobs.compared(self.PLAN, self.ROUNDS)["crowded_a_own"]
        self.assertEqual(own["floor"]["name"], "slow start")  # 3, 3; the other one 2, 6
        self.assertEqual(own["floor"]["rounds"], [3, 3])
        self.assertEqual(own["floor_ratio"]["p50"], 2)

    def test_every_round_begins_with_another_job(self):
        names = [[job.name for job in jobs.rotated(self.PLAN.jobs, number)] for number in range(4)]
        self.assertEqual([order[0] for order in names], ["own", "fast", "slow start", "own"])
        self.assertEqual([sorted(order) for order in names], [sorted(names[0])] * 4)

    def test_rounds_are_as_many_as_the_time_has_room_for_and_one_at_least(self):
        @contextlib.contextmanager
        def hosts(_plan):
            yield lambda *_: printed(a=1)
        with mock.patch("jobs.started_hosts", hosts), mock.patch("os.geteuid", return_value=0), \
                mock.patch("jobs.missing_programs", return_value=[]), contextlib.redirect_stderr(io.StringIO()) as said:
            for seconds, rounds, count in ((None, None, 5), (0, None, 1), (0, 3, 3)):
                with budget.of(seconds):
                    figures = jobs.run(self.PLAN, "none", [], False, rounds)["figures"]
                self.assertEqual(figures["crowded_a_own"]["subject"]["count"], count)
        self.assertEqual(said.getvalue(), "nagaya bench: crowded: no time for more rounds than 1\n")

    def test_a_figure_that_one_of_the_jobs_lacks_is_not_compared(self):
        rounds = [[printed(a=6, b=1), printed(a=2, b=1), printed(a=3)]]
        self.assertIn("crowded_b_fast", jobs.compared(self.PLAN, rounds))
        self.assertNotIn("crowded_b_own", jobs.compared(self.PLAN, rounds))

    def test_a_single_comparison_has_the_plain_name(self):
        plan = Jobs(hosts=2, jobs=[Job("a"), Job("b")], comparisons=[Comparison("a", ["b"])])
        self.assertEqual(list(jobs.compared(plan, [[printed(x=1), printed(x=2)]])), ["x"])

    def test_comparisons_of_one_subject_have_figures_of_their_own(self):
        plan = Jobs(hosts=1, jobs=[Job("a"), Job("b"), Job("c")],
                    comparisons=[Comparison("a", ["b"]), Comparison("a", ["c"], name="a beside c")])
        figures = jobs.compared(plan, [[printed(x=2), printed(x=1), printed(x=4)]])
        self.assertEqual({key: figure["ratio"]["p50"] for key, figure in figures.items()},
                         {"x_a": 2, "x_a_beside_c": 0.5})

    def test_a_job_that_takes_nothing_has_no_ratio_but_a_difference(self):
        plan = Jobs(hosts=1, jobs=[Job("a"), Job("b")], comparisons=[Comparison("a", ["b"])])
        figure = jobs.compared(plan, [[printed(x=3), printed(x=0)]])["x"]
        self.assertNotIn("ratio", figure)
        self.assertEqual(figure["above"]["p50"], 3)

    def test_without_root_several_hosts_are_skipped(self):
        with mock.patch("os.geteuid", return_value=1000), self.assertRaises(jobs.Skipped) as why:
            jobs.run(self.PLAN, "none", [], quick=True, rounds=None)
        self.assertIn("needs root", str(why.exception))


class FurtherMpis(unittest.TestCase):
    def setUp(self):
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.enterContext(mock.patch("mpis.FILE", folder / "mpis.json"))
        named = {name: str(folder / name) for name in ("new", "old", "other", "gone")}
        mpis.FILE.write_text(json.dumps(named))
        for name, components in {"new": "coll: xhc (v6)", "old": "coll: tuned", "other": ""}.items():
            (folder / name / "bin").mkdir(parents=True)
            (folder / name / "bin/mpiexec").touch()
            if components:
                info = folder / name / "bin/ompi_info"
                info.write_text(f"#!/bin/sh\necho '{components}'\n")
                info.chmod(0o755)

    def test_those_that_are_there_are_incumbents(self):
        self.assertEqual([job.name for job in mpis.jobs_of("collectives")], ["new", "old", "other"])

    def test_those_with_xhc_are_told_to_use_it(self):
        with mock.patch("jobs.run", side_effect=lambda plan, *_: plan):
            plan = catalogue.run_xhc("collectives", [], True, None)
        self.assertEqual([job.name for job in plan.jobs], ["new xhc", "Nagaya"])
        self.assertEqual(plan.jobs[0].program, "collectives-new")
        self.assertEqual(plan.jobs[0].environment["OMPI_MCA_coll_xhc_priority"], "100")

    def test_without_xhc_it_is_skipped(self):
        mpis.FILE.write_text("{}")
        with self.assertRaises(jobs.Skipped):
            catalogue.run_xhc("collectives", [], True, None)


class Faces(unittest.TestCase):
    def test_mean_and_worst_are_of_cells_beside_the_best_mpi(self):
        over = Jobs(hosts=1, setting="crowded", jobs=[Job("A"), Job("B"), Job("A with Nagaya")], comparisons=[
            Comparison("A with Nagaya", ["A"]),
            Comparison("A with Nagaya", ["A", "B"], name="A with Nagaya beside all")])
        own = {"pingpong_8B": 1, "stream_8B": 4, "word": 9, "above_word_8B": 9, "bcast_short": 9}
        alone = dict.fromkeys(own, 2)
        found = faces.together(over, jobs.compared(over, [[printed(**alone), printed(**alone), printed(**own)]]))
        self.assertEqual(list(found), ["crowded_mean_A_with_Nagaya", "crowded_worst_A_with_Nagaya"])
        mean, worst = found.values()
        self.assertAlmostEqual(mean["value"], 1)
        self.assertEqual((worst["value"], worst["note"]), (2, "times the best MPI alone, STREAM_8B"))


class Memory(unittest.TestCase):
    def test_an_address_space_counts_once(self):
        spaces = {1: "a", 2: "b", 3: "a", 4: "c", 5: "b"}
        with mock.patch("memory.shares_memory", lambda one, other: spaces[one] == spaces[other]):
            self.assertEqual(memory.by_space(list(spaces)), [[1, 3], [2, 5], [4]])

    def test_this_process_shares_its_memory_with_itself_only(self):
        with subprocess.Popen(["sleep", "60"]) as other:
            self.assertTrue(memory.shares_memory(other.pid, other.pid))
            self.assertFalse(memory.shares_memory(other.pid, memory.os.getpid()))
            other.kill()

    def test_private_memory_is_told_apart_by_mapping_and_partition(self):
        smaps = ["1000-2000 rw-p 0 00:00 0", "Anonymous: 4 kB",
                 "5000-6000 rw-p 0 fe:01 7 /lib/l.so", "Anonymous: 8 kB", "Pss: 100 kB",
                 "6000-7000 rw-p 0 00:00 0 [heap]", "Anonymous: 16 kB"]
        self.assertEqual(memory.anonymous_kib(smaps, [range(0x5000, 0x8000)]),
                         {"host": 4, "written": 8, "private": 16})
        self.assertEqual(memory.anonymous_kib(smaps, []), {"host": 0, "written": 8, "private": 20})

    def test_page_tables_grow_with_a_power_of_the_ranks(self):
        figures = {f"memory_{count}_page_tables_Nagaya": {
            "subject": spread(count), "incumbent": spread(count ** 2), "floor": spread(1)}
            for count in (10, 20)}
        grown = {name: figure["value"] for name, figure in memory.growth(figures, [10, 20], "memory").items()}
        self.assertAlmostEqual(grown["memory_page_tables_power_Nagaya"], 1)
        self.assertAlmostEqual(grown["memory_page_tables_power_Open_MPI"], 2)


class Npb(unittest.TestCase):
    OUTPUT = (" Time in seconds =                     1.25\n"
              " Mop/s total     =                   432.60\n Verification    =               SUCCESSFUL\n")

    def test_time_and_speed_are_read(self):
        self.assertEqual(npb.times_of(self.OUTPUT), {"time": 1.25, "speed": 432.6})

    def test_a_result_that_is_not_verified_is_a_failure(self):
        with self.assertRaises(jobs.Failed):
            npb.times_of(self.OUTPUT.replace("SUCCESSFUL", "UNSUCCESSFUL"))

    def test_programs_have_either_name(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            (folder / "sp.B.16").touch()
            with mock.patch.dict("os.environ", NAGAYA_NPB=name):
                self.assertEqual(npb.binary("sp", "B").name, "sp.B.16")
                (folder / "sp.B.x").touch()
                self.assertEqual(npb.binary("sp", "B").name, "sp.B.x")
                self.assertIsNone(npb.binary("is", "B"))


class PythonWays(unittest.TestCase):
    def test_figures_are_read_beside_the_lines_of_libraries(self):
        with contextlib.redirect_stderr(io.StringIO()) as said:
            output = "WARNING: /dev/shm is small\nmeasured sum 1.5e-05\nmeasured all\nbye\n"
            self.assertEqual(python_ways.values_of("ray", output), {"sum": 1.5e-05})
        self.assertIn("ray says: WARNING: /dev/shm is small\n", said.getvalue())
        self.assertIn("ray says: bye\n", said.getvalue())

    def test_a_figure_that_cannot_be_read_or_no_end_is_a_failure(self):
        for output, why in (("WARNINGmeasured sum 1\nmeasured all\n", "WARNINGmeasured sum 1"),
                            ("measured sum soon\nmeasured all\n", "measured sum soon"),
                            ("measured sum 1\n", "ray has not measured all: measured sum 1"), ("", "not measured all")):
            with self.assertRaisesRegex(jobs.Failed, why):
                python_ways.values_of("ray", output)


class Applications(unittest.TestCase):
    def test_results_are_what_a_program_says_of_them(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            self.assertEqual(applications.thermo_table("x\nStep Temp\n 0 3\nLoop time of 1\n", folder),
                             "Step Temp\n 0 3\n")
            self.assertEqual(applications.counts_of_tester(" 9 tests passed.\n 1 tests failed.\n", folder),
                             "9 tests passed. 1 tests failed.")
            (folder / "hpccoutf.txt").write_text("Begin\nSuccess=1\n")
            self.assertEqual(applications.success_of_hpcc("", folder), "Success=1")

    def test_a_program_without_a_result_has_failed(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            (folder / "hpccoutf.txt").write_text("Success=0\n")
            for result_of in (applications.thermo_table, applications.counts_of_tester,
                              applications.success_of_hpcc):
                with self.assertRaises(jobs.Failed):
                    result_of("Step\n", folder)


class Fmpl(unittest.TestCase):
    def test_median_and_worst_are_of_many_processes_and_of_special_support(self):
        ratios = {"fmpl_4_sum_FMPL": 9, "fmpl_8_barrier_FMPL": 0.1, "fmpl_8_sum_FMPL": 0.3,
                  "fmpl_64_bcast_FMPL": 0.7, "fmpl_64_bcast_FMPL_by_messages": 9}
        together = fmpl.together({name: figure(ratio) for name, ratio in ratios.items()})
        self.assertEqual(together["fmpl_collectives_median"]["value"], 0.3)
        self.assertEqual(together["fmpl_collectives_worst"]["value"], 0.7)
        self.assertEqual(together["fmpl_collectives_worst"]["note"], "times Open MPI, bcast of 64")


    def test_special_support_is_held_against_messages_and_prepared_calls_against_plain_ones(self):
        ratios = {"fmpl_4_sum_FMPL_beside_messages": 1.2, "fmpl_8_sum_FMPL_beside_messages": 0.7, "fmpl_16_sum_FMPL": 9}
        worst = fmpl.support_worst({name: figure(ratio) for name, ratio in ratios.items()})["fmpl_support_worst"]
        self.assertEqual((worst["value"], worst["note"]), (1.2, "times those by messages, sum of 4"))
        own = {name: {"subject": {"rounds": rounds}} for name, rounds in (
            ("fmpl_2_prepared_8B_FMPL", [1, 3]), ("fmpl_2_pingpong_8B_FMPL", [2, 2]))}
        self.assertEqual(fmpl.prepared_beside_plain(own)["fmpl_prepared_beside_plain"]["ratio"]["p50"], 1)

    def test_a_job_of_hosts_has_a_process_on_each(self):
        plan = fmpl.plan(1, 2)
        self.assertEqual((plan.hosts, plan.tasks_each, plan.setting), (2, 1, "fmpl hosts 2"))
        self.assertIn("FMPL buffered", [job.name for job in plan.jobs])
        self.assertNotIn("FMPL buffered", [job.name for job in fmpl.plan(1, 3).jobs])


class Published(unittest.TestCase):
    """A plot shows what was published beside ours."""

    def text_of(self, file: str, shown: dict, **published) -> str:
        import papers
        import plots
        with tempfile.TemporaryDirectory() as name, mock.patch.dict("matplotlib.rcParams", {"svg.fonttype": "none"}):
            plots.draw_all(shown, pathlib.Path(name), {file: papers.Plot(file, **published)})
            return (pathlib.Path(name) / file).read_text()

    def test_values_stand_in_the_sheet_and_ratios_in_a_second_one(self):
        shown = {"fmpl_2_pingpong_8B_FMPL": figure(0.5), "fmpl_2_pingpong_64B_FMPL": figure(0.6)}
        text = self.text_of("fmpl_messages.svg", shown, values={"FMPL": [[8, 12.8]]},
                            ratio="time / MPI's", ratios={"less": [[8, 0.64], [64, 0.9]]})
        for words in ("published: FMPL", "published: less", "time / MPI's", "microseconds, one way"):
            self.assertEqual(text.count(words), 1, words)

    def test_bars_have_the_published_ones_beside_them(self):
        shown = {"npb_sp_B_time_S": figure(1.1), "npb_cg_A_time_S": figure(1.0), "npb_sp_B_time_pml": figure(0.9)}
        text = self.text_of("npb.svg", shown, ratios={"gain": [["sp B", 1.11], ["absent X", 2]]})
        self.assertIn("published: gain", text)
        self.assertIn("sp B", text)
        self.assertNotIn("absent", text)

    def test_memory_that_was_saved_is_taken_from_the_incumbent(self):
        shown = {f"memory_rendezvous_{count}_both_Nagaya": {**figure(1), "incumbent": {**spread(9), "name": "Open MPI"}}
                 for count in (60, 240)}
        shown |= {name.replace("both", "pss"): one for name, one in shown.items()}
        self.assertIn("less the 4 MiB", self.text_of("memory_rendezvous.svg", shown, values={"both": [[240, 4]]}))


class Xmp(unittest.TestCase):
    OUTPUT = "laplace: 9 x 9, 5 steps, 2 nodes: 0.010 s, 0.5 Gflop/s, checksum {}, PASS\n"

    def run_of(self, runs: xmp.Runs, name: str, output: str) -> dict:
        job = Job(name, program="/l", arguments=("5",))
        with mock.patch("jobs.output_of", return_value=output) as output_of:
            result = runs(None, job, ["run", pathlib.Path("/l"), "--json", "--rounds", "1", "5"])
        self.assertEqual(output_of.call_args.args[2], ["run", pathlib.Path("/l"), "5"])
        return {key: figure["subject"]["p50"] for key, figure in result["figures"].items()}

    def test_time_and_bandwidth_are_read(self):
        runs = xmp.Runs({"laplace": xmp.step_time(5), "memory": xmp.time_of_a_double(1000)})
        self.assertEqual(self.run_of(runs, xmp.XMP, self.OUTPUT.format("a")),
                         {"laplace": 2.0, "memory": 10000.0})
        self.assertEqual(self.run_of(runs, "OpenMP", self.OUTPUT.format("a")), {"laplace": 2.0})
        triad = "stream: 9 elements, 2 nodes: triad 4.000 GB/s, PASS\n"
        self.assertEqual(self.run_of(runs, xmp.TRIAD, triad), {"memory": 2.0})

    def test_a_reflect_is_held_against_a_step(self):
        runs = xmp.Runs({"shadow": xmp.cost_of_shadow(5)})
        self.assertEqual(self.run_of(runs, xmp.XMP, self.OUTPUT.format("a")), {"shadow": 2.0})
        self.assertEqual(self.run_of(runs, "messages", self.OUTPUT.format("a")), {})
        reflect = "reflect: 9 x 9, 5 times, 2 nodes: 20.000 us, PASS\n"
        self.assertEqual(self.run_of(runs, xmp.REFLECT, reflect), {"shadow": 0.02})

    def test_a_field_that_is_wrong_or_another_one_is_a_failure(self):
        runs = xmp.Runs({"laplace": xmp.step_time(5)})
        self.run_of(runs, xmp.XMP, self.OUTPUT.format("a"))
        for output in (self.OUTPUT.format("b"), self.OUTPUT.format("a").replace("PASS", "FAIL")):
            with self.assertRaises(jobs.Failed):
                self.run_of(runs, "OpenMP", output)

    def test_ways_that_take_turns_are_held_against_each_other(self):
        job = Job("posts", program="/p", arguments=("2",))
        output = "round_trip post 30\nround_trip flag 20\nround_trip flag 10\nround_trip post 20\n{}\n"

        def figures_of(last: str) -> dict:
            words = ["run", pathlib.Path("/p"), "--json", "2"]
            with mock.patch("jobs.output_of", return_value=output.format(last)) as output_of:
                figures = xmp_primitives.by_turns(None, job, words)["figures"]
            self.assertEqual(output_of.call_args.args[2], ["run", pathlib.Path("/p"), "2"])
            return figures
        self.assertEqual(figures_of("PASS")["round_trip"]["floor_ratio"]["p50"], 1.75)
        with self.assertRaises(jobs.Failed):
            figures_of("FAIL")


if __name__ == "__main__":
    unittest.main()

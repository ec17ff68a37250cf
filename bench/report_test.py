#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tests of the report: every bar and every published figure has a line, also without a figure, and a real
browser shows the page."""

import html
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import bars
import catalogue
import papers
from makers import maker_of

FOLDER = pathlib.Path(__file__).resolve().parent
STORED = FOLDER.parent / "docs/results/results.json"
BARS, PAPERS = bars.load(FOLDER / "bars.json"), papers.load(FOLDER / "papers.json")
ROWS = [row for paper in PAPERS for row in paper.rows]
LIMIT_S = 180
BROWSER = shutil.which("chromium")
# Gives the test the sizes that the browser has found: no size is a picture that it cannot show.
PROBE = """<script>onload = () => {
for (const image of document.images) image.dataset.width = image.naturalWidth;
document.body.dataset.height = document.body.scrollHeight }</script>"""


def spread(middle: float) -> dict:
    return dict.fromkeys(("p50", "p10", "p90"), middle)


class Makers(unittest.TestCase):
    def test_each_bar_is_about_a_figure_that_a_benchmark_makes(self):
        for bar in BARS:
            self.assertIn(maker_of(bar.figure.split(".")[0]), catalogue.BENCHMARKS, bar.name)

    def test_the_stored_figures_are_of_the_benchmarks_that_were_run(self):
        stored = json.loads(STORED.read_text())
        self.assertEqual({maker_of(name) for name in stored["figures"]}, set(stored["measured"]))

    def test_a_figure_of_an_earlier_report_may_have_none(self):
        self.assertEqual(maker_of("light_speed"), "")


class Papers(unittest.TestCase):
    ROW = papers.Row("figure 1", "faster", "coll_64_.*", "ratio.p50", "<=", 1.0, "times Open MPI", other="64 ranks")

    def verdict(self, **ratios: float) -> papers.Verdict:
        return papers.judged(self.ROW, {name: {"ratio": spread(value)} for name, value in ratios.items()})

    def test_each_row_has_a_benchmark_or_the_reason_why_not(self):
        for row in ROWS:
            self.assertTrue(bool(row.figures) != bool(row.instead), row)
            for benchmark in row.benchmarks():
                self.assertIn(benchmark, catalogue.BENCHMARKS, row)
            if row.figures:
                self.assertRegex(papers.beginning_of(row.figures), f"^(?:{row.figures})$")

    def test_each_plot_of_a_paper_is_one_of_ours(self):
        import plots
        self.assertLessEqual({plot.file for paper in PAPERS for plot in paper.plots}, set(plots.FILES))

    def test_a_row_holds_if_all_its_figures_do(self):
        self.assertEqual(self.verdict(coll_64_bcast_8B=0.5, coll_64_all=0.9, coll_8B=2).verdict, papers.HOLDS)
        judged = self.verdict(coll_64_bcast_8B=0.5, coll_64_all=1.1)
        self.assertEqual(judged.verdict, papers.DOES_NOT)
        self.assertEqual(judged.ours, "0.5 to 1.1 times Open MPI (bound <= 1; 1 of 2 figures within it); 64 ranks")

    def test_a_row_without_a_figure_names_its_command(self):
        judged = self.verdict(coll_8B=2)
        self.assertEqual((judged.verdict, judged.ours),
                         (papers.NO_FIGURE, "made by `nagaya bench collectives-64`"))

    def test_what_cannot_be_shown_here_says_why(self):
        judged = papers.judged(papers.Row("f", "p", instead="cannot be shown here: no Tofu"), {})
        self.assertEqual((judged.verdict, judged.ours), (papers.NOT_HERE, "no Tofu"))


class Report(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        cls.folder.chmod(0o755)
        subprocess.run([sys.executable, "-B", FOLDER / "driver.py", "report", "--from", STORED, "--out", cls.folder],
                       check=False, capture_output=True, timeout=LIMIT_S)

    def lines(self) -> list[str]:
        return (self.folder / "README.md").read_text().splitlines()

    def test_each_bar_has_a_line_and_one_without_a_figure_its_command(self):
        figures = json.loads(STORED.read_text())["figures"]
        for bar in BARS:
            [line] = [line for line in self.lines() if line.startswith(f"| {bar.name} | {bar.source} |")]
            name = bar.figure.split(".")[0]
            if name not in figures:
                self.assertIn(f"| made by `nagaya bench {maker_of(name)}` | not measured |", line)

    def test_each_published_figure_has_a_line(self):
        for row in ROWS:
            self.assertEqual(len([line for line in self.lines()
                                  if line.startswith(f"| {row.figure} | {row.published} |")]), 1, row)

    def test_each_benchmark_without_a_figure_has_a_line(self):
        made = set(json.loads(STORED.read_text())["measured"])
        for name in set(catalogue.BENCHMARKS) - made:
            self.assertTrue(any(line.startswith(f"| `nagaya bench {name}` |") for line in self.lines()), name)

    @unittest.skipUnless(BROWSER, "chromium is not installed")
    def test_a_browser_shows_the_page_with_its_plots_alone(self):
        """The page is copied away from its folder: it needs no other file."""
        alone = self.folder / "alone"
        alone.mkdir()
        page = (self.folder / "index.html").read_text()
        (alone / "page.html").write_text(page.replace("</body>", f"{PROBE}</body>"))
        shown = subprocess.run(
            [BROWSER, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={self.folder}/profile",
             "--virtual-time-budget=5000", "--dump-dom", f"file://{alone}/page.html"],
            capture_output=True, text=True, check=True, timeout=LIMIT_S).stdout
        widths = [int(width) for width in re.findall(r'data-width="(\d+)"', shown)]
        self.assertEqual(len(widths), len(list(self.folder.glob("*.svg"))))
        self.assertTrue(all(width > 100 for width in widths), widths)
        [height] = map(int, re.findall(r'<body data-height="(\d+)"', shown))
        self.assertGreater(height, 10000)
        cells = [html.unescape(re.sub("<[^>]*>", "", cell)) for cell in re.findall("<td[^>]*>(.*?)</td>", shown)]
        for name in [bar.name for bar in BARS] + [row.figure for row in ROWS]:
            self.assertIn(name, cells)
        self.assertEqual(shown.count('class="not-measured"'), len([cell for cell in cells if cell == "not measured"]))


if __name__ == "__main__":
    unittest.main()

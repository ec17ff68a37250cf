#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Opens a manual in a real browser, from its files: the search finds pages and functions, pictures appear,
and each page of the tutorials is one click from the first one.

    manual_in_browser.py SITE BROWSER
"""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

LIMIT_S = 60
SKIPPED = 77
# The browser tells the sizes that it has found: no size is a picture that it cannot show.
PROBE = "<script>onload = () => { for (const image of document.images) image.dataset.width = image.naturalWidth }</script>"
SEARCHES = {"nagaya_llcl_try": "man/nagaya_llcl.3.html", "matching area": "docs/area.html"}


def shown(browser, profile, address):
    """The page as the browser has it after its scripts have run."""
    return subprocess.run([browser, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={profile}",
                           "--virtual-time-budget=8000", "--dump-dom", address],
                          check=True, capture_output=True, text=True, timeout=LIMIT_S).stdout


def main():
    site, browser = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2]
    if not shutil.which(browser):
        print(f"{browser} is not installed")
        sys.exit(SKIPPED)
    with tempfile.TemporaryDirectory() as profile:
        for words, page in SEARCHES.items():
            found = shown(browser, profile, f"file://{site}/search.html?q={words.replace(' ', '+')}")
            links = re.findall(r'<article><h3><a href="\./([^"#]*)', found)
            assert page in links[:5], (words, links[:5])
        pictures = site / "docs/with_probe.html"  # beside the page: its pictures have relative names
        pictures.write_text((site / "docs/how-it-works.html").read_text().replace("</body>", f"{PROBE}</body>"))
        widths = [int(width) for width in re.findall(r'data-width="(\d+)"', shown(browser, profile, f"file://{pictures}"))]
        pictures.unlink()
        assert len(widths) == 7 and all(widths), widths
    first = (site / "index.html").read_text()
    for tutorial in (site / "docs/tutorial").glob("*.html"):
        assert f'href="docs/tutorial/{tutorial.name}"' in first, tutorial
    print("the manual: a browser finds and shows it")


if __name__ == "__main__":
    main()

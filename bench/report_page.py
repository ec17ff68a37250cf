# SPDX-License-Identifier: BSD-3-Clause
"""The report as a page for a browser: the Markdown of the report, with a list of its parts, and with the
verdicts in colour."""

import base64
import pathlib
import re

import markdown

STYLE = """
body { font: 16px/1.5 sans-serif; margin: 0 auto; max-width: 80em; padding: 0 1em 4em; color: #222 }
nav ul { padding-left: 1.2em; margin: 0 }
table { border-collapse: collapse; margin: 1em 0; font-size: 14px }
th { position: sticky; top: 0; background: #eee; text-align: left }
th, td { padding: .2em .7em; border-bottom: 1px solid #ddd }
td[class] { white-space: nowrap }
tr:hover td { background: #f6f6f6 }
.met, .holds { color: #06682a; font-weight: bold }
.missed, .does-not-hold { color: #b00020; font-weight: bold }
.not-measured, .no-figure-yet, .cannot-be-shown-here { color: #7a5200 }
img { max-width: 100% }
"""


VERDICTS = ("met", "missed", "not measured", "holds", "does not hold", "no figure yet", "cannot be shown here")


def in_colour(cell: re.Match) -> str:
    return f'<td class="{cell[1].replace(" ", "-")}">{cell[1]}</td>'


def in_the_page(image: re.Match, folder: pathlib.Path) -> str:
    return f'src="data:image/svg+xml;base64,{base64.b64encode((folder / image[1]).read_bytes()).decode()}"'


def page(text: str, folder: pathlib.Path) -> str:
    """Returns the HTML of a report: one file, which needs no other. `text`: its Markdown. `folder`: that of
    its plots."""
    converter = markdown.Markdown(extensions=["tables", "toc"])
    content = re.sub(f"<td>({'|'.join(VERDICTS)})</td>", in_colour, converter.convert(text))
    content = re.sub(r'src="([\w.-]+\.svg)"', lambda image: in_the_page(image, folder), content)
    return (f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>Nagaya, measured</title>\n'
            f"<style>{STYLE}</style>\n</head>\n<body>\n<nav>{converter.toc}</nav>\n{content}\n</body>\n</html>\n")

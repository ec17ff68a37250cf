# SPDX-License-Identifier: BSD-3-Clause
"""The report as a page for a browser: the Markdown of the report, with a list of its parts, and with the
verdicts in colour."""

import re

import markdown

STYLE = """
body { font: 16px/1.5 sans-serif; margin: 0 auto; max-width: 80em; padding: 0 1em 4em; color: #222 }
nav ul { columns: 2; padding-left: 1.2em }
table { border-collapse: collapse; margin: 1em 0; font-size: 14px }
th { position: sticky; top: 0; background: #eee; text-align: left }
th, td { padding: .2em .7em; border-bottom: 1px solid #ddd }
tr:hover td { background: #f6f6f6 }
.met { color: #06682a; font-weight: bold } .missed { color: #b00020; font-weight: bold }
img { max-width: 100% }
"""


def page(text: str) -> str:
    """Returns the HTML of a report. `text`: its Markdown."""
    converter = markdown.Markdown(extensions=["tables", "toc"])
    content = re.sub(r"<td>(met|missed)</td>", r'<td class="\1">\1</td>', converter.convert(text))
    return (f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>Nagaya, measured</title>\n'
            f"<style>{STYLE}</style>\n</head>\n<body>\n<nav>{converter.toc}</nav>\n{content}\n</body>\n</html>\n")

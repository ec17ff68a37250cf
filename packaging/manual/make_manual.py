# SPDX-License-Identifier: BSD-3-Clause
"""Makes the manual, a site with search, of the pages in docs/, the manual pages, README and
ARCHITECTURE. Links to sources, which are not in it, become plain names.

    make_manual.py TREE FOLDER      FOLDER/site/index.html is the result
"""
import json
import pathlib
import re
import shutil
import subprocess
import sys

LINK = re.compile(r"\[([^\]]*)\]\(([^)#\s]+)(#[^)\s]*)?\)")
# By their places in the tree; where they are in the manual.
MOVED = {"README.md": "index.md", "docs/man": "man/index.md"}


def pages_of(tree):
    yield from (tree / name for name in ("README.md", "ARCHITECTURE.md", "packaging/README.md"))
    yield from sorted((tree / "docs").rglob("*.md"))


def place_of(name):
    """Where a file of the tree is in the manual."""
    if name.startswith("docs/man/"):
        return f"man/{pathlib.PurePath(name).name}.md"
    return MOVED.get(name.rstrip("/"), name)


def with_links_of_manual(text, page, places):
    """`page`: its place in the tree."""
    def link(match):
        words, target, part = match.groups()
        if "://" in target:
            return match.group()
        name = (page.parent / target).resolve().relative_to(places.tree).as_posix()
        if place_of(name) not in places.all:
            return words
        back = "../" * place_of(page.relative_to(places.tree).as_posix()).count("/")
        return f"[{words}]({back}{place_of(name)}{part or ''})"
    return LINK.sub(link, text)


class Places:
    def __init__(self, tree):
        self.tree = tree
        files = [*pages_of(tree), *(tree / "docs").rglob("*.svg"), *(tree / "docs/man").iterdir()]
        self.all = {place_of(file.relative_to(tree).as_posix()) for file in files} | set(MOVED.values())


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def make_manual_pages(tree, pages):
    lines = ["# Manual pages\n\n| page | |\n|---|---|\n"]
    for file in sorted((tree / "docs/man").iterdir(), key=lambda file: (file.suffix, file.name)):
        text = subprocess.run(["mandoc", "-T", "markdown", file], check=True, capture_output=True, text=True).stdout
        sections = re.sub(r"^# ", "## ", text, flags=re.MULTILINE)
        write(pages / "man" / f"{file.name}.md", f"# {file.stem}({file.suffix[1:]})\n\n{sections}")
        about = re.search(r"^\.Nd (.*)", file.read_text(), re.MULTILINE).group(1)
        lines.append(f"| [{file.stem}({file.suffix[1:]})]({file.name}.md) | {about} |\n")
    write(pages / "man/index.md", "".join(lines))


def make_list_of_decisions(tree, pages):
    titles = [(file.name, file.read_text().split("# ", 1)[1].split("\n", 1)[0])
              for file in sorted((tree / "docs/decisions").glob("*.md"))]
    write(pages / "docs/decisions/index.md",
          "# Decisions\n\n" + "".join(f"- [{title}]({name})\n" for name, title in titles))


def replace_search(tree, folder):
    """So that a manual which is opened from a file can be searched, too."""
    pages = json.loads((folder / "search_index.json").read_text())["docs"]
    write(folder / "index.js", f"const searched_pages = {json.dumps(pages)};\n")
    shutil.copy(tree / "packaging/manual/search.js", folder / "main.js")


def check_chapters(tree):
    chapters = (tree / "packaging/manual/mkdocs.yml").read_text()
    for page in [*(tree / "docs").glob("*.md"), *(tree / "docs/tutorial").iterdir()]:
        if f": {page.relative_to(tree)}\n" not in chapters:
            sys.exit(f"{page}: in no chapter of packaging/manual/mkdocs.yml")


def main():
    tree, folder = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
    check_chapters(tree)
    pages, places = folder / "pages", Places(tree)
    shutil.rmtree(pages, ignore_errors=True)
    for page in pages_of(tree):
        name = page.relative_to(tree).as_posix()
        write(pages / place_of(name), with_links_of_manual(page.read_text(), page, places))
    for image in (tree / "docs").rglob("*.svg"):
        write(pages / image.relative_to(tree), image.read_text())
    make_manual_pages(tree, pages)
    make_list_of_decisions(tree, pages)
    shutil.copy(tree / "packaging/manual/mkdocs.yml", folder)
    subprocess.run(["mkdocs", "build", "--strict", "--quiet", "--config-file", folder / "mkdocs.yml"], check=True)
    replace_search(tree, folder / "site/search")


if __name__ == "__main__":
    main()

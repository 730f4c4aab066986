#!/usr/bin/env python3
"""Check what pages of the tree point to: files that links name, and commits that walks name.

usage: check_docs.py

Commits (`ae81829` *its subject*, or `git show ae81829`) are looked for where the tree is a
whole clone of its history. Exits with 1 if anything is missing.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from pass_docs import ROOT

LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
COMMIT = re.compile(r"`([0-9a-f]{7,10})`(?:\s+\*(.+?)\*(?=[\s:.;,]))?", re.DOTALL)


def pages() -> list[Path]:
    """All pages of the tree, without those of builds and environments."""
    tops = ["docs", "lib", "runtime", "tools", "python", "test"]
    found = [path for top in tops for path in (ROOT / top).rglob("*.md") if "Inputs" not in path.parts]
    return sorted([*ROOT.glob("*.md"), *found])


def anchors(page: Path) -> set[str]:
    """The names by which headings of a page can be linked to."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower().replace("`", "")).strip().replace(" ", "-") for heading in headings}


def check_links(page: Path) -> list[str]:
    problems = []
    text = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    for link in LINK.findall(text):
        name, _, anchor = link.partition("#")
        if "://" in link or name.startswith("mailto:"):
            continue
        target = (page.parent / name).resolve() if name else page
        if not target.exists():
            problems.append(f"{page.relative_to(ROOT)}: there is no {link}")
        elif anchor and target.suffix == ".md" and anchor not in anchors(target):
            problems.append(f"{page.relative_to(ROOT)}: {name or 'the page'} has no heading #{anchor}")
    return problems


def git(*arguments: str) -> str | None:
    try:
        done = subprocess.run(["git", "-C", str(ROOT), *arguments], capture_output=True, text=True, check=False)
    except OSError:
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def check_commits(page: Path) -> list[str]:
    problems = []
    for commit, subject in COMMIT.findall(page.read_text()):
        found = git("log", "-1", "--format=%s", commit)
        if found is None:
            problems.append(f"{page.relative_to(ROOT)}: there is no commit {commit}")
        elif subject and " ".join(subject.split()) not in found:
            problems.append(f"{page.relative_to(ROOT)}: commit {commit} is '{found}'")
    return problems


def main() -> int:
    problems = [problem for page in pages() for problem in check_links(page)]
    if git("rev-parse", "--is-shallow-repository") == "false":
        problems += [found for page in (ROOT / "docs" / "Developer").glob("*.md") for found in check_commits(page)]
    print("\n".join(problems) or f"{len(pages())} pages")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())

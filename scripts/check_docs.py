#!/usr/bin/env python3
"""Check what pages of the tree point to, and their words.

usage: check_docs.py

- Files and headings that links name are there.
- Commits that walks name (`ae81829` *its subject*) are there, and have that subject; where the tree is a whole clone.
- Each concept page has a picture.
- Code that a page quotes (```` ```cpp from=FILE ````, a path from the root) stands so in that file.
- Each page of docs/Results names the commands that made it, which are in the tree, and its README has each page.
- Dates are in docs/Results and in CHANGELOG.md alone: what was measured on one day is not what a page promises.
- No sentence has more than 40 words, in pages that are read: docs/Results and generated pages are looked up.
- Words that docs/Terms.md says do not come back are not in pages, nor in comments of C++, nor in .td files; each row of
  its table names what to say instead.

Exits with 1 if anything is wrong.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from pass_docs import ROOT

LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
MONTHS = "January|February|March|April|May|June|July|August|September|October|November|December"
DATE = re.compile(rf"\b\d{{1,2}} (?:{MONTHS}) 20\d\d\b|\b20\d\d-[01]\d-[0-3]\d\b")
LONGEST_SENTENCE = 40
WORD = re.compile(r"[A-Za-z0-9]+(?:['-][A-Za-z0-9]+)*")
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


def unwanted_words() -> tuple[re.Pattern[str], dict[str, str]]:
    """What finds the words that docs/Terms.md does not want, and what to say for each."""
    table = (ROOT / "docs" / "Terms.md").read_text().partition("## Words that do not come back")[2]
    instead: dict[str, str] = {}
    for row in re.findall(r"^\| `.*$", table, re.MULTILINE):
        match = re.fullmatch(r"\| (`.*?) \| (.*?) \|", row)
        if not match:
            raise SystemExit(f"docs/Terms.md: a row that is none, and would look for nothing: {row}")
        instead |= dict.fromkeys(re.findall(r"`([^`]+)`", match[1]), match[2])
    alternatives = "|".join(r"\s+".join(map(re.escape, word.split())) for word in instead)
    return re.compile(rf"\b({alternatives})\b", re.IGNORECASE), instead


def check_words() -> list[str]:
    pattern, instead = unwanted_words()
    problems = []

    def look(path: Path, number: int, text: str) -> None:
        for found in pattern.findall(text):
            name = f"{path.relative_to(ROOT)}:{number}"
            problems.append(f"{name}: '{found}': {instead[' '.join(found.lower().split())]} (docs/Terms.md)")

    for page in pages():
        # Pages of dialects follow .td files, and change with them.
        if page.name == "Terms.md" or page.name.startswith("dialect-"):
            continue
        text = re.sub(r"`[^`]*`(\s+\*[^*]+\*)?", lambda code: "\n" * code[0].count("\n"), page.read_text())
        for number, line in enumerate(text.splitlines(), start=1):
            look(page, number, line)
    for folder in ("include", "lib", "runtime", "tools"):
        for path in sorted((ROOT / folder).rglob("*.*")):
            if path.suffix in {".cpp", ".h"}:
                for number, line in enumerate(path.read_text().splitlines(), start=1):
                    look(path, number, line.partition("//")[2])
            elif path.suffix == ".td":
                for number, line in enumerate(path.read_text().splitlines(), start=1):
                    look(path, number, line)
    return problems


def check_sentences(page: Path) -> list[str]:
    """Sentences that are too long to be read once.

    A piece of code is a word, and an item of a list or a cell of a table a text by itself.
    """
    name = str(page.relative_to(ROOT))
    generated = ("dialect-", "passes.md", "diagnostics.md", "options.md")
    if name.startswith(("docs/Results/", "CHANGELOG.md", *(f"docs/Reference/{page}" for page in generated))):
        return []
    text = re.sub(r"^ *```.*?^ *```", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    text = re.sub(r"`[^`]*`", "code", text)
    text = re.sub(r"\]\([^)]*\)", "]", text)
    problems = []
    for block in re.split(r"\n\s*\n|\n(?=\s*[-*] |\s*\d+\. |#|\|)", text):
        if block.startswith("#"):
            continue
        for part in block.split("|") if block.startswith("|") else [block]:
            for sentence in re.split(r"(?<=[.!?:])\s+|;\s", " ".join(part.split())):
                if (words := len(WORD.findall(sentence))) > LONGEST_SENTENCE:
                    problems.append(f"{name}: a sentence of {words} words: {' '.join(sentence.split()[:8])} ...")
    return problems


def check_pictures() -> list[str]:
    concepts = sorted((ROOT / "docs" / "Concepts").glob("*.md"))
    return [f"{page.relative_to(ROOT)}: no picture" for page in concepts if "](../Pictures/" not in page.read_text()]


def check_quotes(page: Path) -> list[str]:
    problems = []
    for file, quoted in re.findall(r"^```\w+ from=(\S+)\n(.*?)^```", page.read_text(), re.MULTILINE | re.DOTALL):
        source = (ROOT / file).read_text() if (ROOT / file).exists() else ""
        if quoted not in source:
            first = quoted.partition("\n")[0]
            problems.append(f"{page.relative_to(ROOT)}: what follows '{first}' does not stand so in {file}")
    return problems


def check_results() -> list[str]:
    folder = ROOT / "docs" / "Results"
    index = (folder / "README.md").read_text()
    problems = []
    for page in sorted(folder.glob("*.md")):
        if page.name == "README.md":
            continue
        if f"({page.name})" not in index:
            problems.append(f"docs/Results/README.md: no row for {page.name}")
        made = re.search(r"^Made by: (.*)$", page.read_text(), re.MULTILINE)
        commands = re.findall(r"`([^`]+)`", made[1]) if made else []
        if not commands:
            problems.append(f"{page.relative_to(ROOT)}: no line 'Made by: `COMMAND`'")
        for command in commands:
            for file in re.findall(r"(?:test|scripts)/\S+\.py|\./run(?= )", command):
                if not (ROOT / file).exists():
                    problems.append(f"{page.relative_to(ROOT)}: there is no {file}")
    return problems


def check_dates(page: Path) -> list[str]:
    """Dates in a page that is no page of results."""
    if page.parent == ROOT / "docs" / "Results" or page.name == "CHANGELOG.md":
        return []
    return [
        f"{page.relative_to(ROOT)}: the date {date}: figures of one day belong to docs/Results"
        for date in DATE.findall(page.read_text())
    ]


def main() -> int:
    problems = [problem for page in pages() for problem in check_links(page)]
    problems += [problem for page in pages() for problem in check_quotes(page)]
    problems += [problem for page in pages() for problem in check_dates(page)]
    problems += [problem for page in pages() for problem in check_sentences(page)]
    problems += check_words() + check_pictures() + check_results()
    if git("rev-parse", "--is-shallow-repository") == "false":
        problems += [found for page in (ROOT / "docs" / "Developer").glob("*.md") for found in check_commits(page)]
    print("\n".join(problems) or f"{len(pages())} pages")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())

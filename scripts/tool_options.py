"""The options of the tools and of shard-opt's pipelines, as their ``--help`` prints what the sources declare."""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
REFERENCE = ROOT / "docs" / "Reference"
WRITTEN = "<!-- Written by scripts/generate_reference.py: change the sources, build, then run it. -->"
LINE = re.compile(r"^(?P<indent> +)(?P<name>--?[\w-]+|=[\w-]+)(?P<value>\[?=<.*?>\]?| <.*?>)? +- +(?P<text>.*)$")


@dataclass
class Option:
    """An option: with its dashes and value, ``--ranks=N``; what it does; the values that it may have, if listed."""

    form: str
    text: str
    values: list[str] = field(default_factory=list)

    @property
    def name(self) -> str:
        return re.sub(r"[=\[ ].*", "", self.form)


@dataclass
class Pipeline:
    """A pipeline of shard-opt: its flag, what it does, and its options."""

    name: str
    text: str
    options: list[Option] = field(default_factory=list)


def find_tool(tool: str) -> str:
    """The tool on the path, or in build/bin."""
    if found := shutil.which(tool) or shutil.which(tool, path=str(ROOT / "build" / "bin")):
        return found
    raise SystemExit(f"{tool} is neither on PATH nor in build/bin: build it first, its options are printed by itself")


def help_of(tool: str) -> list[str]:
    command = [find_tool(tool), "--help"]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()


def read_line(line: str) -> tuple[int, Option] | None:
    """How far an option's line is indented, and the option."""
    match = LINE.match(line)
    if not match:
        return None
    value = (match["value"] or "").replace("<", "").replace(">", "")
    return len(match["indent"]), Option(match["name"] + value, match["text"].strip())


def read_options(tool: str) -> list[Option]:
    """The options that the tool itself declares: those of its own category."""
    lines = help_of(tool)
    options: list[Option] = []
    for line in lines[lines.index(f"{tool}:") + 1 :]:
        read = read_line(line)
        if read is None and line:
            break
        if read is None:
            continue
        option = read[1]
        if option.form.startswith("="):
            options[-1].values.append(f"`{option.form[1:]}`: {option.text}")
        else:
            options.append(option)
    return options


def read_pipelines() -> list[Pipeline]:
    """The pipelines of shard-opt."""
    lines = help_of("shard-opt")
    pipelines: list[Pipeline] = []
    for line in lines[lines.index("    Pass Pipelines:") + 1 :]:
        if not (read := read_line(line)):
            break
        indent, option = read
        if option.form.startswith("="):
            if pipelines and pipelines[-1].options:
                pipelines[-1].options[-1].values.append(f"`{option.form[1:]}`: {option.text}")
        elif indent == 6:
            pipelines.append(Pipeline(option.form, option.text))
        elif indent > 6:
            pipelines[-1].options.append(option)
        else:
            break
    return [pipeline for pipeline in pipelines if pipeline.name.startswith("--spmd-")]


def code(text: str) -> str:
    """Text as code in a cell of a table."""
    return f"`{text}`".replace("|", "\\|")


def explained(option: Option, pages: list[str]) -> str:
    """A link to the section of the first of `pages` that has a row for the option."""
    for page in pages:
        section = ""
        for line in (REFERENCE / page).read_text().splitlines():
            if line.startswith("## "):
                section = "#" + line[3:].lower().replace(" ", "-")
            if line.startswith("| `") and re.search(rf"`{option.name}(?![\w-])", line.split(" | ")[0]):
                return f"[{page.removesuffix('.md')}]({page}{section})"
    return ""


def describe_options(options: list[Option], pages: list[str]) -> list[str]:
    """A table of options."""
    lines = ["| option | what | more |", "|---|---|---|"] if pages else ["| option | what |", "|---|---|"]
    for option in options:
        text = "; ".join([option.text.replace("|", "\\|").rstrip(".:" if option.values else ""), *option.values])
        lines.append(f"| {code(option.form)} | {text} |" + (f" {explained(option, pages)} |" if pages else ""))
    return [*lines, ""]


def write_options() -> str:
    """docs/Reference/options.md."""
    text = [
        "# Options",
        "",
        WRITTEN,
        "",
        "Every option of the tools, as they are declared. Pages of [shard-run](shard-run.md) and",
        "[shard-translate](shard-translate.md) explain theirs. Options of single passes are among the",
        "[passes](passes.md).",
        "",
    ]
    for tool, pages in {"shard-run": ["shard-run.md"], "shard-translate": ["shard-translate.md", "shard-run.md"],
                        "shard-fuzz": []}.items():
        text += [f"## {tool}", "", *describe_options(read_options(tool), pages)]
    text += ["## Stages of shard-opt", "", "Each is `shard-opt --STAGE='OPTION=VALUE …'`.", ""]
    kinds: dict[str, list[Pipeline]] = {}
    for pipeline in read_pipelines():
        kinds.setdefault(repr(pipeline.options), []).append(pipeline)
    for pipelines in kinds.values():
        text += ["| stage | what it does |", "|---|---|"]
        text += [f"| {code(pipeline.name)} | {pipeline.text} |" for pipeline in pipelines]
        if pipelines[0].options:
            text += ["", "Options:" if len(pipelines) == 1 else "Options of each:", ""]
            for option in pipelines[0].options:
                option.form = option.form.removeprefix("--")
            text += describe_options(pipelines[0].options, [])
        else:
            text.append("")
    return "\n".join(text).rstrip("\n") + "\n"

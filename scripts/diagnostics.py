#!/usr/bin/env python3
"""What the compiler, the tools, the runtime and the Python package say of errors, read from their sources.

A message is what one call of EMITTERS prints: its literals, with `…` where a value stands. Expressions are read as C++
spells them: a + b and out << a << b follow one another, c ? a : b is one of two, Twine(x) and the like are x, all other
calls and names are values.

usage: diagnostics.py FILE...

prints the code and the text of each message of files. scripts/generate_reference.py makes a page of them.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VALUE = "…"
STRING = re.compile(r'"((?:[^"\\]|\\.)*)"')
# Each says an error, and begins or ends its text so; OP is the op it is on. The last are helpers of rooms, of any such
# name, that put a text together.
OP = f"'{VALUE}' op "
EMITTERS = {
    "emitError": "", "emitOptionalError": "", "emitOpError": OP, "emitUnsupported": "unsupported: ",
    "emitOpUnsupported": OP + "unsupported", "unsupported": "unsupported", "createStringError": "", "makeError": "",
    "toolError": "", "usage": "", "refuse": "", "fail": "", "writeError": "", "systemError": "", "failForMemory": "",
    "failOfDevice": "", "say": "", "misfit": "", "error": "", "report": OP, "failure": "",
    "Evaluator::unknown": "unsupported: not known to the interpreter: ",
    "unknown": OP + "is not known to the emulator; expected ",
    "invalid": "", "nullArgument": "", "runtimeError": "", "atByte": "", "noRoom": "", "refuse\\w+": "",
}
EMITS = re.compile(rf"\b({'|'.join(EMITTERS)})\s*\(")
# What prints all its arguments, one after the other, from this one on.
JOINING = {"report": 0, "emitOptionalError": 1}
# What an expression is wrapped in without being changed.
TRANSPARENT = {"Twine", "string", "StringRef", "string_view", "move", "str", "formatv"}
# What marks an error that is emitted in it, or stands as an argument: with which code a tool then ends.
MARKS = {"misuse": "2", "fileTrouble": "7", "noMemory": "9", "emitUnsupported": "77", "emitOpUnsupported": "77",
         "Evaluator::unknown": "77", "unsupported": "77", "noMemoryCode": "9"}
CODE = re.compile(r"\b(?:ExitCode::|SHARDR?[CT]_)(\w+)")
# The rooms that say errors about a program, by the code of one that has no mark: the program is refused.
COMPILER = re.compile(r"lib/(?!CAPI|Crypto|Driver|Engine|Pjrt|Seal|Support)")
WRITTEN = "<!-- Written by scripts/generate_reference.py: change the sources, then run it. -->"
OPENING, CLOSING = "([{", ")]}"
# Where a message may come from, in the order of a run: title, what is being done, folders of sources.
SOURCES = [
    ("Command lines", "Options of the tools, the arrays that they name, and what a tool does itself.",
     ["tools", "lib/Driver"]),
    ("Files and archives", "Reading and writing files, pipes and memory, whoever does it.",
     ["lib/Support", "lib/Seal", "lib/Crypto"]),
    ("Ops, types and attributes", "Reading a program's text, and verifying each op, at any stage.", ["lib/Dialect"]),
    ("Import", "Making one annotated function of what JAX and others write.", ["lib/Import"]),
    ("Shardings", "Raising patterns, propagation, and the rules of ops.",
     ["lib/Raise", "lib/Interfaces", "lib/Rules", "lib/Propagation"]),
    ("Partition and communication", "Global to local view, and what ranks send.",
     ["lib/Layout", "lib/Machine", "lib/Analysis", "lib/Partition", "lib/Communication", "lib/Memory"]),
    ("Kernels and code", "Local view to machine code.",
     ["lib/Linalg", "lib/Buffers", "lib/KernelGen", "lib/Calls", "lib/Pipelines"]),
    ("Artifacts", "Writing, linking and loading compiled programs.", ["lib/Translation"]),
    ("The interpreter", "Running a program's text plainly (`--interpret`, `--check=interpreter`).",
     ["lib/Interpreter"]),
    ("Programs on ranks", "Joining, exchanges, memory and devices while ranks run.",
     ["runtime/lib/Host", "runtime/lib/World", "runtime/lib/Program", "runtime/lib/Comm", "runtime/lib/Collectives"]),
    ("Devices", "Kernels on the host, on GPUs and on emulated GPUs.", ["runtime/lib/Device"]),
    ("Checkpoints", "Saving and restoring what steps carry.", ["runtime/lib/Checkpoint"]),
    ("The C API and JAX", "`libshardc.so` and the plugin.", ["lib/Engine", "lib/CAPI", "lib/Pjrt"]),
    ("Python", "The package `shardc`; the exception stands for the code.", ["python/shardc"]),
]


@dataclass(frozen=True)
class Message:
    """One message: where it is, its text, and the code of the tool that ends by it, if the source says that."""

    file: str
    text: str
    code: str = ""


def without_comments(text: str) -> str:
    """The text, blanks where comments are that have a line to themselves or end one."""
    return re.sub(r'("(?:[^"\\\n]|\\.)*")|//[^\n]*', lambda match: match[1] or " " * len(match[0]), text)


def skip(text: str, position: int) -> int:
    """Behind the string, the character or the bracket that begins at `position`, or the next character."""
    if text[position] == '"' and (match := STRING.match(text, position)):
        return match.end()
    if text[position] == "'" and (match := re.compile(r"'(?:[^'\\]|\\.)'").match(text, position)):
        return match.end()
    if text[position] in OPENING:
        position += 1
        while position < len(text) and text[position] not in CLOSING:
            position = skip(text, position)
        return position + 1
    return position + 1


def split(text: str, separators: tuple[str, ...]) -> list[str]:
    """The parts of `text` between separators that stand outside strings and brackets."""
    parts, begin, position = [], 0, 0
    while position < len(text):
        found = next((mark for mark in separators if text.startswith(mark, position)), None)
        if found and not (found in "?:" and (text[position : position + 2] == "::" or text[position - 1] == ":")):
            parts.append(text[begin:position])
            position += len(found)
            begin = position
        else:
            position = skip(text, position)
    return [*parts, text[begin:]]


def unescape(literal: str) -> str:
    for escape, meaning in {r"\"": '"', r"\n": " ", r"\\": "\\", r"\t": " "}.items():
        literal = literal.replace(escape, meaning)
    return re.sub(r"%[-+ 0#]*\d*(?:\.\d+)?(?:l|ll|z|j|h)*[a-zA-Z]|\{\d\}|%%", VALUE, literal)


def render(expression: str) -> str:
    """What an expression prints; VALUE where that is not known."""
    expression = expression.strip()
    choice = split(expression, ("?",))
    if len(choice) > 1:
        ends = [render(end) for end in split("?".join(choice[1:]), (":",))]
        known = [end for end in ends if end not in ("", VALUE)]
        return VALUE if len(ends) != 2 or len(known) < 2 else "[" + "|".join(ends) + "]"
    terms = split(expression, ("<<", "+"))
    if len(terms) > 1:
        return "".join(render(term) for term in terms)
    if expression.startswith('"'):
        literals = STRING.findall(expression)
        rest = STRING.sub("", expression).strip()
        return "".join(map(unescape, literals)) if not rest else VALUE
    if expression.startswith("(") and skip(expression, 0) == len(expression):
        return render(expression[1:-1])
    call = re.match(r"(?:[\w:]+::)?(\w+)\s*(?=\()", expression)
    if call and call[1] in TRANSPARENT and skip(expression, call.end()) == len(expression):
        return render(split(expression[call.end() + 1 : -1], (",",))[0])
    return VALUE if expression else ""


def words(text: str) -> str:
    """A message's words without its values."""
    return re.sub(r"[^a-zA-Z ]", "", text.replace(VALUE, "")).strip()


def streamed(text: str, position: int) -> Iterator[str]:
    """What is streamed into the call that ends at `position`, and into what that stands in."""
    while found := re.compile(r"[\s)]*<<").match(text, position):
        begin = position = found.end()
        while position < len(text) and text[position] not in ";,)]}":
            position = skip(text, position)
        yield from split(text[begin:position], ("<<",))


def body_of(text: str, name: str) -> str:
    """The body of the function or lambda `name` that the file defines, if it does."""
    if found := re.search(rf"\b{name}(?: = \[[^\]]*\]\s*(?:\([^{{;]*)?|\([^{{;]*\)[^{{;]*)\{{", text):
        return text[found.end() : skip(text, found.end() - 1)]
    return ""


def code_of(file: str, text: str, match: re.Match[str], arguments: str, codes: dict[str, str]) -> str:
    """What the call says of the exit code: itself, by an argument, or by what it stands in."""
    begin = match.start()
    around = re.search(r"(\w+)\(\s*(?:\w+(?:->|\.))?$", text[max(0, begin - 60) : begin])
    for mark in (match[1], around[1] if around else ""):
        if mark in MARKS:
            return MARKS[mark]
    if found := CODE.search(arguments):
        return codes.get(found[1].lower(), "")
    if "noMemoryCode" in arguments:
        return MARKS["noMemoryCode"]
    if match[1] == "usage":
        return codes["usage"]
    body = body_of(text, match[1])
    for mark, code in MARKS.items():
        if re.search(rf"\b{mark}\(", body):
            return code
    if found := CODE.search(body):
        return codes.get(found[1].lower(), "")
    if COMPILER.match(file) and match[1] != "createStringError":
        return codes["refused"]
    return ""


def exit_codes() -> dict[str, str]:
    """Names of exit codes, in lower case as both enums have them, and their numbers."""
    found: dict[str, str] = {}
    for file, pattern in (("include/shardc/Driver/Errors.h", r"enum class ExitCode \{(.*?)\};"),
                          ("runtime/include/shardrt/shardrt.h", r"enum shardrt_status \{(.*?)\};")):
        enum = re.search(pattern, (ROOT / file).read_text(), re.DOTALL)
        pairs = re.findall(r"(\w+) =\s*(\d+)", enum[1]) if enum else []
        found |= {name.removeprefix("SHARDRT_").lower(): code for name, code in pairs}
    return found


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT)) if path.is_relative_to(ROOT) else str(path)


def messages_of(path: Path, codes: dict[str, str]) -> Iterator[Message]:
    """The messages of one file of C++."""
    text = without_comments(path.read_text())
    name = name_of(path)
    for match in EMITS.finditer(text):
        end = skip(text, match.end() - 1)
        arguments = text[match.end() : end - 1]
        # The first argument that has words of its own is the text; those behind it are values of a format.
        printed = [render(argument) for argument in split(arguments, (",",))]
        if match[1] in JOINING:
            printed = ["".join(printed[JOINING[match[1]] :])]
        said = next((one for one in printed if words(one)), "")
        said += "".join(render(term) for term in streamed(text, end))
        if len(words(said).split()) < 2:
            continue
        begin = EMITTERS.get(match[1], "")
        joint = "" if not begin or said[:1] in " :,;" or begin.endswith(" ") else " "
        said = re.sub(f"{VALUE}({VALUE})+", VALUE, " ".join((begin + joint + said).split()))
        yield Message(name, said, code_of(name, text, match, arguments, codes))


def text_of(node: ast.expr) -> str:
    """What an expression of Python prints."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(text_of(part) for part in node.values)
    if isinstance(node, ast.FormattedValue):
        return text_of(node.value)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return text_of(node.left) + text_of(node.right)
    if isinstance(node, ast.IfExp) and (words(text_of(node.body)) or words(text_of(node.orelse))):
        return f"[{text_of(node.body)}|{text_of(node.orelse)}]"
    return VALUE


def messages_of_python(path: Path) -> Iterator[Message]:
    """The messages of what one file of Python raises; an exception's name is its code."""
    for node in ast.walk(ast.parse(path.read_text())):
        if not isinstance(node, ast.Raise) or not isinstance(node.exc, ast.Call):
            continue
        said = [text_of(argument) for argument in node.exc.args]
        text = next((one for one in said if len(words(one).split()) >= 2), "")
        if text:
            text = re.sub(f"{VALUE}({VALUE})+", VALUE, " ".join(text.split()))
            yield Message(name_of(path), text, f"`{ast.unparse(node.exc.func)}`")


def messages(folder: str) -> list[Message]:
    """The messages of a folder, in the order of files."""
    codes = exit_codes()
    found: list[Message] = []
    for path in sorted((ROOT / folder).rglob("*")):
        if path.suffix in {".cpp", ".h"}:
            found += messages_of(path, codes)
        elif path.suffix == ".py":
            found += messages_of_python(path)
    return found


def write_diagnostics() -> str:
    """docs/Reference/diagnostics.md."""
    text = [
        "# Diagnostics",
        "",
        WRITTEN,
        "",
        "What an error says, found in the sources: `…` stands for a value, `[one|other]` for one of two. A file, a",
        "place in it, a rank or an op may stand before. Each section is in the order of the alphabet. The code is the",
        "one with which a tool then ends ([all of them](shard-run.md#exit-codes)), where the source says it.",
        "[What is refused as unsupported](unsupported.md) says why, and what to do.",
        "",
    ]
    for title, what, folders in SOURCES:
        places: dict[tuple[str, str], list[str]] = {}
        for message in (message for folder in folders for message in messages(folder)):
            files = places.setdefault((message.text, message.code), [])
            if message.file not in files:
                files.append(message.file)
        text += [f"## {title}", "", what, "", "| message | code | where |", "|---|---|---|"]
        for said, code in sorted(places, key=alphabetical):
            where = ", ".join(f"[{Path(file).name}](../../{file})" for file in places[said, code])
            text.append(f"| {quote(said)} | {code} | {where} |")
        text.append("")
    return "\n".join(text).rstrip("\n") + "\n"


def alphabetical(message: tuple[str, str]) -> tuple[str, tuple[str, str]]:
    """By letters: values and marks at the beginning do not count."""
    return re.sub(r"^[^a-z0-9]*(op )?", "", message[0].lower()), message


def quote(text: str) -> str:
    """Text as code in a cell of a table; a code with backquotes in it stands between two."""
    fence = "``" if "`" in text else "`"
    pad = " " if fence == "``" or text != text.strip() else ""
    return f"{fence}{pad}{text}{pad}{fence}".replace("|", "\\|")


def missing_sources() -> list[str]:
    """Rooms whose messages would be in no section."""
    covered = [folder for _, _, folders in SOURCES for folder in folders]
    tops = (ROOT / "lib", ROOT / "runtime" / "lib")
    rooms = sorted(str(path.relative_to(ROOT)) for top in tops for path in top.iterdir() if path.is_dir())
    return [f"scripts/diagnostics.py: {room} is in no section" for room in rooms if room not in covered]


def main() -> int:
    """Prints the messages of files."""
    codes = exit_codes()
    for name in sys.argv[1:]:
        path = Path(name).resolve()
        for message in messages_of_python(path) if path.suffix == ".py" else messages_of(path, codes):
            print(f"{message.code or '-'}: {message.text}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

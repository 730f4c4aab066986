"""Every row of docs/Reference/unsupported.md has its test: ``unsupported.py ROOT``.

Each message that the second column quotes must stand in a test. What the page leaves out (``…``) and what stands for a
name (NAME, OP, numbers, what is quoted) may be anything there. Exits with 1 and a line for each message that no test expects.
"""

import re
import sys
from pathlib import Path


def fragments(message: str) -> list[str]:
    """The parts of a message that a test has word by word."""
    parts = re.split(r"…|@?\b(?:NAME|OP)\b|\d+|'[^']*'|\"", message)
    return [part.strip(" ,;:.`") for part in parts if len(part.strip(" ,;:.`")) > 6]


def main() -> int:
    root = Path(sys.argv[1])
    lines = []
    for path in (root / "test").rglob("*"):
        if path.suffix in (".mlir", ".test", ".py") and "Docs" not in path.parts:
            lines += path.read_text(errors="replace").splitlines()
    expectations = [line for line in lines if re.search(r"expected-error|[A-Z]+(-\w+)?: |in str\(error\)", line)]
    missing = 0
    page = (root / "docs" / "Reference" / "unsupported.md").read_text()
    rows = [row for row in re.findall(r"^\|(.*)\|$", page, re.MULTILINE) if not row.startswith(("---", " what "))]
    for row in rows:
        what, says = row.split(" | ")[:2]
        messages = re.findall(r"`((?:[^`])+)`", says)
        if not messages and "as above" not in says:
            print(f"no message is quoted for: {what.strip()}")
            missing += 1
        for message in messages:
            wanted = fragments(message)
            if not any(all(part in line for part in wanted) for line in expectations):
                print(f"no test expects: {message}\n  parts: {wanted}")
                missing += 1
    print(f"{len(rows)} rows, {missing} messages without a test")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())

"""Write a model as text that the tools read: ``python3 -m shardc MODEL [-o FILE]``."""

import argparse
import sys
from pathlib import Path

from shardc._errors import UsageError
from shardc._text import to_text


def main() -> int:
    """Convert the file that the command line names; 0, or 2 for one that is no model."""
    parser = argparse.ArgumentParser(prog="python3 -m shardc", description=__doc__)
    parser.add_argument("model", help="StableHLO text, MLIR bytecode, a portable artifact of any version, or a "
                                      "serialized jax.export.Exported")
    parser.add_argument("-o", metavar="FILE", help="write there (default: standard output)")
    options = parser.parse_args()
    try:
        text = to_text(Path(options.model))
    except (UsageError, OSError, ValueError, RuntimeError) as error:
        print(f"shardc: error: {options.model}: {error}", file=sys.stderr)
        return 2
    if options.o:
        Path(options.o).write_text(text)
    else:
        print(text, end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())

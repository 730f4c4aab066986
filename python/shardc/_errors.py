"""What the tools refuse, as exceptions. Exit codes: docs/Reference/shard-run.md."""


class ShardcError(Exception):
    """A tool ended with an error; ``code`` is its exit code, ``diagnostic`` what it said."""

    def __init__(self, code: int, diagnostic: str) -> None:
        super().__init__(diagnostic or f"exit code {code}")
        self.code = code
        self.diagnostic = diagnostic


class RefusedError(ShardcError):
    """The program is wrong (1), or an artifact is (8)."""


class UsageError(ShardcError, ValueError):
    """Options or inputs do not fit the program (2)."""


class DifferenceError(ShardcError):
    """Results differ from what was expected (3)."""


class UnsupportedError(ShardcError):
    """The program is right, but asks for what this version is declared not to do (77)."""


class RunError(ShardcError):
    """The run failed: a rank lost (4), a watchdog (5), a mismatch (6), a file (7), memory (9)."""


class InternalError(ShardcError):
    """The compiler has a fault (70): report it. The process goes on, without the memory that the compiler held."""


class ShardcWarning(UserWarning):
    """Something works, and costs what its user may not expect: an op that is gathered, an array that is moved."""


def error_for(code: int, diagnostic: str) -> ShardcError:
    """The exception that stands for an exit code other than 0."""
    kinds: dict[int, type[ShardcError]] = {
        1: RefusedError,
        2: UsageError,
        3: DifferenceError,
        8: RefusedError,
        70: InternalError,
        77: UnsupportedError,
    }
    return kinds.get(code, RunError)(code, diagnostic)

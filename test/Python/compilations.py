"""How often the compiler is called in this process."""

from typing import Any

from shardc import _native


class Compilations:
    """Calls of the compiler since begin(), or since ``count`` was set to 0."""

    count = 0

    def begin(self) -> None:
        """Count from here on. To be called once."""
        library = _native.library()
        start = library.compile_start

        def counted(*arguments: Any) -> Any:
            self.count += 1
            return start(*arguments)

        library.compile_start = counted

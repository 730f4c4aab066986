"""How often the compiler is called in this process."""

from typing import Any

from shardc import _native


class Compilations:
    """Calls of the compiler since begin(), or since ``count`` was set to 0."""

    count = 0

    def begin(self) -> None:
        """Count from here on. To be called once."""
        library = _native.library()
        compile_ = library.compile

        def counted(*arguments: Any) -> Any:
            self.count += 1
            return compile_(*arguments)

        library.compile = counted

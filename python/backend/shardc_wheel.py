"""Makes the wheel of shardc: the Python package, the tools, the libraries, and what these need of LLVM.

The build backend of python/pyproject.toml (PEP 517), for ``pip install ./python`` and ``./run wheel``. It compiles
nothing: what ``./run build`` made is taken from the build directory (SHARDC_BUILD_DIR, or ``build`` of the tree). Needs
cmake and patchelf, and nothing from a package index.

In the wheel ``shardc/lib`` has the libraries and ``shardc/bin`` the tools and LLVM's linker, which find one another by
paths relative to themselves. Of the system's own libraries they need those of glibc and GCC alone.
"""

import base64
import hashlib
import os
import re
import shutil
import subprocess
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

PYTHON = Path(__file__).resolve().parents[1]
ROOT = PYTHON.parent
TOOLS = ("shard-opt", "shard-run", "shard-translate")
LIBRARIES = ("libshardc.so", "libshardrt.so", "libshardc_pjrt.so")
OPTIONAL = ("libshardc_pjrt.so",)
LINKER = "ld.lld-22"
SYSTEM = re.compile(r"(ld-linux.*|lib(c|m|dl|rt|pthread|stdc\+\+|gcc_s)\.so\.\d+)$")
"""Libraries that every Debian has, and that a process must not have twice."""

_METADATA = """Metadata-Version: 2.1
Name: shardc
Version: {version}
Summary: A compiler for sharded tensor programs: JAX models on a mesh of ranks
License: Apache-2.0 WITH LLVM-exception
Requires-Python: >=3.10
Requires-Dist: numpy>=1.24
Provides-Extra: jax
Requires-Dist: jax>=0.10; extra == "jax"
"""
_ENTRY_POINTS = """[console_scripts]
{scripts}

[jax_plugins]
shardc = jax_plugins.shardc
"""


def _version() -> str:
    return (ROOT / "VERSION").read_text().split()[0]


def _build_folder() -> Path:
    return (ROOT / (os.environ.get("SHARDC_BUILD_DIR") or "build")).resolve()


def _run(*command: "str | Path") -> str:
    try:
        return subprocess.run([*map(str, command)], check=True, capture_output=True, text=True).stdout
    except FileNotFoundError:
        raise SystemExit(f"shardc: {command[0]} is missing; as root: apt-get install {command[0]}") from None
    except subprocess.CalledProcessError as error:
        raise SystemExit(f"shardc: {' '.join(map(str, command))}: {error.stderr.strip()}") from None


def _tag() -> str:
    """The platform: libraries of glibc as this machine has it, or later."""
    machine = os.uname().machine
    glibc = os.confstr("CS_GNU_LIBC_VERSION") or "glibc 2.36"
    major, minor = glibc.split()[1].split(".")[:2]
    return f"py3-none-manylinux_{major}_{minor}_{machine}"


def _needed(path: Path) -> dict[str, Path]:
    """Libraries that an ELF file needs, with all that these need, by name."""
    found = {}
    for line in _run("ldd", path).splitlines():
        name, _, rest = line.strip().partition(" => ")
        if "not found" in rest:
            raise SystemExit(f"shardc: {path} needs {name}, which is not found")
        if rest and not SYSTEM.match(name):
            found[name] = Path(rest.split(" (")[0])
    return found


def _stage(folder: Path) -> None:
    """Put tools, libraries and what they need into ``folder/bin`` and ``folder/lib``, relative to one another."""
    build = _build_folder()
    missing = [name for name in LIBRARIES if name not in OPTIONAL and not (build / "lib" / name).exists()]
    missing += [name for name in TOOLS if not (build / "bin" / name).exists()]
    if missing:
        raise SystemExit(f"shardc: {build} has no {', '.join(missing)}; type ./run build first")
    (folder / "bin").mkdir(parents=True)
    (folder / "lib").mkdir()
    libraries: dict[str, Path] = {}
    for name in LIBRARIES:
        if (build / "lib" / name).exists():
            libraries[name] = build / "lib" / name
    tools = {name: build / "bin" / name for name in TOOLS}
    tools[LINKER] = _linker(build)
    for path in [*libraries.values(), *tools.values()]:
        for name, place in _needed(path).items():
            libraries.setdefault(name, place)
    for name, path in libraries.items():
        _copy(path, folder / "lib" / name, "$ORIGIN")
    for name, path in tools.items():
        _copy(path, folder / "bin" / name, "$ORIGIN/../lib")


def _linker(build: Path) -> Path:
    """LLVM's own, of the version that the build used."""
    cache = (build / "CMakeCache.txt").read_text()
    folder = re.search(r"^LLVM_DIR:\w+=(.*)$", cache, re.MULTILINE)
    places = [Path(folder.group(1)).parents[2] / "bin" / "ld.lld"] if folder else []
    places += [Path(found) for name in (LINKER, "ld.lld") if (found := shutil.which(name))]
    for place in places:
        if place.exists():
            return place.resolve()
    raise SystemExit("shardc: no ld.lld of LLVM 22; as root: apt-get install lld-22")


def _copy(source: Path, target: Path, rpath: str) -> None:
    shutil.copyfile(source, target)
    target.chmod(0o755)
    _run("strip", "--strip-unneeded", target)
    _run("patchelf", "--set-rpath", rpath, target)


def _sources() -> Iterator[tuple[str, Path]]:
    for package in ("shardc", "jax_plugins"):
        for path in sorted((PYTHON / package).rglob("*")):
            if path.suffix in (".py", ".typed") and "__pycache__" not in path.parts:
                yield str(path.relative_to(PYTHON)), path


class _Wheel:
    """A wheel that is written file by file."""

    def __init__(self, path: Path) -> None:
        self._archive = zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=6)
        self._records: list[str] = []

    def add(self, name: str, data: bytes, mode: int = 0o644) -> None:
        # The same bytes for the same files, whenever.
        info = zipfile.ZipInfo(name, (2020, 1, 1, 0, 0, 0))
        info.external_attr = (0o100000 | mode) << 16
        info.compress_type = zipfile.ZIP_DEFLATED
        self._archive.writestr(info, data)
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        self._records.append(f"{name},sha256={digest},{len(data)}")

    def close(self, info: str) -> None:
        for name, text in _described().items():
            self.add(f"{info}/{name}", text.encode())
        self._records.append(f"{info}/RECORD,,")
        self._archive.writestr(f"{info}/RECORD", "\n".join(self._records) + "\n")
        self._archive.close()


def _described() -> dict[str, str]:
    scripts = "\n".join(f"{tool} = shardc._tools:{tool.replace('-', '_')}" for tool in TOOLS)
    return {"METADATA": _METADATA.format(version=_version()),
            "WHEEL": f"Wheel-Version: 1.0\nGenerator: shardc\nRoot-Is-Purelib: false\nTag: {_tag()}\n",
            "entry_points.txt": _ENTRY_POINTS.format(scripts=scripts),
            "LICENSE": (ROOT / "LICENSE").read_text()}


def _name() -> tuple[str, str]:
    return f"shardc-{_version()}-{_tag()}.whl", f"shardc-{_version()}.dist-info"


def prepare_metadata_for_build_wheel(metadata_directory: str, config_settings: Any = None) -> str:
    """PEP 517."""
    info = _name()[1]
    folder = Path(metadata_directory) / info
    folder.mkdir(parents=True)
    for name, text in _described().items():
        (folder / name).write_text(text)
    return info


def build_wheel(wheel_directory: str, config_settings: Any = None, metadata_directory: "str | None" = None) -> str:
    """PEP 517."""
    name, info = _name()
    with tempfile.TemporaryDirectory(prefix="shardc-wheel-") as temporary:
        stage = Path(temporary) / "shardc"
        _stage(stage)
        # Under its name once it is whole.
        unfinished = Path(temporary) / name
        wheel = _Wheel(unfinished)
        for place, path in _sources():
            wheel.add(place, path.read_bytes())
        wheel.add("shardc/VERSION", (ROOT / "VERSION").read_bytes())
        for path in sorted(stage.rglob("*")):
            if path.is_file():
                wheel.add(f"shardc/{path.relative_to(stage)}", path.read_bytes(), 0o755)
        wheel.close(info)
        shutil.move(unfinished, Path(wheel_directory) / name)
    return name


def build_editable(wheel_directory: str, config_settings: Any = None, metadata_directory: "str | None" = None) -> str:
    """PEP 660: the tree itself, with what is in its build directory."""
    name, info = _name()
    wheel = _Wheel(Path(wheel_directory) / name)
    wheel.add("shardc.pth", f"{PYTHON}\n".encode())
    wheel.close(info)
    return name


def build_sdist(sdist_directory: str, config_settings: Any = None) -> str:
    """PEP 517. There is none: the sources of this package are the whole tree."""
    raise SystemExit("shardc: no source distribution is made of the Python package alone; build a wheel")


if __name__ == "__main__":
    import sys

    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    print(folder / build_wheel(str(folder)))

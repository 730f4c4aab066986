"""The cache of compiled programs, as users of shard-run and shard-translate see it.

cache.test.py FOLDER --model=MODEL
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("folder", type=Path)
parser.add_argument("--model", type=Path, required=True)
parser.add_argument("--kills", type=int, default=6, help="processes that are killed while they compile, store and clear")
parser.add_argument("--times", action="store_true", help="print what starts cost as well")
options = parser.parse_args()
FOLDER: Path = options.folder
MODEL: str = str(options.model)
CACHE = FOLDER / "cache"

# A call of Python that nobody answers: the compiler warns that it is left out.
WARNED = """
sdy.mesh @mesh = <["x"=2]>
func.func @main(%arg0: tensor<6x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<6x4xf32> {
  stablehlo.custom_call @xla_ffi_python_cpu_callback(%arg0) {api_version = 4 : i32, has_side_effect = true, mhlo.backend_config = {index = 1 : ui64}} : (tensor<6x4xf32>) -> ()
  %0 = stablehlo.negate %arg0 : tensor<6x4xf32>
  return %0 : tensor<6x4xf32>
}
"""
# A check that fails when the program runs.
FAILS = """
func.func @main() {
  %0 = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
  check.expect_eq_const %0, dense<[1.0, 3.0]> : tensor<2xf32>
  return
}
"""
REFUSED = WARNED.replace("stablehlo.negate", "stablehlo.no_such_op")


def run(*arguments: str, tool: str = "shard-run", cache: Path | str | None = CACHE, **more: str) -> subprocess.CompletedProcess[str]:
    """A tool with this cache; None: where it is by default."""
    given = {**os.environ, **more}
    given.pop("SHARDC_CACHE_DIR")
    if cache is not None:
        given["SHARDC_CACHE_DIR"] = str(cache)
    return subprocess.run([tool, *arguments], env=given, capture_output=True, text=True, check=False)


def compiled(result: subprocess.CompletedProcess[str]) -> int:
    """How many models a run with --report=json has compiled."""
    return int(json.loads(result.stdout)["compiled_models"])


def plain(text: str) -> str:
    """What was said or reported, without times."""
    text = re.sub(r"compiled in [0-9.]+ ms, ", "", text)
    text = re.sub(r"[0-9.]+ ms", "_ ms", re.sub(r"\b[0-9.]+ % of that time", "_ %", text))
    text = re.sub(r'"(ms|memory_share|arithmetic_share|share|wait_ms|hidden_ms|hidden|ms_min|ms_mean|ms_per_step|compile_ms|compiled_models)":[0-9.e+-]+', r'"\1":_', text)
    return re.sub(r'"(peak_bytes|rank_ms)":\[[0-9.e,+-]*\]', "", text)


def entries() -> list[Path]:
    return sorted(CACHE.glob("*.program")) if CACHE.exists() else []


def clean() -> None:
    shutil.rmtree(CACHE, ignore_errors=True)


def same_words() -> None:
    """A program that is found says, reports and ends as one that is compiled."""
    warned, fails, refused = FOLDER / "warned.mlir", FOLDER / "fails.mlir", FOLDER / "refused.mlir"
    warned.write_text(WARNED)
    fails.write_text(FAILS)
    refused.write_text(REFUSED)
    cases = [
        ([MODEL, "--check", "--report=json"], 0, 2),
        ([MODEL, "--mesh=x=3", "--report=json", "--trace=" + str(FOLDER / "trace.json")], 0, 1),
        ([MODEL, "--memory-limit=1000000", "--fit-memory", "--report=json"], 0, 1),
        ([str(warned), "--check", "--verify-partition", "--report=json"], 0, 2),
        ([str(fails), "--report=json"], 3, 1),
    ]
    for arguments, code, models in cases:
        first, second = run(*arguments), run(*arguments)
        assert (first.returncode, second.returncode) == (code, code), (arguments, first, second)
        # The limit is this machine's and this moment's: such a program is always compiled.
        again = models if "--fit-memory" in arguments else 0
        assert (compiled(first), compiled(second)) == (models, again), (arguments, compiled(first), compiled(second))
        assert plain(first.stderr) == plain(second.stderr), (arguments, first.stderr, second.stderr)
        assert plain(first.stdout) == plain(second.stdout), (arguments, first.stdout, second.stdout)
    assert "left out: a call of Python" in run(str(warned)).stderr, "the test is about a program of which something is said"
    count = len(entries())
    first, second = run(str(refused)), run(str(refused))
    assert first.returncode == second.returncode != 0 and first.stderr == second.stderr, (first, second)
    assert len(entries()) == count, "what is refused is not kept"
    # Processes share what the launcher found.
    first, second = (run(MODEL, "--processes=4", "--report=json") for _ in range(2))
    assert first.returncode == second.returncode == 0 and plain(first.stderr) == plain(second.stderr), (first, second)


def keys() -> None:
    """What the program follows from is in the key; what was found is what would be compiled."""
    clean()
    other = FOLDER / "other.mlir"
    other.write_text(Path(MODEL).read_text().replace("stablehlo.multiply", "stablehlo.subtract"))
    variants: list[list[str]] = [[MODEL], [str(other)], [MODEL, "--mesh=x=2"], [MODEL, "--sizes=0:0=1,2,3,2"], [MODEL, "--threads=2"],
                                 [MODEL, "--arch=x86-64-v3"], [MODEL, "--reproducible"], [MODEL, "--no-raise"], [MODEL, "--quick"]]
    for number, arguments in enumerate(variants):
        assert compiled(run(*arguments, "--report=json")) == 1, arguments
        assert len(entries()) == number + 1, arguments
    for arguments in variants:
        kept, made = run(*arguments), run(*arguments, "--no-cache")
        assert "compiled in" not in kept.stderr and "compiled in" in made.stderr and kept.stdout == made.stdout, (kept, made)
    assert "compiled in" in run(MODEL, "--mlir-print-ir-after-failure").stderr, "MLIR's own options ask the compiler"
    # Inputs are not the program's.
    assert compiled(run(MODEL, "--seed=5", "--repeat=3", "--report=json")) == 0
    made, found, without = (FOLDER / name for name in ("made.so", "found.so", "without.so"))
    clean()
    for file, more in ((made, []), (found, []), (without, ["--no-cache"])):
        assert run(MODEL, "-o", str(file), *more, tool="shard-translate").returncode == 0
    assert made.read_bytes() == found.read_bytes() == without.read_bytes(), "artifacts have the same bytes, found or not"
    assert len(entries()) == 1


def damage() -> None:
    """What is damaged or somebody else's is compiled again, with one line."""
    clean()
    right = run(MODEL).stdout
    (entry,) = entries()
    whole = entry.read_bytes()
    assert entry.stat().st_mode & 0o777 == 0o600 and CACHE.stat().st_mode & 0o777 == 0o700

    def flip(at: int) -> Callable[[], object]:
        return lambda: entry.write_bytes(whole[:at] + bytes([whole[at] ^ 4]) + whole[at + 1:])

    def from_other() -> None:
        run(MODEL, "--mesh=x=2")
        (another,) = set(entries()) - {entry}
        another.rename(entry)

    def of_other_user() -> None:
        entry.unlink()
        run(MODEL, XDG_CONFIG_HOME=str(FOLDER / "theirs"))

    cases: list[tuple[Callable[[], object], str]] = [
        (flip(len(whole) // 3), "damaged: section"), (flip(len(whole) - 30), "damaged: section 'seal'"), (flip(0), "damaged: section 'ELF header'"),
        (lambda: entry.write_bytes(whole[:-100]), "damaged"), (lambda: entry.write_bytes(b""), "damaged"),
        (lambda: os.truncate(entry, 1 << 40), "damaged: section 'seal'"),
        (from_other, "is of another program"), (of_other_user, "is not signed with your key"),
        (lambda: entry.chmod(0o644), "is not a file of yours alone"),
        (lambda: (entry.unlink(), entry.symlink_to("/etc/passwd")), "Too many levels of symbolic links"),
        (lambda: (entry.unlink(), os.mkfifo(entry, 0o600)), "is not a file of yours alone"),
    ]
    for spoil, words in cases:
        spoil()
        result = run(MODEL)
        lines = [line for line in result.stderr.splitlines() if "cache" in line]
        assert result.returncode == 0 and result.stdout == right, (words, result)
        assert len(lines) == 1 and words in lines[0] and lines[0].startswith("shard-run: warning: cache: "), (words, result.stderr)
        again = run(MODEL)
        assert "cache" not in again.stderr and "compiled" not in again.stderr and again.stdout == right, (words, again.stderr)


def directories() -> None:
    """A directory that cannot be used is a line or nothing, never a failure."""
    clean()
    right = run(MODEL, cache="")
    assert right.returncode == 0 and not CACHE.exists()
    CACHE.mkdir()
    CACHE.chmod(0o777)
    link, file = FOLDER / "link", FOLDER / "file"
    link.symlink_to(CACHE)
    file.write_text("")
    cases = [(link, "is a symbolic link"), (CACHE, "others may write to it"), (file, "cannot be used: Not a directory"),
             (file / "below", "cannot be used: Not a directory"), ("/proc/shardc", "cannot be made")]
    for path, words in cases:
        result = run(MODEL, cache=path)
        assert result.returncode == 0 and result.stdout == right.stdout, (words, result)
        lines = [line for line in result.stderr.splitlines() if "cache" in line]
        assert len(lines) == 1 and words in lines[0], (words, result.stderr)
    assert not entries()
    CACHE.chmod(0o755)
    if os.geteuid() == 0:
        os.chown(CACHE, 65534, 65534)
        assert "belongs to another user" in run(MODEL).stderr and not entries()
        os.chown(CACHE, 0, 0)
    # By default in the user's cache directory, without a word where that cannot be had.
    home = FOLDER / "home"
    result = run(MODEL, cache=None, HOME=str(home), XDG_CACHE_HOME="")
    assert result.returncode == 0 and len(list((home / ".cache/shardc").glob("*.program"))) == 1, result
    result = run(MODEL, cache=None, XDG_CACHE_HOME=str(home / "xdg"))
    assert len(list((home / "xdg/shardc").glob("*.program"))) == 1
    result = run(MODEL, cache=None, XDG_CACHE_HOME="/proc/none")
    assert result.returncode == 0 and "cache" not in result.stderr, result
    # Nowhere to have a key.
    result = run(MODEL, XDG_CONFIG_HOME="/dev/null")
    assert result.returncode == 0 and result.stdout == right.stdout, result
    assert result.stderr.count("/dev/null/shardc/key: Not a directory; programs are compiled each time") == 1, result
    result = run(MODEL, cache=None, HOME=str(home), XDG_CACHE_HOME="", XDG_CONFIG_HOME="/dev/null")
    assert result.returncode == 0 and "warning" not in result.stderr, result
    result = run(MODEL, SHARDC_CACHE_SIZE="much")
    assert "SHARDC_CACHE_SIZE=much: expected bytes, such as 200M" in result.stderr and result.returncode == 0, result
    full()


def full() -> None:
    """A disk that is full: a line, and nothing is left behind."""
    clean()
    script = f"mount -t tmpfs -o size=4k none {CACHE} && chmod 700 {CACHE} && SHARDC_CACHE_DIR={CACHE} shard-run {MODEL} && ls -A {CACHE} | sed 's/^/left: /'"
    CACHE.mkdir()
    result = subprocess.run(["unshare", "-rm", "bash", "-c", script], capture_output=True, text=True, check=False)
    if "unshare" in result.stderr or "mount" in result.stderr:
        return  # no namespaces here
    assert result.returncode == 0 and "output 0" in result.stdout and "left:" not in result.stdout, result
    assert "cannot be written to: No space left on device; the program is not kept" in result.stderr, result


def unprivileged() -> None:
    """A user without privileges beside a root that was there before: a line or nothing, never a failure."""
    if os.geteuid() != 0 or shutil.which("setpriv") is None:
        return
    with tempfile.TemporaryDirectory(dir="/tmp") as name:
        home = Path(name)
        home.chmod(0o755)
        model, cache, key = home / "model.mlir", home / ".cache/shardc", home / ".config/shardc/key"
        shutil.copy(MODEL, model)
        right = run(str(model), cache="").stdout

        def theirs(*arguments: str, named: bool = False, at: Path = home) -> tuple[list[str], bool]:
            """The lines about the cache of a run by user 65534, and whether it compiled."""
            given = {"PATH": os.environ["PATH"], "HOME": str(at)} | ({"SHARDC_CACHE_DIR": str(cache)} if named else {})
            result = subprocess.run(["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "shard-run", str(model), *arguments],
                                    env=given, capture_output=True, text=True, check=False)
            assert result.returncode == 0 and (arguments or result.stdout == right), result
            return [line for line in result.stderr.splitlines() if "warning" in line], "compiled in" in result.stderr

        if subprocess.run(["setpriv", "--reuid=65534", "--clear-groups", "shard-run", "--version"], capture_output=True, check=False).returncode != 0:
            return  # the tools are in a folder of root's alone
        # A home that it cannot write to, and root's.
        assert theirs() == theirs(at=Path("/root")) == ([], True)
        lines, _ = theirs(named=True)
        assert len(lines) == 1 and f"{cache}: cannot be made: Permission denied" in lines[0], lines
        for folder in (cache, key.parent):
            folder.mkdir(parents=True, mode=0o700)
            os.chown(folder.parent, 65534, 65534)
        # Directories that root made.
        lines, compiled_it = theirs()
        assert not lines and compiled_it, lines
        lines, _ = theirs(named=True)
        assert len(lines) == 1 and f"{cache}: cannot be used: Permission denied" in lines[0], lines
        cache.chmod(0o755)
        lines, _ = theirs()
        assert len(lines) == 1 and "belongs to another user" in lines[0], lines
        os.chown(cache, 65534, 65534)
        # Its own cache, and a folder for keys that is root's.
        assert theirs() == ([], True)
        lines, _ = theirs(named=True)
        assert len(lines) == 1 and f"{key}: Permission denied; programs are compiled each time" in lines[0], lines
        os.chown(key.parent, 65534, 65534)
        assert theirs() == ([], True) and theirs() == ([], False)
        # A program of root's in its place is compiled again and replaced, whether it can be read or not.
        (entry,) = cache.glob("*.program")
        for mode in (0o600, 0o644):
            os.chown(entry, 0, 0)
            entry.chmod(mode)
            lines, compiled_it = theirs()
            assert len(lines) == 1 and "the program is compiled again" in lines[0] and compiled_it, lines
            assert theirs() == ([], False) and entry.stat().st_uid == 65534
        # Found where nothing can be written.
        cache.chmod(0o500)
        assert theirs() == ([], False) and theirs("--mesh=x=2") == ([], True)
        lines, _ = theirs("--mesh=x=2", named=True)
        assert len(lines) == 1 and f"{cache}: cannot be written to: Permission denied; the program is not kept" in lines[0], lines
        # A key that root made.
        os.chown(key, 0, 0)
        for named in (False, True):
            lines, compiled_it = theirs(named=named)
            assert len(lines) == 1 and f"{key}: Permission denied; programs are compiled each time" in lines[0] and compiled_it, lines


def size() -> None:
    """The directory stays below its limit; what was used last stays."""
    clean()
    limit = 30_000
    for number in range(2, 9):
        run(MODEL, f"--mesh=x={number}", SHARDC_CACHE_SIZE=str(limit))
        run(MODEL, "--mesh=x=2", SHARDC_CACHE_SIZE=str(limit))
        assert sum(entry.stat().st_size for entry in entries()) <= limit
    assert 2 <= len(entries()) < 7, entries()
    assert compiled(run(MODEL, "--mesh=x=2", "--report=json")) == 0
    stranger = CACHE / "notes.txt"
    stranger.write_text("x" * 2 * limit)
    run(MODEL, "--mesh=x=11", SHARDC_CACHE_SIZE=str(limit))
    assert stranger.exists(), "what else lies there is not deleted"


def looks() -> None:
    """Who stores does not look through the whole directory each time, and does not exceed the limit either."""
    clean()
    run(MODEL, "--mesh=x=2", SHARDC_CACHE_SIZE="400K")
    (entry,) = entries()
    left = CACHE / f"{entry.name}.0123.new"
    left.write_text("left by a killed process")
    os.utime(left, (1, 1))
    looked_after = 0
    for number in range(3, 12):
        run(MODEL, f"--mesh=x={number}", SHARDC_CACHE_SIZE="400K")
        looked_after += left.exists()
    assert 1 <= looked_after < 9, looked_after
    # A lower limit is kept at once, and counts from then on.
    total = sum(entry.stat().st_size for entry in entries())
    run(MODEL, "--mesh=x=12", SHARDC_CACHE_SIZE=str(total // 2))
    assert sum(entry.stat().st_size for entry in entries()) <= total // 2
    # What counts may be damaged, or gone.
    for text in ("", "x" * 5, "x" * 100):
        (CACHE / "written").write_text(text)
        left.write_text("left")
        os.utime(left, (1, 1))
        result = run(MODEL, f"--mesh=x={13 + len(text) % 7}", SHARDC_CACHE_SIZE="400K")
        assert result.returncode == 0 and not left.exists(), (text, result)


def crowds() -> None:
    """Processes that store, read and clear at once, some of them killed, leave a cache that works."""
    clean()
    stream = random.Random(1)
    given = {**os.environ, "SHARDC_CACHE_DIR": str(CACHE), "SHARDC_CACHE_SIZE": "30K"}
    meshes = ["x=2", "x=3", "x=4", "x=5"]
    right = {mesh: run(MODEL, "--mesh=" + mesh, cache="").stdout for mesh in meshes}
    crowd = []
    for number in range(10 + options.kills):
        mesh = meshes[number % 4]
        process = subprocess.Popen(["shard-run", MODEL, "--mesh=" + mesh], env=given, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        crowd.append((mesh, process, number < options.kills))
        if number < options.kills:
            time.sleep(stream.uniform(0.0, 0.15))
            process.send_signal(signal.SIGKILL)
    for mesh, process, is_killed in crowd:
        out, said = process.communicate()
        if not is_killed:
            assert process.returncode == 0 and out == right[mesh] and "cache" not in said, (mesh, said)
    for mesh in meshes:
        result = run(MODEL, "--mesh=" + mesh)
        assert result.stdout == right[mesh] and "cache" not in result.stderr, result


def times() -> None:
    """Print what starts cost, in processor time of the process and those that it starts."""
    def cost(*arguments: str) -> float:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        assert run(MODEL, *arguments).returncode == 0
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    first, second = (min(cost(*arguments) for _ in range(3)) for arguments in (["--no-cache"], []))
    print(f"processor time of a start: {1e3 * first:.0f} ms where it compiles, {1e3 * second:.0f} ms where it finds the program")
    print(f"the second start takes {second / first:.2f} of the first")


shutil.rmtree(FOLDER, ignore_errors=True)
FOLDER.mkdir(parents=True)
for check in (same_words, keys, damage, directories, unprivileged, size, looks, crowds, *([times] if options.times else [])):
    check()
print("all good")

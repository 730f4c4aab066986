"""--tune and --tuned, as users of shard-run and shard-translate see them. What kernels take is given by a file.

tune.test.py FOLDER
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import subprocess
import time
from pathlib import Path

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("folder", type=Path)
FOLDER: Path = parser.parse_args().folder
CACHE = FOLDER / "cache"


def product(name: str, columns: int, scaled: str = "") -> str:
    """The file of a model: a product with so many columns on two ranks, of an operand that is perhaps scaled before. A row each: few tiles to try."""
    path = FOLDER / f"{name}.mlir"
    wide = f"tensor<2x{columns}xf32>"
    path.write_text(f"""
sdy.mesh @mesh = <["x"=2]>
func.func @main(%a: tensor<2x128xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{{"x"}}, {{}}]>}}, %b: tensor<128x{columns}xf32>) -> {wide} {{
  {scaled}
  %0 = stablehlo.dot_general %{"s" if scaled else "a"}, %b, contracting_dims = [1] x [0] : (tensor<2x128xf32>, tensor<128x{columns}xf32>) -> {wide}
  return %0 : {wide}
}}
""")
    return str(path)


def start(*arguments: str, tool: str = "shard-run", **more: str) -> subprocess.Popen[str]:
    given = {**os.environ, "SHARDC_CACHE_DIR": str(CACHE), "XDG_CONFIG_HOME": str(FOLDER / "user"), **more}
    given.pop("SHARDC_KEY", None)
    return subprocess.Popen([tool, *arguments], env=given, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def run(*arguments: str, tool: str = "shard-run", code: int = 0, **more: str) -> subprocess.CompletedProcess[str]:
    process = start(*arguments, tool=tool, **more)
    out, said = process.communicate()
    assert process.returncode == code, (arguments, process.returncode, said)
    return subprocess.CompletedProcess([], code, out, said)


def code_of(model: str, *arguments: str) -> str:
    return run(model, "-o", "-", "--emit=llvmir", *arguments, tool="shard-translate").stdout


def artifact(model: str, *arguments: str) -> bytes:
    file = FOLDER / "made.so"
    run(model, "-o", str(file), *arguments, tool="shard-translate")
    return file.read_bytes()


shutil.rmtree(FOLDER, ignore_errors=True)
FOLDER.mkdir(parents=True)
MODEL, OTHER = product("model", 96), product("other", 96, scaled="%s = stablehlo.multiply %a, %a : tensor<2x128xf32>")
# The estimates take no panel of an operand as small as this one.
PANELS, NONE = FOLDER / "panels", FOLDER / "none"
PANELS.write_text("panel=1 5\nrow= 10\n")
NONE.write_text("panel=1 10\nrow= 5\n")
TUNE = f"--tune-times={PANELS}"


def finds() -> None:
    """What is faster is kept, for whoever asks for it: other programs and tools, the same bits."""
    plain, plain_code, plain_artifact = run(MODEL).stdout, code_of(MODEL), artifact(MODEL)
    assert artifact(MODEL, "--tuned") == plain_artifact, "nothing was measured"
    tuned = run(MODEL, "--tune", TUNE, "--check")
    assert "panel=1 for panel=0" in tuned.stderr and "5.000 ms (50 % less)" in tuned.stderr, tuned.stderr
    assert len(list(CACHE.glob("*.tiles"))) == 1, list(CACHE.iterdir())
    assert run(MODEL).stdout == run(MODEL, "--tuned").stdout == plain
    assert run(MODEL, "--tuned", "--processes=2").stdout == plain
    assert code_of(MODEL) == plain_code and artifact(MODEL) == plain_artifact, "who does not ask has what they had"
    assert code_of(MODEL, "--tuned") != plain_code
    assert code_of(OTHER, "--tuned") != code_of(OTHER), "the same product of another program"
    three = product("three", 40)
    assert code_of(three, "--tuned") == code_of(three), "another product"
    # An artifact has its tiles, also where it is compiled again.
    made = artifact(MODEL, "--tuned")
    assert made != plain_artifact
    (FOLDER / "made.so").chmod(0o700)
    again = run(str(FOLDER / "made.so"), XDG_CONFIG_HOME=str(FOLDER / "another"))
    assert again.stdout == plain and "is compiled" in again.stderr, again.stderr
    for more in ("--threads=2", "--reproducible"):
        assert run(MODEL, more).stdout == run(MODEL, more, "--tune", TUNE).stdout, more


def forgets() -> None:
    """What is known, and no longer faster than the estimate, is taken away."""
    assert code_of(MODEL, "--tuned") != code_of(MODEL)
    said = run(MODEL, "--tune", f"--tune-times={NONE}").stderr
    assert "none is faster" in said, said
    assert code_of(MODEL, "--tuned") == code_of(MODEL)


def shares() -> None:
    """Processes that tune at once do not lose what another found; one that is killed leaves all as it was."""
    models = [product(f"model{columns}", columns) for columns in (48, 56, 64)]
    processes = [start(model, "--tune", TUNE) for model in models]
    for process in processes:
        _, said = process.communicate()
        assert process.returncode == 0 and "panel=1 for panel=0" in said, said
    for model in models:
        assert code_of(model, "--tuned") != code_of(model), model
    for delay in (0.1, 0.4):
        process = start(MODEL, "--tune", TUNE)
        time.sleep(delay)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        tuned = run(models[0], "--tuned")
        assert "warning" not in tuned.stderr, tuned.stderr
    assert code_of(models[0], "--tuned") != code_of(models[0])


def damage() -> None:
    """What is damaged or somebody else's is not looked at, and one line says so; the next measurement replaces it."""
    plain = run(MODEL).stdout
    (file,) = CACHE.glob("*.tiles")
    whole = file.read_bytes()
    middle = len(whole) // 4
    for what in (whole[:middle] + bytes([whole[middle] ^ 1]) + whole[middle + 1:], whole[:50], b""):
        file.write_bytes(what)
        damaged = run(MODEL, "--tuned")
        assert damaged.stdout == plain
        (line,) = (text for text in damaged.stderr.splitlines() if "warning" in text)
        assert line.endswith("estimates decide how kernels are cut"), line
    file.write_bytes(whole)
    other = run(MODEL, "--tuned", XDG_CONFIG_HOME=str(FOLDER / "another"))
    assert "is not signed with your key" in other.stderr and other.stdout == plain, other.stderr
    file.write_bytes(whole[:50])
    assert "panel=1 for panel=0" in run(MODEL, "--tune", TUNE).stderr
    assert "warning" not in run(MODEL, "--tuned").stderr
    off = run(MODEL, "--tuned", SHARDC_CACHE_DIR="")
    assert off.stderr.count("there is none, so nothing is known that was measured") == 1 and off.stdout == plain, off.stderr
    assert "they are not kept" in run(MODEL, "--tune", TUNE, SHARDC_CACHE_DIR="").stderr


def measures() -> None:
    """With a clock: whatever it finds, it ends in time and gives the same bits."""
    begin = time.monotonic()
    said = run(MODEL, "--tune=1").stderr
    assert "other bits" not in said and "tune: products: 1, " in said, said
    assert time.monotonic() - begin < 60
    assert run(MODEL, "--tuned").stdout == run(MODEL).stdout


def refuses() -> None:
    """What --tune does not go with."""
    several = FOLDER / "several.mlir"
    several.write_text(Path(MODEL).read_text() + "// -----\n" + Path(MODEL).read_text())
    for arguments, words in (
        ([MODEL, "--tune=0"], "--tune=0: expected a number of seconds, from 1 to 1000000"),
        ([MODEL, "--tune=x"], "--tune=x: expected a number of seconds"),
        ([MODEL, "--tune", "--sandbox"], "--tune runs the program before, on its inputs alone: leave out --sandbox"),
        ([MODEL, "--tune", "--interpret"], "--interpret compiles and runs nothing; leave out --tune"),
        ([MODEL, "--tune", "--device=emulated-cuda"], "--tune is about kernels of CPUs, but --device=emulated-cuda has kernels of its own"),
        ([MODEL, "--tuned", "--device=emulated-cuda"], "--tuned is about kernels of CPUs"),
        ([str(several), "--tune"], "holds several modules; --tune goes with one"),
        ([str(FOLDER / "made.so"), "--tune"], "--tune compiles a model, but"),
    ):
        assert words in run(*arguments, code=2).stderr, arguments
    environment = {"SHARDRT_RANK": "0", "SHARDRT_NUM_RANKS": "2", "SHARDRT_JOB_TOKEN": "tune"}
    said = run(MODEL, "--tune", code=2, **environment).stderr
    assert "--tune is for one process" in said, said


finds()
forgets()
shares()
damage()
measures()
refuses()
print("all good")

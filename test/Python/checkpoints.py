"""shardc.save and shardc.restore beside shard-run, and the file beside whoever reads safetensors."""

import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy
import shardc
from shardc._tools import find_tool

COUNTER = Path(__file__).resolve().parents[1] / "Tools" / "shard-run" / "Inputs" / "counter.mlir"


def same(got: dict[str, Any], expected: dict[str, Any]) -> None:
    assert list(got) == list(expected), (list(got), list(expected))
    for name, array in expected.items():
        assert got[name].dtype == array.dtype and got[name].shape == array.shape, name
        assert got[name].tobytes() == array.tobytes(), name


def of_all_types(directory: Path) -> None:
    random = numpy.random.default_rng(1)
    kinds = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32",
             "float64", "complex64", "complex128"]
    try:
        import ml_dtypes

        kinds += ["bfloat16", "float8_e4m3fn", "int4"]
    except ImportError:
        ml_dtypes = None
    values = {}
    for number, kind in enumerate(kinds):
        shape = tuple(random.integers(0, 5, number % 4))
        values[f"{kind} of {shape}"] = random.integers(0, 2, shape).astype(kind)
    values["nothing"] = numpy.zeros((0, 3), numpy.float32)
    folder = shardc.save(directory, values, step=12, seed=5)
    read = shardc.restore(directory)
    assert (read.step, read.seed, read.ranks) == (12, 5, 1)
    same(read.values, values)
    # Without shardc: the header is JSON, the rest are the arrays.
    import json

    data = (folder / "state.safetensors").read_bytes()
    length = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + length])
    for name, array in values.items():
        begin, end = header[name]["data_offsets"]
        assert data[8 + length + begin : 8 + length + end] == array.tobytes(), name
    try:
        import safetensors.numpy
    except ImportError:
        return
    if ml_dtypes is None:
        return
    loaded = safetensors.numpy.load_file(folder / "state.safetensors")
    assert sorted(loaded) == sorted(values)
    for name, array in values.items():
        assert loaded[name].tobytes() == array.tobytes(), name
        if array.dtype.name in ("float32", "int64", "bool", "bfloat16"):
            assert loaded[name].dtype == array.dtype and loaded[name].shape == array.shape, name
        if array.dtype.kind == "c":
            assert loaded[name].shape == (*array.shape, 2), name
    print("safetensors reads the same")


def with_shard_run(directory: Path) -> None:
    """Python saves, four ranks go on and save, Python reads."""
    random = numpy.random.default_rng(2)
    state = {"state": random.integers(-9, 9, (10, 3), dtype=numpy.int32),
             "turned": random.integers(-9, 9, (6, 5), dtype=numpy.int32),
             "key": numpy.array([3, 4], numpy.uint32)}
    shardc.save(directory, state, step=2)
    result = subprocess.run(
        [find_tool("shard-run"), str(COUNTER), "--carry=0-2:0-2", "--step-number=step", "--steps=4",
         "--input=10x3xi32=0", "--input=6x5xi32=0",
         "--input=2xui32=0", "--input=10x3xi32=1", f"--checkpoint={directory}", "--save-every=1",
         "--resume"], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    value = state["state"]
    for step in (2, 3):
        value = value * 3 + 1 + step
    read = shardc.restore(directory)
    assert (read.step, read.ranks, read.mesh) == (4, 4, "x=4"), read
    same(read.values, {"state": value, "turned": state["turned"] * 49, "key": state["key"] * numpy.uint32(25)})
    same(shardc.restore(directory, step=2).values, state)
    same(shardc.restore(directory, like={"key": state["key"]}).values, {"key": state["key"] * numpy.uint32(25)})


def refused(directory: Path) -> None:
    values = {"a": numpy.arange(5.0)}

    def expect(error: type[BaseException], text: str, call: Any) -> None:
        try:
            call()
        except error as raised:
            assert text in str(raised), raised
        else:
            raise AssertionError(f"nothing was raised, expected {text!r}")

    expect(shardc.RunError, "No such file", lambda: shardc.restore(directory / "none"))
    folder = shardc.save(directory, values, step=1)
    expect(shardc.RunError, "is there already", lambda: shardc.save(directory, values, step=1))
    expect(shardc.RunError, "cannot be opened as a checkpoint", lambda: shardc.restore(directory, step=7))
    expect(KeyError, "'b'", lambda: shardc.restore(directory, like={"b": values["a"]}))
    expect(TypeError, "object", lambda: shardc.save(directory, {"a": numpy.array([{}])}, step=2))
    for step in range(2, 6):
        shardc.save(directory, values, step=step, keep=2)
    assert sorted(path.name for path in directory.iterdir()) == ["lock", "step-00000004", "step-00000005"]
    data = bytearray((directory / "step-00000005" / "state.safetensors").read_bytes())
    data[-1] ^= 1
    (directory / "step-00000005" / "state.safetensors").write_bytes(data)
    expect(shardc.RunError, "of 'a', have another SHA-256", lambda: shardc.restore(directory))
    assert not folder.exists()


def trees(directory: Path) -> None:
    try:
        import jax
    except ImportError:
        return
    tree = {"layer": [jax.numpy.ones((2, 3)), jax.numpy.arange(4)], "count": jax.numpy.int32(3)}
    shardc.save(directory, tree, step=1)
    read = shardc.restore(directory, like=tree)
    assert sorted(shardc.restore(directory).values) == ["['count']", "['layer'][0]", "['layer'][1]"]
    assert jax.tree.all(jax.tree.map(lambda a, b: bool((a == b).all()) and a.dtype == b.dtype, read.values, tree))


with tempfile.TemporaryDirectory() as place:
    for number, test in enumerate((of_all_types, with_shard_run, refused, trees)):
        test(Path(place) / str(number))
print("all good")
sys.exit(0)

"""Models of all forms as StableHLO text.

JAX's own bindings convert bytecode and portable artifacts of other versions; nothing is imported before it is needed.
"""

import dataclasses
import inspect
import io
import os
from collections.abc import Sequence
from typing import Any

from shardc._annotate import PLATFORM_INDEX
from shardc._array import Array
from shardc._errors import UsageError
from shardc._host import HostFunction


def to_text(model: Any, *args: Any) -> str:
    """The text of a model.

    Args:
        model: a jitted or plain function (lowered for ``args``), ``jax.stages.Traced`` or ``Lowered``,
            ``jax.export.Exported`` or its serialized bytes, a portable artifact or MLIR bytecode (bytes), the path of
            a file, or text.
        args: example arguments, as arrays or ``jax.ShapeDtypeStruct``: for functions, and for exports whose shapes
            are symbolic.

    Raises: UsageError if ``model`` is nothing of these; ImportError where JAX is needed and missing.
    """
    return Model.read(model, *args).text


@dataclasses.dataclass
class Model:
    """A model's text, and how its arguments and results hang together in JAX, where that is known."""

    text: str
    kept: Sequence[int] | None = None
    """Numbers of the flat arguments that the text still has, ascending; None: all."""
    in_tree: Any = None
    """The structure of ``(args, kwargs)`` without static arguments."""
    in_avals: Sequence[Any] | None = None
    """Of all flat arguments."""
    out_tree: Any = None
    out_avals: Sequence[Any] | None = None
    static: dict[int, Any] = dataclasses.field(default_factory=dict)
    """By position: arguments that are part of the program, as jit's static_argnums has them."""
    host_functions: Sequence[HostFunction] = ()
    """What the program calls while it runs, by number: callbacks."""
    names: Sequence[str] = ()
    """Of the positional arguments without static ones, as the function calls them, where that is known."""
    function: Any = None
    """The jitted function that can be traced for other arguments; None for a model that is what it is."""

    def numbers(self) -> list[int] | None:
        """The flat arguments that the text has; None where it has all."""
        return None if self.kept is None else sorted(self.kept)

    @staticmethod
    def read(model: Any, *args: Any, **named: Any) -> "Model":
        """As to_text(); ``named`` are for functions alone."""
        if isinstance(model, str) and ("\n" in model or "func.func" in model):
            return Model(model)
        if isinstance(model, (str, os.PathLike)):
            with open(model, "rb") as file:
                data = file.read()
            return Model(data.decode()) if _is_text(data) else _from_bytes(data, args)
        if isinstance(model, (bytes, bytearray)):
            return Model(bytes(model).decode()) if _is_text(bytes(model)) else _from_bytes(bytes(model), args)
        if hasattr(model, "mlir_module_serialized"):
            return _from_exported(model, args)
        if hasattr(model, "compiler_ir"):
            return _from_lowered(model)
        if hasattr(model, "lower") and hasattr(model, "jaxpr"):
            return _from_lowered(model.lower(lowering_platforms=("cpu",)))
        if callable(model):
            import jax

            jitted = model if hasattr(model, "trace") else jax.jit(model, keep_unused=True)
            args, named = jax.tree.map(_as_example, (args, named))
            read = _from_lowered(jitted.trace(*args, **named).lower(lowering_platforms=("cpu",)))
            positions = getattr(getattr(jitted, "_jit_info", None), "static_argnums", None) or ()
            read.static = {number % len(args): args[number] for number in positions if -len(args) <= number < len(args)}
            names = _parameters(model, len(args))
            read.names = [name for number, name in enumerate(names) if number not in read.static]
            read.function = jitted
            return read
        raise UsageError(2, f"no model: {type(model).__name__}; expected a function, Lowered, Exported, bytes, "
                            "a file or text")


def _as_example(leaf: Any) -> Any:
    """What JAX can trace for it."""
    if not isinstance(leaf, Array):
        return leaf
    import jax

    return jax.ShapeDtypeStruct(leaf.shape, leaf.dtype)


def _parameters(function: Any, count: int) -> list[str]:
    """What a function calls its first ``count`` positional arguments."""
    names: list[str] = []
    try:
        for name, parameter in inspect.signature(function).parameters.items():
            if parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD):
                names.append(name)
            elif parameter.kind is parameter.VAR_POSITIONAL:
                names += [f"{name}[{number}]" for number in range(count - len(names))]
    except (TypeError, ValueError):
        pass
    return [*names, *(f"args[{number}]" for number in range(len(names), count))][:count]


def _is_text(data: bytes) -> bool:
    """Bytecode begins with ``ML\\xefR``; a serialized Exported is a flatbuffer, full of zeros."""
    return not data.startswith(b"ML\xef") and b"\0" not in data[:4096]


def _context() -> Any:
    from jax._src.interpreters import mlir

    return mlir.make_ir_context()


def _print(module: Any) -> str:
    text: str = module.operation.get_asm(enable_debug_info=True, large_elements_limit=None)
    return text


def _parse(context: Any, data: bytes) -> Any:
    """A module from a portable artifact of any version, or from MLIR bytecode."""
    import jaxlib.mlir._mlir_libs._stablehlo as stablehlo
    from jaxlib.mlir import ir

    try:
        return stablehlo.deserialize_portable_artifact(context, data)
    except (ValueError, RuntimeError):
        return ir.Module.parse(data)


def _from_lowered(lowered: Any) -> Model:
    kept = None
    functions: Sequence[HostFunction] = ()
    if inner := getattr(lowered, "_lowering", None):
        kept = getattr(inner, "compile_args", {}).get("kept_var_idx")
        functions = getattr(inner, "compile_args", {}).get("host_callbacks") or ()
    import jax

    avals = [info._aval if hasattr(info, "_aval") else info for info in jax.tree.leaves(lowered.args_info)]
    return Model(_print(lowered.compiler_ir("stablehlo")), kept, lowered.in_tree, avals, lowered.out_tree,
                 jax.tree.leaves(lowered.out_info), host_functions=tuple(functions))


def _from_bytes(data: bytes, args: Sequence[Any]) -> Model:
    if data.startswith(b"ML\xef"):
        context = _context()
        with context:
            module = _parse(context, data)
            return Model(_print(_refine_module(context, module, args)))
    from jax import export

    return _from_exported(export.deserialize(bytearray(data)), args)


def _is_dynamic(module: Any) -> bool:
    return any("?" in str(kind) for function in module.body.operations
               if str(getattr(function, "sym_name", "")) == '"main"' for kind in function.type.inputs)


def _refine_module(context: Any, module: Any, args: Sequence[Any]) -> Any:
    """The module for the shapes of ``args``, if its own are symbolic."""
    if not args or not _is_dynamic(module):
        return module
    import jax
    import jaxlib.mlir._mlir_libs._stablehlo as stablehlo
    import numpy
    from jax._src.interpreters import mlir
    from jaxlib.mlir import ir
    from jaxlib.mlir.passmanager import PassManager

    stablehlo.register_stablehlo_passes()
    kinds = []
    with ir.Location.unknown(context):
        for leaf in jax.tree.leaves(args):
            element = mlir.dtype_to_ir_type(numpy.dtype(leaf.dtype))
            kinds.append(str(ir.RankedTensorType.get(leaf.shape, element)))
        refine = f"builtin.module(stablehlo-refine-arguments{{types={','.join(kinds)}}})"
        PassManager.parse(refine).run(module.operation)
    return _parse(context, _refine_shapes(module))


def _refine_shapes(module: Any) -> bytes:
    """Bytecode in which all shapes follow from those of @main's arguments, and assertions on them hold."""
    from jax._src.lib import _jax

    buffer = io.BytesIO()
    module.operation.write_bytecode(buffer)
    refined = _jax.mlir.refine_polymorphic_shapes(buffer.getvalue(), enable_shape_assertions=True,
                                                  validate_static_shapes=True, enable_shardy=True)
    return bytes(refined)


def _from_exported(exported: Any, args: Sequence[Any]) -> Model:
    import jax

    data = exported.mlir_module_serialized
    kept = getattr(exported, "module_kept_var_idx", None)
    platform = "cpu" if "cpu" in exported.platforms else exported.platforms[0]
    shapes = [leaf.shape for leaf in jax.tree.leaves(args)]
    if shapes and shapes != [aval.shape for aval in exported.in_avals]:
        traced = jax.jit(exported.call, keep_unused=True).trace(*args)
        data = _refine_shapes(traced.lower(lowering_platforms=(platform,)).compiler_ir("stablehlo"))
        kept = None
    context = _context()
    with context:
        text = _print(_parse(context, bytes(data)))
    # What is exported for several platforms takes the number of the one it runs on.
    text = text.replace(PLATFORM_INDEX, f"{PLATFORM_INDEX}, spmd.platform = {exported.platforms.index(platform)} : i32")
    return Model(text, kept, exported.in_tree, exported.in_avals, exported.out_tree, exported.out_avals)

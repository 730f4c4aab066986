"""What JAX has to know of the platform ``shardc``, and has no public way to be told.

Everything that touches names JAX does not promise is in this file, and each part does without the others: where a
version of JAX lacks a name, what depends on it is left out, and a warning says so.
"""

import atexit
import functools
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy

from . import _packages
from ._callbacks import table

PLATFORM = "shardc"
_log = logging.getLogger(__name__)


def register_platform(path: Path) -> None:
    """Register the plugin at ``path``, and tell JAX's parts what they need to know of it."""
    from jax._src import xla_bridge

    for part in (_declare_stable, _allow_donation, _allow_cache, _lower_as_for_cpu, _call_back,
                 _inspect_shardings, _call_exported, _call_with_buffers, _export_dlpack, _import_dlpack):
        _try(part)
    try:
        table.connect(path)
        xla_bridge.register_plugin(PLATFORM, priority=500, library_path=str(path), options=_options)
    except Exception as error:
        register_failure(f"{path} cannot be loaded: {error}")
        return
    _try(_guard_reads)
    _packages.teach(PLATFORM)


def register_failure(why: str) -> None:
    """Have whoever asks JAX for the platform told why it is not there; else JAX says that it knows no such platform."""
    from jax._src import xla_bridge

    def fail() -> Any:
        raise RuntimeError(why)

    try:
        xla_bridge.register_backend_factory(PLATFORM, fail, priority=500, fail_quietly=False)
    except (AttributeError, TypeError):
        _log.warning("shardc: %s", why)


def _try(part: Callable[[], None]) -> None:
    """Do one part, if this version of JAX has the names that it needs."""
    try:
        part()
    except (AttributeError, ImportError, KeyError, TypeError) as error:
        import jax

        what = (part.__doc__ or part.__name__).splitlines()[0]
        _log.warning("jax %s differs from what shardc knows; left out: %s (%s)", jax.__version__, what, error)


class _AsCpu:
    """A backend that says it is the CPU's."""

    platform = "cpu"

    def __init__(self, backend: Any) -> None:
        self._backend = backend

    def __getattr__(self, name: str) -> Any:
        return getattr(self._backend, name)


def _declare_stable() -> None:
    """No warning that the platform is experimental."""
    from jax._src import xla_bridge

    xla_bridge._nonexperimental_plugins.add(PLATFORM)


def _options() -> dict[str, str]:
    """Options of a client, asked for while JAX makes its backends. A device of the host is added to them.

    JAX hands callbacks their operands on that device, and has none where JAX_PLATFORMS names others.
    """
    _try(_add_cpu)
    return _host()


def _host() -> dict[str, str]:
    """Where processes of jax.distributed reach the first of them, which keeps the coordinator as well."""
    from jax._src import distributed

    address = getattr(distributed.global_state, "coordinator_address", None)
    if address:
        # Before JAX waits for the others, which may be waiting for what this process does not do any more.
        atexit.register(table.leave)
    host = (address or "").rpartition(":")[0]
    return {"shardc_host": host} if host and not host.startswith("[") else {}


def _add_cpu() -> None:
    """A device of the host beside those of shardc."""
    import jax
    from jax._src import xla_bridge

    config: Any = jax.config
    if "cpu" not in xla_bridge._backends and config.jax_platforms and "cpu" not in config.jax_platforms.split(","):
        xla_bridge._backends["cpu"] = xla_bridge._init_backend("cpu")


def _allow_donation() -> None:
    """Donated arguments."""
    from jax._src.interpreters import mlir

    if PLATFORM not in mlir._platforms_with_donation:
        mlir._platforms_with_donation.append(PLATFORM)


def _allow_cache() -> None:
    """JAX's cache of compiled programs."""
    from jax._src import compilation_cache

    original = compilation_cache.is_cache_used

    @functools.wraps(original)
    def is_cache_used(backend: Any) -> bool:
        return bool(original(_AsCpu(backend) if backend.platform == PLATFORM else backend))

    compilation_cache.is_cache_used = is_cache_used


def _lower_as_for_cpu() -> None:
    """The lowering rules of JAX's CPU: solvers, callbacks, sparse products."""
    from jax._src.interpreters import mlir

    specific = mlir._platform_specific_lowerings
    rules = _Rules(specific["cpu"], mlir._lowerings)
    rules.update(specific.get(PLATFORM, {}))
    specific[PLATFORM] = rules


def _call_back() -> None:
    """Callbacks of primitives that are not JAX's, whose rules are for all platforms."""
    import jax.interpreters.mlir
    from jax._src import callback

    original = callback.emit_python_callback
    as_for_cpu = _as_for_cpu(original)

    @functools.wraps(original)
    def emit_python_callback(ctx: Any, *arguments: Any, **parameters: Any) -> Any:
        module = ctx.module_context
        if PLATFORM in module.platforms:
            return as_for_cpu(ctx, *arguments, **parameters)
        if tuple(module.platforms) == ("cpu",) and getattr(module.backend, "platform", "") == PLATFORM:
            # What is on these devices is printed for CPUs, as shardc.compile() wants it.
            ctx = ctx.replace(module_context=module.replace(backend=_AsCpu(module.backend)))
        return original(ctx, *arguments, **parameters)

    callback.emit_python_callback = jax.interpreters.mlir.emit_python_callback = emit_python_callback


def _inspect_shardings() -> None:
    """``jax.debug.inspect_array_sharding`` under jit: the compiler says how the array lies once it has decided."""
    from jax._src import debugging, mesh, sharding_impls
    from jax._src.interpreters import mlir
    from jax._src.lib import xla_client
    from jax._src.lib.mlir import ir
    from jax._src.lib.mlir.dialects import hlo

    original = mlir._lowerings[debugging.inspect_sharding_p].rule
    read, parse = xla_client.HloSharding.from_proto, sharding_impls.parse_flatten_op_sharding

    def lower(context: Any, value: Any, *, callback: Callable[[Any], None]) -> Any:
        axes = context.module_context.axis_context
        if isinstance(axes, sharding_impls.SPMDAxisContext):
            devices, meant = axes.mesh._flat_devices_tuple, axes.mesh
        else:
            devices, meant = axes.device_assignment, mesh.thread_resources.env.physical_mesh
            if axes.abstract_mesh is not None:
                sizes = axes.abstract_mesh.axis_sizes
                meant = mesh.Mesh(numpy.array(devices).reshape(sizes), axes.abstract_mesh.axis_names)
        if len(devices) == 1:
            return original(context, value, callback=callback)

        def tell(encoded: Any) -> tuple[()]:
            proto = xla_client.OpSharding()
            proto.ParseFromString(encoded.tobytes())
            found = read(proto)
            if meant.empty:
                callback(sharding_impls.GSPMDSharding(devices, found))
            else:
                spec = sharding_impls.PartitionSpec() if found.is_manual() else parse(found, meant)[0]
                callback(sharding_impls.NamedSharding(meant, spec))
            return ()

        number, keeper = table.add(tell)
        context.module_context.add_keepalive(keeper)
        hlo.CustomCallOp([], [value], call_target_name=ir.StringAttr.get("InspectSharding"),
                         has_side_effect=ir.BoolAttr.get(True), backend_config=ir.StringAttr.get(str(number)))
        return []

    _set_rule(debugging.inspect_sharding_p, lower)


def _call_exported() -> None:
    """Programs that were exported for several platforms, CPUs among them. Those for one other JAX refuses."""
    from jax._src.export import _export
    from jax._src.interpreters import mlir

    original = mlir._lowerings[_export.call_exported_p].rule
    as_for_cpu = _as_for_cpu(original)

    def lower(context: Any, *arguments: Any, exported: Any, **parameters: Any) -> Any:
        platforms = exported.platforms
        call = as_for_cpu if PLATFORM not in platforms and "cpu" in platforms and len(platforms) > 1 else original
        return call(context, *arguments, exported=exported, **parameters)

    _set_rule(_export.call_exported_p, lower)


def _call_with_buffers() -> None:
    """``jax.experimental.buffer_callback``: functions that write their results."""
    from jax._src import buffer_callback, callback, tree_util
    from jax._src.lib import xla_client

    class Context:
        """What JAX calls ExecutionContext, which its own runtime alone can make."""

        @property  # type: ignore[misc]
        def __class__(self) -> Any:
            return buffer_callback.ExecutionContext

        @property
        def stage(self) -> Any:
            return buffer_callback.ExecutionStage.EXECUTE

        @property
        def stream(self) -> int:
            raise xla_client.XlaRuntimeError("UNIMPLEMENTED: XLA FFI GPU context is not available: "
                                             "operands are in the host's memory")

    class Buffer(numpy.ndarray[Any, Any]):
        """An array that says it is JAX's Buffer."""

        @property  # type: ignore[misc]
        def __class__(self) -> Any:
            return buffer_callback.Buffer

        @property
        def writeable(self) -> bool:
            return self.flags.writeable

    def lower(context: Any, *operands: Any, callback: Callable[..., Any], in_tree: Any, out_tree: Any,
              has_side_effect: bool, input_output_aliases: Any, **_: Any) -> Any:
        kept = {result: operand for operand, result in input_output_aliases}
        shapes = [(aval.shape, aval.dtype) for aval in context.avals_out]

        def call(*values: Any) -> list[Any]:
            results = [values[kept[i]].copy() if i in kept else numpy.empty(*shape) for i, shape in enumerate(shapes)]
            inputs, named = tree_util.tree_unflatten(in_tree, [value.view(Buffer) for value in values])
            outputs = tree_util.tree_unflatten(out_tree, [result.view(Buffer) for result in results])
            if callback(Context(), outputs, *inputs, **named) is not None:
                raise ValueError("buffer_callback callback must not return any values.")
            return results

        return emit(context, call, None, list(operands), context.avals_in, context.avals_out,
                    has_side_effect=has_side_effect, returns_token=False)[0]

    emit = callback.emit_python_callback
    _set_rule(buffer_callback.buffer_callback_p, lower)


def _set_rule(primitive: Any, rule: Callable[..., Any]) -> None:
    from jax._src.interpreters import mlir

    entry = mlir._lowerings[primitive]
    mlir._platform_specific_lowerings[PLATFORM][primitive] = type(entry)(rule, entry.inline)


def _export_dlpack() -> None:
    """``__dlpack__`` of arrays."""
    from jax._src.array import ArrayImpl

    from . import _dlpack

    capsule, device = ArrayImpl.__dlpack__, ArrayImpl.__dlpack_device__

    def is_ours(array: Any) -> bool:
        return len(array.sharding.device_set) == 1 and array.platform() == PLATFORM

    @functools.wraps(capsule)
    def __dlpack__(self: Any, **options: Any) -> Any:
        if not is_ours(self):
            return capsule(self, **options)
        return _dlpack.export(self, dl_device=options.get("dl_device"), copy=options.get("copy"))

    @functools.wraps(device)
    def __dlpack_device__(self: Any) -> Any:
        return (_dlpack.KDL_CPU, 0) if is_ours(self) else device(self)

    ArrayImpl.__dlpack__, ArrayImpl.__dlpack_device__ = __dlpack__, __dlpack_device__  # type: ignore[method-assign]


def _import_dlpack() -> None:
    """``from_dlpack`` to the default device. JAX would leave what lies in the host's memory on its own CPU device."""
    import jax
    import jax.dlpack
    from jax._src import dlpack

    original = dlpack.from_dlpack

    @functools.wraps(original)
    def from_dlpack(external_array: Any, device: Any = None, copy: bool | None = None) -> Any:
        if device is None and isinstance(external_array, jax.Array) and len(external_array.devices()) == 1:
            (device,) = external_array.devices()
        config: Any = jax.config
        chosen = config.jax_default_device
        usual = chosen if isinstance(chosen, jax.Device) else jax.devices()[0]
        target = usual if device is None else device
        places = getattr(target, "device_set", {target})
        if any(place.platform != PLATFORM for place in places):
            return original(external_array, device=device, copy=copy)
        if copy is False:
            raise ValueError(f"Specified device={target} which requires a copy since the source device is the host, "
                             "however copy=False. Set copy=True or copy=None to perform the requested operation.")
        if len(places) > 1:
            raise ValueError("from_dlpack can only unpack a dlpack tensor onto a singular device, but "
                             f"a Sharding with {len(places)} devices was provided.")
        # NumPy does not export what is read-only.
        is_host = isinstance(external_array, numpy.ndarray)
        return jax.device_put(external_array if is_host else original(external_array), target)

    dlpack.from_dlpack = jax.dlpack.from_dlpack = from_dlpack


def _guard_reads() -> None:
    """``jax.transfer_guard`` for what the host reads: JAX asks it for copies, and makes them while one is set."""
    from jax._src import config

    state: Any = config.transfer_guard_device_to_host
    of_all, of_thread = state._update_global_hook, state._update_thread_local_hook

    def hook(original: Callable[[Any], None], everywhere: bool) -> Callable[[Any], None]:
        def update(level: Any) -> None:
            original(level)
            table.copy_reads(everywhere, isinstance(level, str))

        return update

    state._update_global_hook, state._update_thread_local_hook = hook(of_all, True), hook(of_thread, False)
    table.copy_reads(True, state.get_global() is not None)


_ASK_FOR_PLATFORM = frozenset({"pure_callback", "io_callback"})
"""Primitives whose rule is the same for all platforms, and asks which one it is."""
_CHOOSE_BY_PLATFORM = frozenset({"platform_index", "cond"})
"""Primitives of ``lax.platform_dependent``: which branch it is, and the branches."""
_AS_FOR_OTHERS = frozenset({"dot_general", "bcsr_dot_general"})
"""Primitives whose rule for the CPU refuses what shardc can do, or calls a function of XLA's."""
_NOT_OF_BYTES = frozenset({"erf"})
"""JAX cannot write programs with these for floats of fewer than 16 bits."""
_OF_LAPACK = frozenset({"cholesky", "eig", "eigh", "hessenberg", "lu", "schur", "svd", "tridiagonal"})
"""Primitives whose rule for the CPU names functions by type, and has none for floats of 16 bits. Those of QR are not
here: JAX's tests demand that it is refused, and newer versions refuse it before they ask for a platform's rule."""


class _Rules(dict[Any, Any]):
    """Rules of this platform: its own, else those of the CPU at the time they are asked for."""

    def __init__(self, cpu: dict[Any, Any], common: dict[Any, Any]) -> None:
        super().__init__()
        self._cpu = cpu
        self._common = common
        self._made: dict[Any, tuple[Any, Any]] = {}

    def _source(self, primitive: Any) -> Any:
        if primitive in self._cpu and primitive.name not in _AS_FOR_OTHERS:
            return self._cpu[primitive]
        ours = _ASK_FOR_PLATFORM | _CHOOSE_BY_PLATFORM | _NOT_OF_BYTES
        return self._common.get(primitive) if primitive.name in ours else None

    def __contains__(self, primitive: object) -> bool:
        return super().__contains__(primitive) or self._source(primitive) is not None

    def __missing__(self, primitive: Any) -> Any:
        entry = self._source(primitive)
        if entry is None:
            raise KeyError(primitive)
        made = self._made.get(primitive)
        if made is None or made[0] is not entry:
            change = _with_platform if primitive.name in _CHOOSE_BY_PLATFORM else _as_for_cpu
            narrow = ("bfloat16", "float16") if primitive.name in _OF_LAPACK else ("float4_", "float6_", "float8_")
            rule = _in_f32(entry.rule, narrow) if primitive.name in _OF_LAPACK | _NOT_OF_BYTES else entry.rule
            made = self._made[primitive] = (entry, type(entry)(change(rule), entry.inline))
        return made[1]


def _with_platform(rule: Callable[..., Any]) -> Callable[..., Any]:
    """``rule``, to which a branch for the CPU is one for this platform too, where no other is."""

    def named(branches: Any) -> Any:
        if any(platforms is None or PLATFORM in platforms for platforms in branches):
            return branches
        return tuple((*platforms, PLATFORM) if "cpu" in platforms else platforms for platforms in branches)

    @functools.wraps(rule)
    def lower(context: Any, *arguments: Any, **parameters: Any) -> Any:
        for name in ("platforms", "branches_platforms"):
            if parameters.get(name) is not None:
                parameters[name] = named(parameters[name])
        return rule(context, *arguments, **parameters)

    return lower


def _in_f32(rule: Callable[..., Any], narrow: tuple[str, ...]) -> Callable[..., Any]:
    """``rule``, which computes floats whose names begin as ``narrow`` says in f32."""
    from jax._src.interpreters import mlir
    from jax._src.lib.mlir import ir
    from jax._src.lib.mlir.dialects import hlo

    def is_narrow(aval: Any) -> bool:
        return str(getattr(aval, "dtype", "")).startswith(narrow)

    def widened(aval: Any) -> Any:
        return aval.update(dtype=numpy.dtype("float32")) if is_narrow(aval) else aval

    @functools.wraps(rule)
    def lower(context: Any, *arguments: Any, **parameters: Any) -> Any:
        if not any(map(is_narrow, context.avals_in)):
            return rule(context, *arguments, **parameters)

        def converted(values: Any, avals: Any, only: Any) -> list[Any]:
            return [hlo.convert(ir.RankedTensorType.get(value.type.shape, mlir.dtype_to_ir_type(aval.dtype)), value)
                    if is_narrow(one) else value for value, aval, one in zip(values, avals, only)]

        wide = context.replace(avals_in=[*map(widened, context.avals_in)], avals_out=[*map(widened, context.avals_out)])
        results = rule(wide, *converted(arguments, wide.avals_in, context.avals_in), **parameters)
        return converted(results, context.avals_out, context.avals_out)

    return lower


class _Callbacks(list[Any]):
    """A module's callbacks. A rule takes the last one's place for its number, which has to be one of the process."""

    def __init__(self, module: Any) -> None:
        super().__init__()
        self._module = module
        self._next = 0

    def append(self, callback: Any) -> None:
        number, keeper = table.add(callback)
        self._module.add_keepalive(keeper)
        self._next = number + 1

    def __len__(self) -> int:
        return self._next


def _as_for_cpu(rule: Callable[..., Any]) -> Callable[..., Any]:
    """``rule``, to which the platform looks like the CPU."""

    @functools.wraps(rule)
    def lower(context: Any, *arguments: Any, **parameters: Any) -> Any:
        module = context.module_context
        platforms = tuple("cpu" if platform == PLATFORM else platform for platform in module.platforms)
        backend = module.backend and _AsCpu(module.backend)
        inner = context.replace(module_context=module.replace(
            platforms=platforms, backend=backend, host_callbacks=_Callbacks(module)))
        results = rule(inner, *arguments, **parameters)
        if inner.tokens_out is not context.tokens_out:
            context.set_tokens_out(inner.tokens_out)
        return results

    return lower

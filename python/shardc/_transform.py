"""Programs inside functions that JAX transforms: jit, vmap, grad."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

import numpy

from shardc._annotate import Split
from shardc._errors import UsageError
from shardc._variant import Asked, Variant


class Traceable(Protocol):
    """What a program is to those who trace it."""

    _asked: Asked | None

    def _prepare(self, arguments: Sequence[Any], named: Mapping[str, Any]) -> tuple[Variant, list[Any], Any]: ...
    def _run(self, variant: Variant, given: Sequence[Any], stay: bool) -> Sequence[Any]: ...
    def _shaped(self, variant: Variant, results: Sequence[Any]) -> Any: ...


def call_traced(program: Traceable, arguments: Sequence[Any], named: Mapping[str, Any],
                compile: Callable[..., Callable[..., Any]]) -> Any:
    """What a program gives for arguments that JAX traces: a call back from JAX's program, with a derivative.

    The derivative is a program too, which ``compile`` makes for the same mesh when it is first asked for. Under
    ``vmap`` the program runs for one element after the other.

    Raises: UsageError for a program that is no function of JAX, and for arguments that do not fit.
    """
    import jax

    variant, leaves, _ = program._prepare(arguments, named)
    source = variant.source
    if source.out_tree is None or source.out_avals is None:
        raise UsageError(2, "the program is not from JAX: it cannot be called inside jax.jit, grad or vmap; compile a "
                            "function, or what jax.export made of one")
    raw = [jax.random.key_data(leaf) if is_key else leaf for leaf, is_key in zip(leaves, variant.is_key)]
    shapes = [jax.ShapeDtypeStruct(place.shape, place.dtype) for place in variant.executable.results]

    def run(*values: Any) -> Any:
        return tuple(program._run(variant, variant.kept([numpy.asarray(value) for value in values]), False))

    @jax.custom_vjp
    def apply(*values: Any) -> Any:
        return jax.pure_callback(run, tuple(shapes), *values, vmap_method="sequential")

    def forward(*values: Any) -> Any:
        return apply(*values), values

    def backward(values: Any, cotangents: Any) -> Any:
        return _pull_back(program, variant, values, cotangents, compile)

    apply.defvjp(forward, backward)
    return program._shaped(variant, apply(*raw))


def _is_inexact(dtype: Any) -> bool:
    import jax

    return bool(jax.dtypes.issubdtype(dtype, numpy.inexact))


def _pull_back(program: Traceable, variant: Variant, values: Any, cotangents: Any,
               compile: Callable[..., Callable[..., Any]]) -> Any:
    """Cotangents of all flat arguments: None where there is none."""
    inputs = [number for number, value in enumerate(values) if _is_inexact(value.dtype)]
    outputs = [number for number, place in enumerate(variant.executable.results) if _is_inexact(place.dtype)]
    pulled = _backward_of(program, variant, inputs, outputs, compile)(
        tuple(values), tuple(cotangents[number] for number in outputs))
    found = dict(zip(inputs, pulled))
    return tuple(found.get(number) for number in range(len(values)))


def _backward_of(program: Traceable, variant: Variant, inputs: list[int], outputs: list[int],
                 compile: Callable[..., Callable[..., Any]]) -> Callable[..., Any]:
    """The program that computes cotangents of ``inputs`` from all flat arguments and cotangents of ``outputs``."""
    import jax

    if variant.backward is not None:
        return variant.backward
    source, asked = variant.source, program._asked
    function, in_tree, avals = source.function, source.in_tree, source.in_avals
    if function is None or asked is None or avals is None:
        raise UsageError(2, "the program has no derivative: it was not compiled from a function, but from what was "
                            "lowered, exported or written; compile the function itself")

    def pull(values: tuple[Any, ...], cotangents: tuple[Any, ...]) -> Any:
        def forward(*inexact: Any) -> Any:
            whole: list[Any] = list(values)
            for number, value in zip(inputs, inexact):
                whole[number] = value
            whole = [jax.random.wrap_key_data(value, impl=aval.dtype._impl) if is_key else value
                     for value, aval, is_key in zip(whole, avals, variant.is_key)]
            arguments, named = in_tree.unflatten(whole)
            for number in sorted(source.static):
                arguments = (*arguments[:number], source.static[number], *arguments[number:])
            results = jax.tree.leaves(function(*arguments, **named))
            return tuple(results[number] for number in outputs)

        return jax.vjp(forward, *(values[number] for number in inputs))[1](cotangents)

    cuts: dict[int, list[Split]] = asked.cuts_of(source)
    shapes = [jax.ShapeDtypeStruct((*aval.shape, *_key_dims(aval, is_key)), numpy.uint32 if is_key else aval.dtype)
              for aval, is_key in zip(avals, variant.is_key)]
    places = [variant.executable.results[number] for number in outputs]
    backward = compile(pull, tuple(shapes), tuple(jax.ShapeDtypeStruct(place.shape, place.dtype) for place in places),
                       mesh=asked.mesh_for(source.text), in_shardings=cuts, sizes=asked.sizes, gather=True)
    variant.backward = backward
    return backward


def _key_dims(aval: Any, is_key: bool) -> tuple[int, ...]:
    return tuple(aval.dtype._impl.key_shape) if is_key else ()

"""Calls Python functions when a transformed function runs: `pure_callback`, `io_callback`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tapeless import tree
from tapeless.backends import cuda
from tapeless.dispatch.specialisation import identity
from tapeless.staging.emitted_names import base_name, check_callable
from tapeless.staging.gpu_arrays import like_arguments
from tapeless.staging.subprogram import is_value, leaf_atom
from tapeless.transformations.eval_shape import declared_sizes, declared_types
from tapeless.transforms.core.builder import active
from tapeless.transforms.core.language import Atom, Effect, Var
from tapeless.transforms.core.on_gpu import on_gpu
from tapeless.transforms.errors import ArgumentError, ShapeError, StructureError
from tapeless.transforms.frontend.arrays.symbols import wrap
from tapeless.transforms.frontend.staging.original_functions import plain_function
from tapeless.transforms.frontend.trace.recorded_reads import Captured
from tapeless.transforms.frontend.trace.trace import trace
from tapeless.transforms.ops.primitives.callbacks import CALLABLE, callback, outside

METHODS = (None, "sequential", "sequential_unrolled", "expand_dims", "broadcast_all")


class CallbackFunction:
    """What an emitted program calls: the user's function, on copies of the arrays as they are.

    fun        the function
    likes      the leaves of its arguments, of which those at `places` are given at each call
    structure  of the arguments
    result     the structure and the dtypes of what it is to give; None if nothing is used
    """

    shape = ()  # it stands among the arrays that a program reads from outside

    def __init__(
        self, fun: Any, likes: list[Any], structure: Any, places: list[int], result: Any
    ) -> None:
        self.fun, self.likes, self.structure = fun, likes, structure
        self.places, self.result = places, result
        self.__name__ = base_name(fun)

    def __call__(self, *values: Any, shape: Any = None) -> Any:
        leaves = list(self.likes)
        for k, value in zip(self.places, values, strict=True):
            leaves[k] = _of_the_host(value)
        args, kwargs = tree.unflatten(self.structure, leaves)
        returned = self.fun(*args, **kwargs)
        return None if self.result is None else self.check_results(returned, shape)

    def as_atom(self) -> Var:
        """The function as a parameter of the program that is staged."""
        reads, key = trace().reads, ("callback", id(self))
        if key not in reads:
            var = Var(CALLABLE, self.__name__)
            reads[key] = (Captured(var.name, lambda: self, var, self), self)
        return reads[key][0].var  # type: ignore[no-any-return]

    def check_results(self, returned: Any, shape: Any) -> Any:
        """The results as arrays of their own; refuses others than were declared."""
        structure, dtypes = self.result
        leaves, structure_returned = tree.flatten(returned)
        if structure_returned != structure:
            raise StructureError(
                f"{self.__name__} returned {tree.structure_stars(structure_returned)}, "
                f"where result_shape_dtypes says {tree.structure_stars(structure)}"
            )
        shapes = [shape] if len(leaves) == 1 else shape
        arrays = [self.array(*leaf) for leaf in zip(leaves, dtypes, shapes, strict=True)]
        return arrays[0] if len(arrays) == 1 else tuple(arrays)

    def array(self, value: Any, dtype: np.dtype[Any], shape: Any) -> Any:
        """One result."""
        array = np.array(value)
        if array.shape != tuple(shape):
            raise ShapeError(
                f"{self.__name__} returned an array of shape {array.shape}, "
                f"where result_shape_dtypes says {tuple(shape)}"
            )
        weak = type(value) in (bool, int, float, complex)
        if array.dtype != dtype and not (weak and np.can_cast(array.dtype, dtype, "same_kind")):
            raise StructureError(
                f"{self.__name__} returned {array.dtype.name}, "
                f"where result_shape_dtypes says {dtype.name}",
                f"let it return .astype(np.{dtype.name})",
            )
        return array.astype(dtype, copy=False)[()]


def _of_the_host(x: Any) -> Any:
    """A number, or an array of NumPy that is the function's own."""
    if on_gpu(x):
        return cuda.on_host(x)[()]
    return x.copy() if isinstance(x, np.ndarray) else x


def _on_device(x: Any) -> Any:
    return cuda.on_device(np.asarray(x))


class Site:
    """A place in a staged run from which a function is called."""

    def __init__(
        self, fun: Callable[..., Any], args: Any, kwargs: Any, what: str, result: Any = None
    ) -> None:
        check_callable(fun, what)
        self.fun, self.what = fun, what
        self.likes, self.structure = tree.flatten((args, kwargs))
        self.places = [k for k, x in enumerate(self.likes) if is_value(x)]
        self.values = [self.likes[k] for k in self.places]
        self.result = result

    def function_for(self, fun: Any) -> CallbackFunction:
        dynamic = set(self.places)
        likes = [None if k in dynamic else x for k, x in enumerate(self.likes)]
        return CallbackFunction(fun, likes, self.structure, self.places, self.result)

    def atoms(self) -> list[Atom]:
        """The function, as a parameter of the program, and what it is given."""
        fun = plain_function(self.fun)
        static = [x for k, x in enumerate(self.likes) if k not in self.places]
        key = ("callback", *same_function(fun), self.structure, *map(id, static), self.result)
        reads = trace().reads
        if key not in reads:
            reads[key] = (self.function_for(fun), (fun, static))  # which keep their ids
        return [reads[key][0].as_atom(), *map(leaf_atom, self.values)]


def same_function(fun: Any) -> tuple[Any, ...]:
    """What tells a function from others, also where it is made anew for each pass of a loop."""
    if hasattr(fun, "key"):
        return (type(fun), fun.key)
    cells = tuple(id(c.cell_contents) for c in getattr(fun, "__closure__", None) or ())
    return (fun.__code__, *cells) if cells else tuple(part for part, _ in identity(fun))


def call_out(site: Site, result_shape_dtypes: Any, method: str | None, pure: bool) -> Any:
    """The results of a call, made now or recorded."""
    sizes, kinds, structure = declared_types(result_shape_dtypes, site.what)
    site.result = (structure, tuple(dtype for dtype, _ in kinds)) if kinds else None
    if not active():
        shapes = declared_sizes(sizes, kinds)
        shape = shapes[0] if len(shapes) == 1 else shapes
        returned = site.function_for(site.fun)(*site.values, shape=shape)
        if any(map(on_gpu, site.values)):
            with cuda.device_of(site.values):
                returned = like_arguments(tree.map(_on_device, returned), site.values)
        return tree.unflatten(structure, [returned] if len(kinds) == 1 else list(returned or ()))
    if not kinds:
        if not pure:
            record(site)
        return tree.unflatten(structure, [])
    op = callback if pure else outside
    how = {"sizes": sizes, "kinds": kinds, "method": method, "name": base_name(site.fun)}
    returned = trace().bind(op, tuple(site.atoms()), how)
    return tree.unflatten(structure, [wrap(v) for v in returned])


def record(site: Site) -> None:
    """Lets the program call a function whose result is not used."""
    atoms = site.atoms()
    holes = ", ".join(f"{{{k}}}" for k in range(1, len(atoms)))
    params = {
        "form": f"{{0}}({holes})",
        "parts": tuple(("atom", k) for k in range(len(atoms))),
        "modules": (),
    }
    trace().emit(Effect("call", tuple(atoms), params, trace().place()))


def pure_callback(
    callback: Callable[..., Any],
    result_shape_dtypes: Any,
    *args: Any,
    sharding: Any = None,
    vmap_method: str | None = None,
    **kwargs: Any,
) -> Any:
    """The result of a Python function that has no rule, called when the program runs.

    callback             any function; it gets NumPy arrays and numbers, which are its own
    result_shape_dtypes  a tree like its result, with leaves that have `shape` and `dtype`:
                         `ShapeDtypeStruct`s, or arrays
    args, kwargs         trees of arrays and numbers, and of anything else, which is passed on
    sharding             None: there is one memory
    vmap_method          how it is called under `vmap`: "sequential", "sequential_unrolled" or
                         None: once for each element; "expand_dims": once, with the batch as first
                         axis of all arrays, which has length 1 where an argument is the same for
                         all elements; "broadcast_all": the same, with arguments repeated

    Returns arrays of the declared shapes and dtypes. The call is made when its result is needed,
    and once for equal arguments if the program sees that they are. The emitted function gets
    `callback` as one more parameter.

    Raises TypeError or ValueError when the program runs and the result is not as declared, and
    TypeError where its derivative is asked for: give one with `custom_jvp` or `custom_vjp`.

    >>> import bisect
    >>> import numpy as np
    >>> from tapeless import ShapeDtypeStruct, jit
    >>> steps = [0.0, 1.0, 10.0]
    >>> @jit
    ... def f(x):
    ...     step = pure_callback(lambda v: bisect.bisect(steps, v), ShapeDtypeStruct((), int), x)
    ...     return step + 0.5
    >>> float(f(2.0))
    2.5
    """
    if vmap_method not in METHODS:
        raise ArgumentError(
            f"pure_callback: vmap_method is {vmap_method!r}",
            f"there are {', '.join(map(repr, METHODS[1:]))}",
        )
    check_sharding(sharding, "pure_callback")
    return call_out(
        Site(callback, args, kwargs, "pure_callback"), result_shape_dtypes, vmap_method, True
    )


def io_callback(
    callback: Callable[..., Any],
    result_shape_dtypes: Any,
    *args: Any,
    sharding: Any = None,
    ordered: bool = False,
    **kwargs: Any,
) -> Any:
    """The same as `pure_callback` for functions that act on the world around: each call is made,
    in the order of the program.

    result_shape_dtypes  None, if nothing is returned
    ordered              calls are in order in any case; under `vmap` one element after the other

    Raises what `pure_callback` raises.

    >>> from tapeless import ShapeDtypeStruct, jit
    >>> seen = []
    >>> @jit
    ... def f(x):
    ...     io_callback(seen.append, None, x)
    ...     return x * x
    >>> f(3.0), seen
    (9.0, [3.0])
    """
    check_sharding(sharding, "io_callback")
    site = Site(callback, args, kwargs, "io_callback")
    return call_out(site, result_shape_dtypes, None, False)


def check_sharding(sharding: Any, what: str) -> None:
    if sharding is not None:
        raise ArgumentError(f"{what}: sharding is {sharding!r}", "leave it out: one memory is all")


__all__ = ["io_callback", "pure_callback"]

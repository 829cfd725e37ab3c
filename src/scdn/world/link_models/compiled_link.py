# ruff: noqa: ARG001  (an intrinsic names its arguments, and does not use them)
"""What the compiled version of a link model looks like, and how kernels call it.

A module with compiled bounds has two functions, made with the decorators below:

    @loss_in_box
    def in_box(centre, half_width, device, constants, limit, rounding, bounds): ...

    @loss_and_gradient
    def at_point(server, device, constants, gradient): ...

`centre`, `half_width`, `server` and `device` point to x, y, z; `constants` to the numbers of
`LinkModel.constants`. The first function fills `bounds` and returns whether the loss may be below
`limit` somewhere in the box; if not, `bounds` need not be filled. The second returns the loss at a
point and fills `gradient` (0 where there is none). Kernels call them by address, so that a model
has a file, and a cache, of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]
from numba import cfunc, njit, types
from numba.extending import intrinsic

# Where the bounds of a device's loss in a box are: the loss at the centre, its range, whether it is
# smooth, and the range of its gradient, three numbers each.
LOSS, LOW, HIGH, SMOOTH, SLOPE_LOW, SLOPE_HIGH = 0, 1, 2, 3, 4, 7
BOUNDS = 10

_NUMBERS = types.CPointer(types.float64)
_IN_BOX = types.int64(
    _NUMBERS, _NUMBERS, _NUMBERS, _NUMBERS, types.float64, types.float64, _NUMBERS
)
_AT_POINT = types.float64(_NUMBERS, _NUMBERS, _NUMBERS, _NUMBERS)


def loss_in_box(function: Callable[..., bool]) -> Any:
    """Compile the bounds of a model's loss in a box."""
    return cfunc(_IN_BOX, cache=True, error_model="numpy")(function)


def loss_and_gradient(function: Callable[..., float]) -> Any:
    """Compile a model's loss at a point."""
    return cfunc(_AT_POINT, cache=True, error_model="numpy")(function)


def part_of_a_link(function: Any) -> Any:
    """Compile a function that the two above call."""
    return njit(cache=True, nogil=True, error_model="numpy")(function)


def _caller(result: ir.Type, kinds: str) -> Any:
    """Return code that calls a function of this result; kinds: p, an address, or d, a number."""
    number = ir.DoubleType()
    arguments = [number.as_pointer() if kind == "p" else number for kind in kinds]
    function_type = ir.FunctionType(result, arguments)

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        address, *rest = values
        function = builder.inttoptr(address, function_type.as_pointer())
        passed = [
            builder.inttoptr(value, number.as_pointer()) if kind == "p" else value
            for kind, value in zip(kinds, rest, strict=True)
        ]
        return builder.call(function, passed)

    return generate


@intrinsic
def call_in_box(
    context: Any,
    function: Any,
    centre: Any,
    half_width: Any,
    device: Any,
    constants: Any,
    limit: Any,
    rounding: Any,
    bounds: Any,
) -> Any:
    """Call a `loss_in_box` by its address; the other arguments are addresses too, or numbers."""
    integer = types.int64
    signature = types.int64(
        integer, integer, integer, integer, integer, types.float64, types.float64, integer
    )
    return signature, _caller(ir.IntType(64), "ppppddp")


@intrinsic
def call_at_point(
    context: Any, function: Any, server: Any, device: Any, constants: Any, gradient: Any
) -> Any:
    """Call a `loss_and_gradient` by its address; the other arguments are addresses too."""
    integer = types.int64
    signature = types.float64(integer, integer, integer, integer, integer)
    return signature, _caller(ir.DoubleType(), "pppp")

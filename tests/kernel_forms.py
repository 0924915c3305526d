"""Kernels that are compiled and have a plain form besides: the same call by both, compared bit for bit."""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ppdm_flow.audits.records.kernels import Scratch
from ppdm_flow.mining.itemsets import little
from ppdm_flow.mining.itemsets.output import Output
from ppdm_flow.sdk.compiled import Kernel, TooMuchWorkError

MOST_STEPS = 20_000
MOST_CALLS = 300
"""Calls of one kernel that are compared in a process."""


def parts_of(value: Any) -> Iterator[Any]:
    """Yield all that a result or an argument is made of."""
    if isinstance(value, Output):  # has room left, in which anything may stand
        value = (value.items[: value.used[1]], value.ends[: value.used[0]], value.supports[: value.used[0]], value.used)
    if isinstance(value, Scratch):
        return
    if isinstance(value, tuple):
        for each in value:
            yield from parts_of(each)
    else:
        yield value


def bits(value: Any) -> list[Any]:
    """Return what two values have to have in common to be the same."""
    return [_bits(each) for each in parts_of(value)]


def left(args: Any) -> list[Any]:
    """Return what two calls have to leave of their arguments; an output is replaced by what is returned."""
    return bits(tuple(each.used if isinstance(each, Output) else each for each in args))


def _bits(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return str(value.dtype), value.shape, value.tobytes()
    if isinstance(value, float | np.floating):
        return float(value).hex()
    return None if value is None else int(value)


def _most(kernel: Kernel[..., Any]) -> int:
    """Return the most steps of calls to compare; a search that may give up says the same of all."""
    return little.STEPS if kernel.steps is little.steps else MOST_STEPS


def comparing(call: Callable[..., Any]) -> Callable[..., Any]:
    """Return what stands in the place of ``Kernel.__call__``: it carries a call out twice where that is little work."""
    compared: Counter[str] = Counter()

    def called(kernel: Kernel, *args: Any, **kwargs: Any) -> Any:
        name = f"{kernel.__module__}.{kernel.__name__}"
        if kernel.steps is None or compared[name] >= MOST_CALLS or kernel.steps(*args, **kwargs) > _most(kernel):
            return call(kernel, *args, **kwargs)
        compared[name] += 1
        plain_args, plain_named = copy.deepcopy((args, kwargs))
        try:
            of_plain = kernel.plainly(*plain_args, **plain_named)
        except TooMuchWorkError:
            assert bits(plain_args) == bits(args), name
            return call(kernel, *args, **kwargs)
        of_compiled = kernel.dispatcher(*args, **kwargs)
        assert bits(of_plain) == bits(of_compiled), name
        assert left(plain_args) == left(args), name
        return of_compiled

    return called

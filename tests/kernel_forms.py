"""Kernels that are compiled and have a plain form besides: the same call by both, compared bit for bit."""

from __future__ import annotations

import copy
import importlib
import os
import pkgutil
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ppdm_flow
from ppdm_flow.audits.records.kernels import Scratch
from ppdm_flow.mining.itemsets.output import Output
from ppdm_flow.sdk import compiled
from ppdm_flow.sdk.compiled import Kernel, Part

MOST_STEPS = 20_000
MOST_CALLS = 5
"""Calls of one kernel that are compared in one test."""
MOST_BYTES = 1 << 20
"""Of the arguments of one call, where a kernel does not say how much work that is."""


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


def _little(kernel: Kernel[..., Any], args: Any) -> bool:
    """Whether a call is so little work that Python may carry it out besides."""
    if kernel.steps is None:
        return _bytes(args) <= MOST_BYTES
    return kernel.steps(*args) <= MOST_STEPS


def _bytes(value: Any) -> int:
    if isinstance(value, np.ndarray):
        return value.nbytes
    return sum(map(_bytes, value)) if isinstance(value, tuple) else 0


def kernels() -> dict[str, Kernel[..., Any]]:
    """Return all kernels of the package, parts of others among them."""
    known = {}
    for module in pkgutil.walk_packages(ppdm_flow.__path__, "ppdm_flow."):
        spec = module.module_finder.find_spec(module.name, None)
        source = spec.loader.get_source(module.name) if spec and spec.loader else ""
        if "import" in source and ("compiled" in source or "kernels" in source):
            for value in vars(importlib.import_module(module.name)).values():
                kernel = value if isinstance(value, Kernel) else getattr(value, "__wrapped__", None)
                if isinstance(kernel, Kernel):
                    known[name_of(kernel)] = kernel
    return known


def name_of(kernel: Kernel[..., Any]) -> str:
    """Return where a kernel is defined."""
    return f"{kernel.__module__}.{kernel.__name__}"


class Comparison:
    """Stands in the place of ``Kernel.__call__``: a call is carried out twice, or thrice, where that is little work.

    That is compiled, by the plain form, and by Python itself where the plain form is another function. Kernels that
    Python calls meanwhile are Python's, too, although they are compiled. ``carried_out`` are the names of all kernels
    that were so compared, or carried out within one that was.
    """

    def __init__(self) -> None:
        self.carried_out: set[str] = set()
        self._compared: Counter[tuple[str, str]] = Counter()
        self._call = Kernel.__call__
        self._within: set[str] = set()

    def __call__(self, kernel: Kernel[..., Any], *args: Any) -> Any:
        """Return what the compiled form returns. Raises AssertionError where another form comes to another result."""
        name = name_of(kernel)
        if compiled._plain_work.depth:
            self._within.add(name)
            return kernel._plain(*args)
        here = name, os.environ.get("PYTEST_CURRENT_TEST", "")
        if self._compared[here] >= MOST_CALLS or not _little(kernel, args):
            return self._call(kernel, *args)
        self._compared[here] += 1
        originals = copy.deepcopy(args)
        of_compiled = kernel.dispatcher(*args)
        for form in dict.fromkeys((kernel._plain, kernel.py_func)):
            self._compare(kernel, form, copy.deepcopy(originals), args, of_compiled)
        return of_compiled

    def _compare(self, kernel: Kernel[..., Any], form: Any, mine: Any, theirs: Any, of_compiled: Any) -> None:
        self._within = set()
        compiled._plain_work.depth += 1
        try:
            with np.errstate(over="ignore"):
                of_plain = form(*mine)
        finally:
            compiled._plain_work.depth -= 1
        assert bits(of_plain) == bits(of_compiled), name_of(kernel)
        assert left(mine) == left(theirs), name_of(kernel)
        self.carried_out |= self._within | {name_of(kernel)}

    def patch(self, patched: pytest.MonkeyPatch) -> None:
        """Take the place of all calls."""

        def called(kernel: Kernel[..., Any], *args: Any) -> Any:
            return self(kernel, *args)

        for kind in (Kernel, Part):
            patched.setattr(kind, "__call__", called)

    def write(self) -> None:
        """Write the names of what was carried out to the file that ``PPDM_KERNELS_CARRIED_OUT`` names."""
        if file := os.environ.get("PPDM_KERNELS_CARRIED_OUT"):
            Path(file).write_text("\n".join(sorted(self.carried_out)))

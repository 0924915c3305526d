"""Kernels, and the Python functions that they are compiled from: the same call by both, compared bit for bit."""

from __future__ import annotations

import copy
import importlib
import os
import pkgutil
from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import ppdm_flow
from ppdm_flow.audits.records.distances import DistanceBuffers
from ppdm_flow.mining.itemsets.kernels import ItemsetOutput
from ppdm_flow.sdk.compiled import Kernel, KernelPart

MOST_CALLS = 5
"""Calls of one kernel that are compared in one test."""
MOST_BYTES = 1 << 20
"""Of the arguments of one call."""


def parts_of(value: Any) -> Iterator[Any]:
    """Yield all that a result or an argument is made of."""
    if isinstance(value, ItemsetOutput):  # has room left, in which anything may stand
        value = (value.items[: value.used[1]], value.ends[: value.used[0]], value.supports[: value.used[0]], value.used)
    if isinstance(value, DistanceBuffers):
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
    return bits(tuple(each.used if isinstance(each, ItemsetOutput) else each for each in args))


def _bits(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return str(value.dtype), value.shape, value.tobytes()
    if isinstance(value, float | np.floating):
        return float(value).hex()
    return None if value is None else int(value)


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
                if isinstance(value, Kernel):
                    known[name_of(value)] = value
    return known


def name_of(kernel: Kernel[..., Any]) -> str:
    """Return where a kernel is defined."""
    return f"{kernel.__module__}.{kernel.__name__}"


class Comparison:
    """Stands in the place of ``Kernel.__call__``: a call is carried out compiled, and by Python if that is little work.

    Kernels that Python calls meanwhile are Python's, too. ``carried_out`` are the names of all kernels that were so
    compared, or carried out within one that was. A call is little work by the size of its arguments.
    """

    def __init__(self) -> None:
        self.carried_out: set[str] = set()
        self._compared: Counter[tuple[str, str]] = Counter()
        self._call = Kernel.__call__
        self._by_python = False
        self._within: set[str] = set()

    def __call__(self, kernel: Kernel[..., Any], *args: Any) -> Any:
        """Return what the compiled form returns. Raises AssertionError where Python comes to another result."""
        name = name_of(kernel)
        if self._by_python:
            self._within.add(name)
            return kernel.py_func(*args)
        here = name, os.environ.get("PYTEST_CURRENT_TEST", "")
        if self._compared[here] >= MOST_CALLS or _bytes(args) > MOST_BYTES:
            return self._call(kernel, *args)
        self._compared[here] += 1
        mine = copy.deepcopy(args)
        of_compiled = kernel.dispatcher(*args)
        self._within = set()
        self._by_python = True
        try:
            with np.errstate(over="ignore"):  # compiled integers wrap around and say nothing
                of_python = kernel.py_func(*mine)
        finally:
            self._by_python = False
        assert bits(of_python) == bits(of_compiled), name
        assert left(mine) == left(args), name
        self.carried_out |= self._within | {name}
        return of_compiled

    def patch(self, patched: pytest.MonkeyPatch) -> None:
        """Take the place of all calls."""

        def called(kernel: Kernel[..., Any], *args: Any) -> Any:
            return self(kernel, *args)

        for kind in (Kernel, KernelPart):
            patched.setattr(kind, "__call__", called)

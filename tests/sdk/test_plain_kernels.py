"""Kernels that Python carries out where the work is little: bit for bit the same as compiled, on inputs of runs."""

from __future__ import annotations

import copy
import importlib
import pkgutil
from pathlib import Path

import pytest
from kernel_forms import bits, left

import ppdm_flow
import ppdm_flow as pf
from ppdm_flow.sdk import compiled
from ppdm_flow.sdk.compiled import Kernel

PIPELINES = Path(__file__).resolve().parents[2] / "pipelines"
POLICIES = ("bank_credit", "hospital", "wages", "laboratory", "from_microdata_k", "from_randomized_baskets", "pharmacy")
MOST = 60
"""Calls of a kernel that are looked at."""


def kernels() -> dict[str, Kernel]:
    """Return all kernels of the package that have steps."""
    known = {}
    for module in pkgutil.walk_packages(ppdm_flow.__path__, "ppdm_flow."):
        spec = module.module_finder.find_spec(module.name, None)
        source = spec.loader.get_source(module.name) if spec and spec.loader else ""
        if "compiled_for(" in source and module.name != compiled.__name__:
            for value in vars(importlib.import_module(module.name)).values():
                kernel = value if isinstance(value, Kernel) else getattr(value, "__wrapped__", None)
                if isinstance(kernel, Kernel) and kernel.steps is not None:
                    known[f"{kernel.__module__}.{kernel.__name__}"] = kernel
    return known


@pytest.fixture(scope="module")
def recorded(tmp_path_factory) -> dict[str, list[tuple]]:
    """The arguments of all kernels with steps in runs of bundled policies."""
    calls: dict[str, list[tuple]] = {}
    call = Kernel.__call__

    def recording(self, *args):
        mine = calls.setdefault(f"{self.__module__}.{self.__name__}", [])
        if self.steps is not None and len(mine) < MOST:
            mine.append(copy.deepcopy(args))
        return call(self, *args)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(Kernel, "__call__", recording)
        for name in POLICIES:
            pf.run(PIPELINES / f"{name}.yaml", out=tmp_path_factory.mktemp(name))
    return calls


@pytest.mark.parametrize("name", sorted(kernels()))
def test_python_and_compiled_code_come_to_the_same_bits(recorded, name) -> None:
    kernel, calls = kernels()[name], recorded.get(name, [])
    assert calls, f"no bundled policy here calls {name}: add one that does to POLICIES"
    for args in calls:
        compiled_args, plain_args = copy.deepcopy(args), copy.deepcopy(args)
        of_compiled, of_plain = kernel.dispatcher(*compiled_args), kernel.plainly(*plain_args)
        assert bits(of_plain) == bits(of_compiled)
        assert left(plain_args) == left(compiled_args)
        assert kernel.steps is not None
        assert kernel.steps(*args) >= 0


def test_much_work_is_compiled_and_little_work_is_not(monkeypatch) -> None:
    monkeypatch.setattr(compiled, "PLAIN_STEPS", 1_000)
    monkeypatch.setattr(compiled._PlainWork, "done", 0.0)
    kernel = Kernel(lambda n: n, lambda n: n)
    monkeypatch.setattr(Kernel, "dispatcher", property(lambda _self: lambda n: -n))
    assert kernel(compiled.PLAIN_STEPS // 2) > 0
    assert kernel(compiled.PLAIN_STEPS // 2 + 1) < 0
    assert kernel(compiled.PLAIN_STEPS // 4) > 0
    assert [kernel(compiled.PLAIN_STEPS // 5) > 0 for _ in range(4)] == [True, False, False, False]
    assert Kernel(lambda n: n)(1) < 0


def test_a_kernel_that_a_plain_one_calls_is_plain_too(monkeypatch) -> None:
    monkeypatch.setattr(compiled, "PLAIN_STEPS", 1_000)
    monkeypatch.setattr(compiled._PlainWork, "done", 0.0)
    monkeypatch.setattr(Kernel, "dispatcher", property(lambda _self: pytest.fail("compiled")))
    inner = Kernel(lambda n: n + 1)
    assert Kernel(lambda n: inner(n) * 2, lambda _n: 1)(1) == 4
    assert compiled._plain_work.depth == 0

"""Kernels that Python carries out where the work is little."""

from __future__ import annotations

import pytest

from ppdm_flow.sdk import compiled
from ppdm_flow.sdk.compiled import Kernel


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


def test_python_does_more_before_a_kernel_that_takes_long_to_compile(monkeypatch) -> None:
    monkeypatch.setattr(compiled, "PLAIN_STEPS", 900)
    monkeypatch.setattr(compiled._PlainWork, "done", 0.0)
    monkeypatch.setattr(Kernel, "dispatcher", property(lambda _self: lambda n: -n))
    short, long = (Kernel(lambda n: n, lambda n: n, long=long) for long in (False, True))
    assert short(800) > 0
    assert short(101) < 0
    assert long(200) > 0
    assert short(1) < 0
    assert long(200) > 0
    assert long(1) < 0
    assert compiled.compiled_for(lambda n: n, long=True)(lambda n: n).long


def test_a_kernel_that_a_plain_one_calls_is_plain_too(monkeypatch) -> None:
    monkeypatch.setattr(compiled, "PLAIN_STEPS", 1_000)
    monkeypatch.setattr(compiled._PlainWork, "done", 0.0)
    monkeypatch.setattr(Kernel, "dispatcher", property(lambda _self: pytest.fail("compiled")))
    inner = Kernel(lambda n: n + 1)
    assert Kernel(lambda n: inner(n) * 2, lambda _n: 1)(1) == 4
    assert compiled._plain_work.depth == 0

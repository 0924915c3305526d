"""Policies from text, and plugins that no package brings."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace

import pytest

from ppdm_flow.core.plugin_info import Kind, PluginInfo
from ppdm_flow.plan.compile import CompileResult, compile_policy
from ppdm_flow.policy import load
from ppdm_flow.sdk import registry
from ppdm_flow.sdk.spec import Params, PluginSpec

HEAD = """version: 1
name: example
source: {path: table.csv}
"""

Compile = Callable[..., CompileResult]


@dataclass
class Fakes:
    """Specs beside the installed ones."""

    specs: dict[tuple[str, str], PluginSpec] = field(default_factory=dict)

    def add(
        self,
        name,
        effect,
        *,
        kind=Kind.ROW_WISE,
        randomized=False,
        params=Params,
        group="anonymizers",
        serves=(),
        sets="",
        several_inputs=False,
    ):
        info = PluginInfo(name, kind, f"the fake {name}", randomized=randomized, serves=serves, sets=sets)
        function = effect if callable(effect) else lambda _params, _scope: effect
        self.specs[group, name] = PluginSpec(info, params, "nowhere:Nothing", function, several_inputs=several_inputs)


@pytest.fixture
def fakes(monkeypatch) -> Fakes:
    found = Fakes()
    load_, find_ = registry.load, registry.find

    def load_fake(group, name):
        return found.specs.get((group, name)) or load_(group, name)

    def find_fake(group, name):
        if (group, name) in found.specs:
            return SimpleNamespace(distribution="fakes", version="0")
        return find_(group, name)

    monkeypatch.setattr(registry, "load", load_fake)
    monkeypatch.setattr(registry, "find", find_fake)
    return found


@pytest.fixture
def compiled(tmp_path) -> Compile:
    """Compile a policy given as text (``HEAD`` is put before it)."""

    def compile_(text: str, *, columns=None, data=None, head=HEAD) -> CompileResult:
        path = Path(tmp_path) / "policy.yaml"
        path.write_text(head + text)
        return compile_policy(load(path), columns, data)

    return compile_


@pytest.fixture
def codes(compiled) -> Callable[..., list[str]]:
    """The codes of a policy's diagnostics from 4xx on and from 550 to 699, sorted by place."""

    def of(text: str, **how) -> list[str]:
        found = compiled(text, **how)
        return [d.code for d in found.diagnostics if d.code >= "PPF550" or "PPF4" in d.code]

    return of

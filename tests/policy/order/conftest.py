"""The plain twin and the random policies, as fixtures."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType

import pytest

from ppdm_flow.core.diagnostics import has_errors
from ppdm_flow.policy import load
from ppdm_flow.policy.order import compare


def _module(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"order_{name}", Path(__file__).with_name(f"{name}.py"))
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def twin():
    return _module("twin")


@pytest.fixture(scope="session")
def makers():
    return _module("random_policies")


@pytest.fixture
def written(tmp_path):
    """Write a policy, a map or a text, and load it: None where it has errors."""

    def write(policy, name="p.yaml"):
        path = tmp_path / name
        path.write_text(policy if isinstance(policy, str) else json.dumps(policy), encoding="utf-8")
        loaded = load(path)
        return None if has_errors(loaded.diagnostics) else loaded

    return write


@pytest.fixture
def order(written):
    """Compare two valid policies, the old one first."""

    def compared(old, new):
        before, after = written(old, "old.yaml"), written(new, "new.yaml")
        assert before is not None
        assert after is not None
        return compare(before, after)

    return compared

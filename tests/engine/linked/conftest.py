from __future__ import annotations

from collections.abc import Callable
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

from ppdm_flow import api

_SPEC = spec_from_file_location("plain_join", Path(__file__).with_name("plain_join.py"))
assert _SPEC is not None
assert _SPEC.loader is not None
plain = module_from_spec(_SPEC)
_SPEC.loader.exec_module(plain)

KEY = "0123456789abcdef0011223344556677"
Clinic = Callable[..., Path]


@pytest.fixture
def clinic(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Clinic:
    """Write tables of a clinic with their policy; return the policy's file."""
    monkeypatch.setenv("CLINIC_KEY", KEY)

    return lambda policy, **tables: plain.write(tmp_path, policy, tables)


@pytest.fixture
def run(tmp_path: Path) -> Callable[..., api.RunResult]:
    """Run a policy, and keep what is withheld."""
    return lambda policy, **more: api.run(policy, out=tmp_path / "runs", keep_withheld=True, **more)

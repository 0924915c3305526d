"""Policies written into a temporary folder, and the texts that tests begin with."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from ppdm_flow.policy import PolicyReading, load

Reader = Callable[..., PolicyReading]

START = """\
version: 1
name: test
attributes:
  job: {role: quasi_identifier}
  city: {role: quasi_identifier}
  disease: {role: sensitive}
releases:
  study: {path: study.csv}
"""
"""A policy that lacks only requirements."""


@pytest.fixture
def read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Reader:
    """Write a policy, and files beside it, and load it under the name ``p.yaml``."""
    monkeypatch.chdir(tmp_path)

    def write_and_load(
        text: str | bytes, files: Mapping[str, str] | None = None, sets: Mapping[str, str] | None = None
    ) -> PolicyReading:
        for name, content in (files or {}).items():
            Path(name).parent.mkdir(parents=True, exist_ok=True)
            Path(name).write_text(content, encoding="utf-8")
        data = text if isinstance(text, bytes) else text.encode()
        Path("p.yaml").write_bytes(data)
        return load(Path("p.yaml"), sets or {})

    return write_and_load


@pytest.fixture
def start() -> str:
    return START


def codes(loaded: PolicyReading) -> list[str]:
    return [d.code for d in loaded.diagnostics]


@pytest.fixture(name="codes")
def codes_of() -> Callable[[PolicyReading], list[str]]:
    return codes

"""The examples in docstrings run."""

from __future__ import annotations

import doctest
import importlib
from pathlib import Path

import pytest

import ppdm_flow

PACKAGE = Path(ppdm_flow.__file__).parent


@pytest.mark.slow
def test_examples(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Doctest prints what an example gives instead."""
    monkeypatch.chdir(tmp_path)
    files = [file for file in sorted(PACKAGE.rglob("*.py")) if ">>>" in file.read_text(encoding="utf-8")]
    names = [".".join(file.relative_to(PACKAGE.parent).with_suffix("").parts) for file in files]
    failed = [name for name in names if doctest.testmod(importlib.import_module(name.removesuffix(".__init__"))).failed]
    assert (failed, len(names) > 40) == ([], True)

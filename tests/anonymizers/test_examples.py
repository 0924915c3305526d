"""The examples in the docstrings run."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import pytest

import ppdm_flow.anonymizers

MODULES = [m.name for m in pkgutil.walk_packages(ppdm_flow.anonymizers.__path__, "ppdm_flow.anonymizers.")]


@pytest.mark.slow
def test_examples():
    """Doctest prints what an example gives instead."""
    names = [name for name in MODULES if not name.endswith("spec")]
    assert [name for name in names if doctest.testmod(importlib.import_module(name)).failed] == []


def test_there_are_examples():
    found = [t for name in MODULES for t in doctest.DocTestFinder().find(importlib.import_module(name)) if t.examples]
    assert len(found) >= 8

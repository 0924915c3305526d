"""Steps have examples in their docstrings."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import ppdm_flow.anonymizers


def test_there_are_examples():
    names = [m.name for m in pkgutil.walk_packages(ppdm_flow.anonymizers.__path__, "ppdm_flow.anonymizers.")]
    tests = [t for name in names for t in doctest.DocTestFinder().find(importlib.import_module(name)) if t.examples]
    assert len(tests) >= 8

"""A farm without a cluster, for the tests of this folder."""

from __future__ import annotations

import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def farm_here() -> type:
    """The farm of ``tests/farm.py``."""
    pytest.importorskip("pyspark", reason="the extra `spark` is not installed")
    spec = spec_from_file_location("ppdm_tests_farm", Path(__file__).parents[2] / "farm.py")
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[spec.name] = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.FarmHere

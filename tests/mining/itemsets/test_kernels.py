"""Machine code on disk is good for the sources that it was made from, all of them."""

from __future__ import annotations

import subprocess
import sys

import pytest

from ppdm_flow.mining.itemsets import kernels

MAIN = """import logging, sys
logging.basicConfig(format="%(message)s")
from ppdm_flow.mining.itemsets import kernels
kernels.SOURCES = sys.argv[1]
from ppdm_flow.mining.itemsets.output import sort_within
import numpy as np
items = np.array([2, 1], dtype=np.int32)
sort_within(items, np.array([2]))
print(items.tolist())
"""


@pytest.fixture
def said(tmp_path, root):
    def run(sources):
        done = subprocess.run(
            [sys.executable, "-c", MAIN, sources],
            cwd=root,
            env={"NUMBA_CACHE_DIR": str(tmp_path), "PYTHONPATH": str(root)},
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stdout == "[1, 2]\n"
        return "compiling" in done.stderr

    return run


def test_compiled_anew_where_any_source_changed(said):
    assert [said("one"), said("one"), said("two"), said("two")] == [True, False, True, False]


def test_the_digest_covers_the_rooms():
    assert len(kernels.SOURCES) == 64
    assert kernels._sources() == kernels.SOURCES

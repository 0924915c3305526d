"""Machine code on disk is good for the sources that it was made from, all of them."""

from __future__ import annotations

import numpy as np
import pytest
from numba import config

from ppdm_flow.mining.krimp import compress, occurrences
from ppdm_flow.sdk import compiling
from ppdm_flow.sdk.compiled import ingredients


def double(values):
    return 2 * values[0]


@pytest.mark.parametrize("again", [False, True])
def test_machine_code_on_disk_is_found_for_the_same_ingredients_alone(again, tmp_path, monkeypatch):
    monkeypatch.setattr(config, "CACHE_DIR", str(tmp_path))
    values = np.array([21])
    first = compiling.dispatcher(double, "these ingredients")
    assert first(values) == 42
    second = compiling.dispatcher(double, "these ingredients" if again else "others")
    assert second(values) == 42
    assert sum(second.stats.cache_hits.values()) == again
    assert sum(second.stats.cache_misses.values()) == (not again)


def test_a_kernel_keeps_its_name_defaults_and_closure():
    factor = 3

    def times(x, y=2):
        return factor * x * y

    kernel = compiling.dispatcher(times, "ingredients")
    assert (kernel(5), kernel(5, 3), kernel.py_func(5)) == (30, 45, 30)
    assert (kernel.__name__, kernel.__module__) == ("times", __name__)


def test_what_a_kernel_is_made_of_reaches_over_modules(monkeypatch):
    kernel = compress.search.py_func
    before = ingredients(kernel)
    for module in (compress, occurrences):
        with monkeypatch.context() as patched:
            patched.setattr(module, "A_CONSTANT_OF_A_PART", 3, raising=False)
            assert ingredients(kernel) != before
    assert ingredients(kernel) == before

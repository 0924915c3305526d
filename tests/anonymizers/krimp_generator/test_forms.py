"""Whether Python or compiled code learns the code table must not matter to what is released."""

from __future__ import annotations

import numpy as np
import pytest
from kernel_forms import kernels

from ppdm_flow.sdk import compiled


def people(rows=3000):
    draw = np.random.default_rng(12)
    town = draw.integers(0, 4, rows)
    job = np.where(draw.random(rows) < 0.8, town, draw.integers(0, 9, rows))
    ill = np.where(draw.random(rows) < 0.7, job % 5, draw.integers(0, 5, rows))
    return {"town": [f"t{i}" for i in town], "job": [f"j{i}" for i in job], "ill": [f"i{i}" for i in ill]}


def texts(table):
    return {name: column.texts() for name, column in table.columns.items()}


@pytest.mark.slow(quick=1)
@pytest.mark.parametrize("asked", [{}, {"candidates": "all"}, {"algorithm": "slim"}])
def test_the_same_rows_by_python_and_by_compiled_code(bench, monkeypatch, asked):
    given = bench(people())
    by_compiled, _ = given.rows(2000, min_support=5, **asked)
    monkeypatch.setattr(compiled, "PLAIN_STEPS", 10_000_000)
    monkeypatch.setattr(compiled._PlainWork, "done", 0.0)
    for name, kernel in kernels().items():
        if "generation" not in name:
            monkeypatch.setattr(kernel, "_dispatcher", None)
    by_python, _ = given.rows(2000, min_support=5, **asked)
    assert kernels()["ppdm_flow.mining.krimp.search.search"].compiles_first  # it was not even looked for
    assert 0 < compiled._PlainWork.done < 1_000_000
    assert texts(by_python) == texts(by_compiled)

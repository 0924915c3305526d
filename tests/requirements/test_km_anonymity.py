"""The audit `km_anonymity`: against enumeration, in SQL, and on a planted combination."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from types import SimpleNamespace

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiers import examples

from ppdm_flow.core.attributes import AttributeFacts
from ppdm_flow.core.roles import Role
from ppdm_flow.requirements.km_anonymity import algorithm
from ppdm_flow.requirements.km_anonymity.requirement import KmAnonymity
from ppdm_flow.sdk.audit import AuditContext
from ppdm_flow.sdk.registry import load
from ppdm_flow.tables.column import Column
from ppdm_flow.tables.schema import Field, Schema
from ppdm_flow.tables.sets import Baskets
from ppdm_flow.tables.table import Table
from ppdm_flow.testing.view import InMemoryView

AUDIT = load("audits", "km_anonymity").load()(load("audits", "km_anonymity").params())
SETS = st.lists(st.frozensets(st.sampled_from("abcdef"), max_size=4), max_size=25)


def twin(rows, weights, m):
    """The smallest support of an itemset of exactly m items that occurs; 0 for none."""
    found = Counter()
    for row, weight in zip(rows, weights, strict=True):
        for items in combinations(sorted(row), m):
            found[items] += weight
    return min((n for n in found.values() if n), default=0)


def case(rows, weights=None, k=3, m=2, name="basket"):
    columns = {} if weights is None else {"w": Column.of([str(w) for w in weights])}
    table = Table(columns, np.arange(len(rows), dtype=np.int64), {name: Baskets.of(rows)})
    fields = [Field(name, Role.ITEMS), *([Field("w", Role.WEIGHT)] if weights is not None else [])]
    view = InMemoryView(table, Schema(tuple(fields)))
    cells = {name: pa.array([sorted(r) for r in rows], pa.list_(pa.string()))}
    if weights is not None:
        cells["w"] = pa.array([str(w) for w in weights])
    held = pa.table(cells)

    def query(text, parameters=(), _tables=()):
        with duckdb.connect(config={"threads": 1}) as connection:
            connection.register("candidate", held)
            return connection.execute(text, list(parameters)).fetchall()

    ctx = AuditContext(
        release="public",
        attributes={name: AttributeFacts(name, Role.ITEMS, source="basket")},
        original_attributes={"basket": AttributeFacts("basket", Role.ITEMS, source="basket")},
        requirements=(KmAnonymity.of("privacy.km_anonymity", attribute="basket", k=k, m=m),),
        sql=SimpleNamespace(rows=query),
    )
    return view, view, ctx


@pytest.mark.slow
@examples(20)
@given(rows=SETS, m=st.integers(1, 4), data=st.data())
def test_enumeration_and_recheck(rows, m, data):
    weights = data.draw(st.none() | st.lists(st.integers(0, 3), min_size=len(rows), max_size=len(rows)))
    example = case(rows, weights, m=m)
    figures = {name: f.value for name, f in AUDIT.measure(*example).figures.items()}
    assert AUDIT.recheck(*example) == figures
    by_size = [twin(rows, weights or [1] * len(rows), size) for size in range(1, m + 1)]
    assert [figures[f"privacy.km_anonymity.k_{i}"] for i in range(1, m + 1)] == by_size
    assert figures["privacy.km_anonymity.k"] == min((n for n in by_size if n), default=0)


def test_the_kernel_is_its_plain_self(monkeypatch):
    rows = [[str(i) for i in np.random.default_rng(r).choice(7, 4, replace=False)] for r in range(30)]
    sets = Baskets.of(rows)
    compiled = algorithm.smallest(sets.offsets, sets.items, np.ones(30, dtype=np.int64), np.arange(30) // 2, 3, 7)
    monkeypatch.setattr(algorithm, "_count", algorithm._count.py_func)
    plain = algorithm.smallest.py_func(sets.offsets, sets.items, np.ones(30, dtype=np.int64), np.arange(30) // 2, 3, 7)
    assert compiled.tolist() == plain.tolist()


def test_a_planted_pair_is_found():
    rows = [["bread", "milk"]] * 40 + [["bread", "wine"]] * 40 + [["milk", "wine"]]
    (measured,) = AUDIT.measure(*case(rows, k=5)).measured
    assert (measured.figure.value, measured.bound, measured.at_most) == (1, 5.0, False)
    assert "2 items" in measured.sentence
    assert "wine" not in measured.sentence
    (alone,) = AUDIT.measure(*case(rows, k=5, m=1)).measured
    assert alone.figure.value == 41


def test_not_released_and_nothing_in_the_sets():
    view, _, ctx = case([["a"]], name="other")
    gone = AuditContext("public", {}, ctx.original_attributes, ctx.requirements)
    (measured,) = AUDIT.measure(view, InMemoryView.of(Table({}, np.arange(1))), gone).measured
    assert (measured.figure.value, measured.bound) == (0, 0.0)
    (measured,) = AUDIT.measure(*case([[], []])).measured
    assert measured.figure.value == 0
    assert "nothing to measure" in measured.sentence


def test_renamed_sets():
    example = case([["a"], ["a"]], name="cart")
    assert AUDIT.measure(*example).figures["privacy.km_anonymity.k"].value == 2
    assert AUDIT.recheck(*example)["privacy.km_anonymity.k"] == 2

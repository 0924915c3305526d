"""Supports of rows in two tables, the Anonymity Score and the blend: against plain twins, and by hand."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiers import examples

from ppdm_flow.mining import anonymity as supports_module
from ppdm_flow.mining.anonymity import (
    ByInterval,
    anonymity_score,
    blend,
    exact,
    fingerprints,
    grouped,
    joint_supports,
    of_tables,
    tallies,
    tally,
)
from ppdm_flow.tables.column import Column
from ppdm_flow.tables.counts import count
from ppdm_flow.tables.table import Table

CELLS = st.tuples(*[st.sampled_from([None, "⊥", "", "a", "b"])] * 3)
ROWS = st.lists(st.tuples(CELLS, st.integers(0, 3)), max_size=25)


def table(rows):
    columns = {name: [cells[i] for cells, _ in rows] for i, name in enumerate("abc")}
    return Table.of({**columns, "w": [str(w) for _, w in rows]})


def counter(rows):
    found = Counter()
    for cells, weight in rows:
        found[cells] += weight
    return Counter({cells: n for cells, n in found.items() if n})


def plain_score(original, released):
    """AS(p, o) by the book, row by row."""
    total = Fraction(0)
    for support in set(original.values()):
        having = [t for t, n in original.items() if n == support]
        total += Fraction(sum(t in released for t in having), len(having)) / support
    return total


@examples(60)
@given(before=ROWS, after=ROWS, size=st.integers(1, 30), below=st.integers(1, 6))
def test_against_a_twin(before, after, size, below):
    def parts(rows):
        return tallies((table(rows[i : i + size]) for i in range(0, len(rows), size)), "abc", [exact] * 3, "w")

    joint = joint_supports(parts(before), parts(after))
    original, released = counter(before), counter(after)
    every = Counter((original[t], released[t]) for t in {*original, *released})
    pairs = zip(joint.original.tolist(), joint.released.tolist(), joint.distinct.tolist(), strict=True)
    assert {(o, p): n for o, p, n in pairs} == every
    assert (joint.original_rows, joint.released_rows) == (original.total(), released.total())

    score = anonymity_score(joint)
    assert score.score == pytest.approx(float(plain_score(original, released)), rel=1e-12)
    assert score.highest == pytest.approx(float(plain_score(original, original)), rel=1e-12)
    assert score.supports.tolist() == sorted(set(original.values()))
    assert score.matched.sum() == sum(t in released for t in original)

    found = blend(joint, below, below)
    rare = {t: n for t, n in released.items() if n < below}
    assert found.rare_released == sum(rare.values())
    assert found.rare[0] == sum(n for t, n in rare.items() if 0 < original[t] < below)
    assert found.absent == (
        sum(n for t, n in rare.items() if t not in original),
        sum(n for t, n in released.items() if t not in rare and t not in original),
    )
    assert sum(found.absent + found.rare + found.common) == released.total()
    assert found.original_rare == sum(n for n in original.values() if n < below)
    assert found.original_rare_found == sum(n for t, n in original.items() if n < below and t in released)
    assert found.share == (found.rare[0] / found.rare_released if found.rare_released else 0.0)


@examples(20)
@given(before=ROWS, after=ROWS)
def test_counted_tables_are_the_same(before, after):
    counts = [count(table(rows), "abc", "w") for rows in (before, after)]
    one = of_tables(*counts)
    levels = [exact] * 3
    other = joint_supports(tallies([table(before)], "abc", levels, "w"), tallies([table(after)], "abc", levels, "w"))
    for name in ("original", "released", "distinct"):
        assert getattr(one, name).tolist() == getattr(other, name).tolist()


def test_by_hand():
    """Supports 1, 1, 2: one of the two rows of support 1 is released. AS = 1/2 + 0, AS(o, o) = 1 + 1/2."""
    original = count(Table.of({"a": ["x", "y", "z", "z"]}), ["a"])
    released = count(Table.of({"a": ["x", "x", "q"]}), ["a"])
    score = anonymity_score(of_tables(original, released))
    assert score.score == 0.5
    assert score.highest == 1.5
    assert score.normalised == pytest.approx(1 / 3)
    assert score.shares.tolist() == [0.5, 0.0]


def test_copies_and_strangers():
    original = count(Table.of({"a": ["x", "y", "z", "z"]}), ["a"])
    strangers = count(Table.of({"a": ["q", "r"]}), ["a"])
    assert anonymity_score(of_tables(original, original)).normalised == 1.0
    assert blend(of_tables(original, original), 3, 3).share == 1.0
    assert anonymity_score(of_tables(original, strangers)).normalised == 0.0
    assert blend(of_tables(original, strangers), 3, 3).share == 0.0
    nothing = count(Table.of({"a": []}), ["a"])
    assert anonymity_score(of_tables(original, nothing)).normalised == 0.0
    assert anonymity_score(of_tables(nothing, original)).normalised == 0.0
    assert blend(of_tables(original, nothing), 3, 3).share == 0.0


def test_fingerprints_do_not_depend_on_codes_but_on_places():
    one = Column.of(["x", None, "⊥", "y"])
    other = Column(np.array([2, -1, -2, 0], dtype=np.int32), pa.array(["y", "unused", "x"]))
    first, second = (fingerprints([c, c], [exact] * 2, 4) for c in (one, other))
    assert all(np.array_equal(a, b) for a, b in zip(first, second, strict=True))
    swapped = fingerprints([one, Column.of(["y", None, "⊥", "x"])], [exact] * 2, 4)
    back = fingerprints([Column.of(["y", None, "⊥", "x"]), one], [exact] * 2, 4)
    assert swapped[0][0] != back[0][0]
    assert swapped[1][0] != back[1][0]


def test_rows_that_share_half_a_fingerprint_stay_apart():
    high = np.array([7, 7, 7, 7, 1], dtype=np.uint64)
    low = np.array([2, 1, 2, 1, 1], dtype=np.uint64)
    order, first = grouped(high, low)
    assert len(first) == 3
    found = tally(high, low, np.array([1, 10, 100, 1000, 5]))
    assert sorted(found.weights.tolist()) == [5, 101, 1010]
    assert len(set(zip(found.high.tolist(), found.low.tolist(), strict=True))) == 3
    del order


def test_any_number_of_buckets_gives_the_same(monkeypatch):
    rng = np.random.default_rng(3)
    tables = [Table.of({"a": [str(v) for v in rng.geometric(0.02, 400)]}) for _ in range(2)]
    whole = of_tables(*(count(t, ["a"]) for t in tables))
    monkeypatch.setattr(supports_module, "_BUCKET", 3)
    pieces = of_tables(*(count(t, ["a"]) for t in tables))
    for name in ("original", "released", "distinct"):
        assert getattr(whole, name).tolist() == getattr(pieces, name).tolist()
    assert whole.original_rows == 400


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("-5", 0),
        ("< 0", 0),
        ("0", 1),
        ("17.999", 1),
        ("[0, 18.5)", 1),
        ("18.5", 2),
        (" 6e1\t", 2),
        ("[18.5, 65)", 2),
        ("65", 3),
        (">= 65", 3),
        ("1e300", 3),
    ],
)
def test_numbers_and_names_of_intervals(text, place):
    level = ByInterval((0.0, 18.5, 65.0))
    assert level(pa.array([text])).to_pylist() == [f"\x1f{place}"]
    assert level.covers(pa.array([text]))


@pytest.mark.parametrize("text", ["", "many", "nan", "inf", "1_000", "0x1", "[0, 65)", "1 2", "6e", "\x1f"])
def test_other_texts_stay_what_they_are(text):
    level = ByInterval((0.0, 18.5, 65.0))
    assert level(pa.array([text, "1"])).to_pylist() == [text, "\x1f1"]
    assert level.covers(pa.array([text])) is False
    assert level.covers(pa.array([], pa.string()))

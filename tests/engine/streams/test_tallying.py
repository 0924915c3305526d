"""Counting in released files of any size, and only in the rows that are wanted."""

from __future__ import annotations

from collections import Counter

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ppdm_flow.core.errors import DataError, RunError
from ppdm_flow.engine.streams import tallying
from ppdm_flow.engine.streams.tallying import tally

CELLS = st.sampled_from(["a", "b", "", None, "⊥"])


class Memory:
    """A source of batches of three rows."""

    def __init__(self, rows):
        self.rows = rows

    def names(self):
        return ("one", "two", "three")

    def batches(self, columns):
        places = [self.names().index(c) for c in columns]
        for start in range(0, len(self.rows), 3):
            part = self.rows[start : start + 3]
            arrays = [pa.array([row[p] for row in part], pa.string()) for p in places]
            yield pa.RecordBatch.from_arrays(arrays, names=list(columns))


def plain(rows, wanted):
    texts = {None: "", "⊥": "⊥"}
    kept = [r for r in rows if all(texts.get(r[i], r[i]) in values for i, values in wanted.items())]
    return Counter((r[2], r[0]) for r in kept)


def counted(counts):
    names = {c: [*counts.names(c).to_pylist(), "⊥", None] for c in counts.columns}
    rows = counts.codes.tolist()
    keys = [tuple(names[c][code] for c, code in zip(counts.columns, row, strict=True)) for row in rows]
    return Counter(dict(zip(keys, counts.counts.tolist(), strict=True)))


@given(
    st.lists(st.tuples(CELLS, CELLS, CELLS), min_size=1, max_size=40),
    st.dictionaries(st.integers(0, 2), st.sets(st.sampled_from(["a", "b", "", "⊥", "c"]), min_size=1), max_size=2),
)
def test_counts_are_those_of_a_plain_loop(rows, wanted):
    names = ("one", "two", "three")
    found = tally(Memory(rows), ("three", "one"), {names[i]: tuple(v) for i, v in wanted.items()}, "`f`")
    assert (Counter() if found is None else counted(found)) == plain(rows, wanted)


def test_partitions_are_merged_on_the_way(monkeypatch):
    monkeypatch.setattr(tallying, "_ROWS", 2)
    monkeypatch.setattr(tallying, "_AT_ONCE", 3)
    rows = [("a", "b", str(i % 5)) for i in range(101)]
    found = tally(Memory(rows), ("three", "one"), {}, "`f`")
    assert counted(found) == plain(rows, {})


@pytest.mark.parametrize("where", [((), {"tow": ("a",)}), (("tow",), {})])
def test_a_column_that_is_not_there(where):
    columns, wanted = where
    with pytest.raises(DataError) as caught:
        tally(Memory([("a", "b", "c")]), ("one", *columns), wanted, "`f`")
    (found,) = caught.value.diagnostics
    assert (found.code, found.hint) == ("PPF763", "did you mean `two`?")


def test_a_reader_that_fails_is_named_without_what_it_quotes():
    class Broken(Memory):
        def batches(self, columns):
            raise ValueError("secret cell")

    with pytest.raises(RunError) as caught:
        tally(Broken([]), ("one",), {}, "`f`")
    assert "secret" not in str(caught.value)

"""Tables that are larger than what is looked at, and what keeps them small."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from ppdm_flow.reader import candidates, row_kinds
from ppdm_flow.reader.candidates import met_by, sum_products
from ppdm_flow.reader.faults import JoinTooLargeError, NotVerifiedError
from ppdm_flow.reader.query import tables
from ppdm_flow.reader.query.query_reader import QueryReader
from ppdm_flow.reader.query.tables import QueryTables
from ppdm_flow.reader.row_kinds import joined, rows_of
from tests.reader.database import database
from tests.reader.drawn import asked, built, column


@pytest.mark.parametrize(("number", "too_many"), [(5, False), (6, True)])
def test_a_join_has_no_more_cells_than_are_looked_at(
    monkeypatch: pytest.MonkeyPatch, number: int, *, too_many: bool
) -> None:
    """Rows of three columns, fifteen cells; what does not meet does not count."""
    monkeypatch.setattr(row_kinds, "MOST_CELLS", 15)
    one = pd.DataFrame({"k": [0, 1], "a": [1, 2]})
    other = pd.DataFrame({"k": [0] * number + [2] * 9, "b": range(number + 9)})
    apart = pd.DataFrame({"b": [0] * number}), pd.DataFrame({"c": [0], "d": [1]})
    for pair in ((one, other), (other, one), apart):
        if too_many:
            with pytest.raises(JoinTooLargeError):
                joined(*pair)
        else:
            assert len(joined(*pair)) == number


@pytest.mark.parametrize("order", [slice(None), slice(None, None, -1)])
def test_parts_that_meet_any_other_need_no_more_room_than_what_meets(
    monkeypatch: pytest.MonkeyPatch, order: slice
) -> None:
    """A known row fits one row of each kind, and an absent row belongs to any."""
    parts = range(40)
    pairs = pd.DataFrame([(p, p) for p in parts] + [(40, p) for p in parts], columns=["one", "other"])
    one = pd.DataFrame({"known": [*parts, *parts], "one": [*parts, *[40] * 40]})
    other = pd.DataFrame({"known": parts, "other": parts})
    expected = one.merge(pairs, on="one").merge(other, on=["known", "other"])
    monkeypatch.setattr(row_kinds, "MOST_CELLS", 5 * len(expected))
    met = met_by(one[order], other, pairs[order])
    columns = ["known", "one", "other"]
    assert sorted(met[columns].itertuples(index=False)) == sorted(expected[columns].itertuples(index=False))


@pytest.mark.parametrize("seed", range(5))
def test_products_of_rows_are_those_of_the_matrices(monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    """With a row that meets all others, rows without cells, several blocks, and no rows at all."""
    draw = np.random.default_rng(seed)
    one, other = (draw.random((many, 30)) * (draw.random((many, 30)) < 0.2) for many in (40, 25))
    one[7], other[3], one[5] = 1, 1, 0
    monkeypatch.setattr(candidates, "PRODUCTS_AT_ONCE", 50)
    rows, columns = draw.integers(0, 40, 300), draw.integers(0, 25, 300)
    for count in (300, 0):
        asked = one, rows[:count], other, columns[:count]
        sums = sum_products(*(sparse.csr_array(x) if x.ndim == 2 else x for x in asked))
        assert sums == pytest.approx((one @ other.T)[rows[:count], columns[:count]])
    monkeypatch.setattr(candidates, "MOST_PRODUCTS", 50)
    with pytest.raises(JoinTooLargeError):
        sum_products(sparse.csr_array(one), rows, sparse.csr_array(other), columns)


@pytest.mark.parametrize(("number", "too_many"), [(4, False), (5, True)])
def test_a_query_has_no_more_rows_than_are_looked_at(
    monkeypatch: pytest.MonkeyPatch, number: int, *, too_many: bool
) -> None:
    monkeypatch.setattr(tables, "MOST_ROWS", 4)
    base = QueryTables(database())
    if too_many:
        with pytest.raises(JoinTooLargeError):
            base.keep(f"SELECT * FROM range({number})")
    else:
        assert base.rows(f"SELECT count(*) FROM {base.keep(f'SELECT * FROM range({number})')}") == [(number,)]


def test_columns_that_tell_nothing_of_a_question_do_not_tell_rows_apart() -> None:
    """``c`` reveals ``a`` through the label of both; ``b``, another in each row, reveals nothing that is asked."""
    columns = [column("b", [0, 1, 2]), column("ac", [0, 1, 1], "a", "c"), column("c", [0, 1, 1])]
    table = asked(["a", "b", "c"], [[0, 0, 0], [0, 1, 1], [0, 2, 1]], [{"columns": columns}])
    source, files, question = built(table)
    (rows,) = rows_of(source, files, question)
    (file,) = QueryReader(database(), source, files, question, by_row=False).files
    assert [c.name for c in rows.columns.values()] == [c.column.name for c in file.columns] == ["ac", "c"]
    assert rows.kind.tolist() == [0, 1, 1]


def test_what_memory_is_not_enough_for_is_not_verified() -> None:
    small = database()
    small.execute("SET memory_limit = '4MB'")
    small.execute("SET temp_directory = ''")
    with pytest.raises(NotVerifiedError):
        QueryTables(small).keep("SELECT range AS n, md5(range::VARCHAR) AS m FROM range(1_000_000)")


def test_a_query_that_fails_quotes_nothing() -> None:
    base = QueryTables(database())
    with pytest.raises(RuntimeError) as fault:
        base.rows("SELECT CAST(secret AS INTEGER) FROM (SELECT 'secret value' AS secret)")
    assert str(fault.value) == "a query failed: ConversionException"


def test_tables_are_given_up_but_those_that_are_named() -> None:
    base = QueryTables(database())
    kept, left = (base.keep("SELECT * FROM range(3)") for _ in range(2))
    put = base.put_arrays({"n": [1, 2]})
    base.keep_only([kept])
    assert base.rows(f"SELECT count(*) FROM {kept}") == [(3,)]
    for name in (left, put):
        assert name not in base
        with pytest.raises(RuntimeError):
            base.rows(f"SELECT count(*) FROM {name}")

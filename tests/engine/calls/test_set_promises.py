"""Plugins that lose, change or spoil a column of sets, and what SQL sees of sets."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest

from ppdm_flow.core.attributes import AttributeFacts, Change
from ppdm_flow.core.errors import RunError
from ppdm_flow.core.roles import Role
from ppdm_flow.engine.calls.lending import Loan
from ppdm_flow.engine.calls.promises import check_generated, check_partition, check_table
from ppdm_flow.engine.local.sql import DuckSql
from ppdm_flow.engine.local.transforms import MemoryStream
from ppdm_flow.engine.local.writing import batch, stream_of
from ppdm_flow.engine.opening.opening import open_sink
from ppdm_flow.engine.streams.reading import Budget
from ppdm_flow.engine.streams.stream import Stop
from ppdm_flow.plan.definition import ReleaseNode
from ppdm_flow.sdk.spec import Effect
from ppdm_flow.tables.sets import Baskets, PackedSets
from ppdm_flow.tables.table import Table

FACTS = (AttributeFacts("town", Role.QUASI_IDENTIFIER), AttributeFacts("basket", Role.ITEMS))
ROWS = [["a", "b"], [], ["c"], ["a"]]


def node(effect=None, distribution="ppdm_flow"):
    info = SimpleNamespace(name="faulty")
    return SimpleNamespace(
        name="step", effect=effect or Effect(), bound=SimpleNamespace(info=info, distribution=distribution)
    )


def table() -> Table:
    return Table.of({"town": ["x", "y", "x", None]}).resettled({"basket": Baskets.of(ROWS)})


def only_columns(whole):
    """What code that knows nothing of sets does."""
    return Table(dict(whole.columns), whole.rows)


def moved(whole):
    return whole.resettled({"basket": whole.sets["basket"].take(np.array([1, 0, 2, 3]))})


def as_cells(whole):
    return Table({**whole.columns, "basket": whole["town"]}, whole.rows)


def packed(whole):
    return whole.resettled({"basket": PackedSets.of(whole.sets["basket"])})


def malformed(whole):
    basket = whole.sets["basket"]
    return whole.resettled({"basket": replace(basket, items=np.array([1, 0, 2, 0], dtype=np.int32))})


@pytest.mark.parametrize("spoil", [only_columns, moved, as_cells, packed, malformed])
def test_nothing_happens_to_sets_unsaid(spoil):
    whole = table()
    for check in (check_partition, check_table):
        with pytest.raises(RunError) as caught:
            check(node(), whole, spoil(whole), FACTS)
        assert caught.value.diagnostics[0].code == "PPF905"
        assert "basket" in caught.value.diagnostics[0].message


@pytest.mark.parametrize("spoil", [only_columns, as_cells, malformed])
def test_a_step_that_changes_sets_still_returns_sets(spoil):
    whole = table()
    effect = Effect(changes={"basket": Change.OTHER})
    with pytest.raises(RunError):
        check_partition(node(effect), whole, spoil(whole), FACTS)
    for good in (moved, packed):
        check_partition(node(effect), whole, good(whole), FACTS)


def test_a_generator_that_forgets_the_sets():
    with pytest.raises(RunError):
        check_generated(node(), table().rows, only_columns(table()), FACTS)


def test_another_alphabet_is_no_change():
    whole = table()
    wider = whole.sets["basket"].onto(pa.array(["c", "z", "b", "a"]))
    check_partition(node(), whole, whole.resettled({"basket": wider}), FACTS)


def test_another_distributions_plugin_cannot_write_into_sets():
    for whole in (table(), packed(table())):
        given = Loan.of(node(distribution="acme"), whole).theirs.sets["basket"]
        array = given.items if isinstance(given, Baskets) else given.words
        with pytest.raises(ValueError, match="read-only"):
            array[:] = 0


@pytest.mark.parametrize(("kind", "form"), [("parquet", "baskets"), ("baskets", "baskets"), ("parquet", "packed")])
def test_what_sql_sees_of_sets(tmp_path, kind, form):
    facts = FACTS if kind == "parquet" else FACTS[1:]
    whole = table() if form == "baskets" else packed(table())
    whole = whole.select([f.name for f in facts])
    release = ReleaseNode("r", "source", f"t.{kind}", kind, {}, "internal", facts)
    file = tmp_path / release.path
    sink = open_sink(release, file, tuple(f.name for f in facts))
    sink.write(batch(whole, tuple(f.name for f in facts)))
    sink.close()
    (tmp_path / "private").mkdir()
    candidate = stream_of(release, file, 3, Budget(1 << 20), Stop())
    original = MemoryStream(table(), FACTS, 2, Stop())
    sql = DuckSql(release, file, original, candidate, tmp_path / "private", 2)
    try:
        assert sql.rows("SELECT town, len(basket) FROM original ORDER BY ALL") == [
            ("x", 1),
            ("x", 2),
            ("y", 0),
            (None, 1),
        ]
        if form == "baskets":
            found = sql.rows("SELECT item, count(*) FROM (SELECT unnest(basket) AS item FROM candidate) GROUP BY 1")
            assert sorted(found) == [("a", 2), ("b", 1), ("c", 1)]
        else:
            found = sql.rows("SELECT basket.size, octet_length(basket.bits) FROM candidate ORDER BY ALL")
            assert found == [(0, 8), (1, 8), (1, 8), (2, 8)]
    finally:
        sql.close()

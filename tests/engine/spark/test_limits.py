"""What may come to the driver: whole tables, relations of SQL that Spark cannot group, keys of linked tables."""

from __future__ import annotations

from pathlib import Path

import pytest

from ppdm_flow.core.attributes import AttributeFacts
from ppdm_flow.core.errors import RunError
from ppdm_flow.core.roles import Role
from ppdm_flow.engine.linked.sources import in_order
from ppdm_flow.engine.spark import source
from ppdm_flow.engine.spark.engine import SparkEngine
from ppdm_flow.engine.spark.sql import SparkSql
from ppdm_flow.engine.spark.tallies import SparkPairs
from ppdm_flow.engine.streams.reading import ReadOptions
from ppdm_flow.engine.streams.view import StreamView
from ppdm_flow.plan.cluster.amounts import table_bytes
from ppdm_flow.plan.definition import ReleaseNode
from ppdm_flow.sdk import registry
from ppdm_flow.sdk.paired_relation import PairedRelation

ROWS = 1000
FACTS = tuple(AttributeFacts(name, Role.QUASI_IDENTIFIER) for name in ("town", "job"))
TOWNS = ("a", "b", "c")


@pytest.fixture
def loaded(farm_here, monkeypatch, tmp_path):
    """Make a source of so many rows, of which the driver may hold ``limit`` bytes."""
    monkeypatch.setattr(source, "FRAGMENT_ROWS", 20)
    path = tmp_path / "table.csv"
    path.write_text("town,job\n" + "".join(f"{TOWNS[i % 3]},{i % 7}\n" for i in range(ROWS)), encoding="utf-8")
    spec = registry.load("sources", "csv")

    def make(limit: int | None):
        made = source.SparkSource(
            farm_here(),
            spec.load()(spec.params(), path),
            FACTS,
            ReadOptions({"town": "town", "job": "job"}),
            limit,
        )
        made.load()
        return made

    return make


class Duck:
    """The driver's SQL, which tells what it was given."""

    def __init__(self) -> None:
        self.given: dict[str, object] = {}

    def rows(self, query, parameters=(), tables=None):  # the protocol's
        self.given = dict(tables or {})
        return []

    table = rows

    def close(self) -> None:
        self.given = {}


def route(stream, place: Path | None = Path("released.csv")) -> tuple[SparkSql, Duck]:
    duck = Duck()
    release = ReleaseNode("study", "source", "study.csv", "csv", {}, "public", FACTS)
    return SparkSql(duck, stream.farm, release, place, stream, stream, {}), duck


def paired(stream):
    return stream, PairedRelation(SparkPairs(stream, stream), ("town",), ("job",), None)


def refused(call) -> str:
    with pytest.raises(RunError) as caught:
        call()
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.code == "PPF953"
    return diagnostic.message


def test_a_view_gives_its_whole_table_only_where_there_is_room(loaded) -> None:
    room = table_bytes(ROWS, 2)
    assert len(StreamView(loaded(room)).table()) == ROWS
    assert "1,000 rows of 2 columns" in refused(lambda: StreamView(loaded(room - 1)).table())
    assert len(StreamView(loaded(room - 1)).table(["town"])) == ROWS
    assert len(StreamView(loaded(0)).sample(10)) == 10
    assert len(StreamView(loaded(None)).table()) == ROWS


def test_a_relation_that_is_not_grouped_comes_only_where_there_is_room(loaded) -> None:
    query = "SELECT r0, ROW_NUMBER() OVER () FROM paired"
    stream, relation = paired(loaded(ROWS * 64))
    sql, duck = route(stream)
    sql.rows(query, (), {"paired": relation})
    assert duck.given["paired"].num_rows == ROWS
    sql.table(query, (), {"paired": relation})
    assert stream.farm.asked_for["waves"] == 1
    sql.close()
    small, relation = paired(loaded(table_bytes(ROWS, 4) - 1))
    assert "study" in refused(lambda: route(small)[0].rows(query, (), {"paired": relation}))
    assert "waves" not in small.farm.asked_for


def test_a_relation_whose_texts_are_long_is_refused_while_it_comes(loaded) -> None:
    stream, relation = paired(loaded(table_bytes(ROWS, 4)))
    sql, _ = route(stream)
    text = refused(lambda: sql.rows("SELECT * FROM paired", (), {"paired": relation}))
    assert "have come" in text


def test_a_stream_that_sql_reads_comes_only_where_there_is_room(loaded) -> None:
    room = table_bytes(ROWS, 2)
    query = "SELECT town FROM original WHERE job = '1'"
    sql, _ = route(loaded(room))
    assert sql.rows(query) == []
    small = loaded(room - 1)
    assert "original" not in refused(lambda: route(small)[0].rows(query))
    sql, _ = route(small)
    assert sql.rows("SELECT town, COUNT(*) FROM original GROUP BY 1") == []
    assert sql.rows("SELECT town FROM candidate") == []
    refused(lambda: route(small, None)[0].rows("SELECT town FROM candidate"))
    refused(lambda: route(small)[0].rows("SELECT town FROM original WHERE (("))


def test_keys_of_linked_tables_come_only_where_there_is_room(loaded) -> None:
    assert len(in_order(loaded(table_bytes(ROWS, 1)), ["town"])) == ROWS
    assert "linked tables" in refused(lambda: in_order(loaded(table_bytes(ROWS, 1) - 1), ["town"]))


def test_few_fragments_come_at_once_however_many_executors_there_are(loaded) -> None:
    """What :data:`ROWS_AT_ONCE` says of a plan: two waves, and a million rows a fragment."""
    from ppdm_flow.engine.spark import farm
    from ppdm_flow.plan.cluster.amounts import ROWS_AT_ONCE

    assert 2 * farm._AT_ONCE * (1 << 20) == ROWS_AT_ONCE


def test_the_engine_tells_its_streams_what_the_run_may_hold(farm_here, tmp_path) -> None:
    from ppdm_flow.engine.seam import Resources
    from ppdm_flow.engine.streams.reading import Budget
    from ppdm_flow.engine.streams.stream import Stop

    path = tmp_path / "t.csv"
    path.write_text("town,job\na,1\n", encoding="utf-8")
    spec = registry.load("sources", "csv")
    opened = SparkEngine(farm_here()).source(
        spec.load()(spec.params(), path),
        FACTS,
        ReadOptions({"town": "town", "job": "job"}),
        Resources(10, Budget(77), Stop()),
    )
    assert opened.limit == 77

"""Rows that are alike, counted once for all queries, against DuckDB over the rows themselves."""

from __future__ import annotations

import csv
import gc
import threading
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st
from tiers import examples

from ppdm_flow.core.attributes import AttributeFacts
from ppdm_flow.core.roles import Role
from ppdm_flow.engine.spark import source
from ppdm_flow.engine.spark import sql as combinations
from ppdm_flow.engine.spark.sql import CombinationsOfStreams, SparkSql, TextsFrame
from ppdm_flow.engine.streams.reading import ReadOptions
from ppdm_flow.engine.streams.view import StreamView
from ppdm_flow.plan.definition import ReleaseNode
from ppdm_flow.sdk import registry

NAMES = ("town", "Town", "job", "rows_alike", "age", "note")
FACTS = tuple(AttributeFacts(name, Role.QUASI_IDENTIFIER) for name in NAMES)
RELEASED = tuple(each for each in FACTS if each.name not in ("Town", "rows_alike"))
GROUPED = (
    "SELECT town, job, count(*) AS n FROM {} GROUP BY town, job",
    "SELECT job, count(*) AS n FROM {} GROUP BY ALL HAVING count(*) > 2",
    "SELECT min(n), count(*), sum(n) FROM (SELECT count(*) AS n FROM {} GROUP BY town, age, job)",
    "SELECT count(*) FROM {}",
    "SELECT count(*) FILTER (WHERE town = 'a'), count(*) FILTER (WHERE town IS NULL) FROM {}",
    "SELECT age, max(job), sum(CAST(age AS BIGINT)) AS s, min(town) FROM {} AS c WHERE c.age IS NOT NULL GROUP BY age",
    "SELECT sum(CASE WHEN town = 'a' THEN 1 ELSE 0 END), count(*) * 2 FROM {} WHERE job <> 'b'",
    "SELECT town, count(job), count(DISTINCT age) FROM {} GROUP BY 1",
    "WITH x AS (SELECT town, count(*) AS n FROM {} GROUP BY town) SELECT a.town, b.n FROM x a JOIN x b ON a.n = b.n",
)
CELL = st.sampled_from(["a", "b", "", "⊥"])
ROW = st.tuples(CELL, CELL, CELL, CELL, st.sampled_from(["1", "2", "10", ""]), st.text("xyz", max_size=3))


class Duck:
    """The driver's SQL, over the relations that it is given and those that are there always."""

    def __init__(self, **always: pa.Table) -> None:
        self._always = always

    def rows(self, query, parameters=(), tables=None):
        return self.table(query, parameters, tables).to_pylist()

    def table(self, query, parameters=(), tables=None):
        with duckdb.connect() as opened:
            for name, relation in {**self._always, **(tables or {})}.items():
                opened.register(name, relation)
            return opened.sql(query, params=list(parameters)).to_arrow_table()

    def close(self) -> None: ...


def stream_of(farm, path: Path, rows, facts) -> source.SparkSource:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow([fact.name for fact in facts])
        writer.writerows(rows)
    spec = registry.load("sources", "csv")
    names = {fact.name: fact.name for fact in facts}
    made = source.SparkSource(farm, spec.load()(spec.params(), path), facts, ReadOptions(names, missing=("",)))
    made.load()
    return made


def plain(rows, facts) -> pa.Table:
    columns = {fact.name: [row[place] or None for row in rows] for place, fact in enumerate(facts)}
    return pa.table({name: pa.array(cells, pa.string()) for name, cells in columns.items()})


def sets_of(rows: list[dict]) -> list[tuple]:
    return sorted(tuple(map(repr, row.values())) for row in rows)


@pytest.mark.random
@given(st.lists(ROW, min_size=1, max_size=60), st.sampled_from([0, 30, 1 << 18]))
@examples(10, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_queries_over_combinations_are_those_over_rows(farm_here, tmp_path, rows, most) -> None:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(source, "FRAGMENT_ROWS", 7)
        patched.setattr(combinations, "MOST", most)
        released = [(row[0], row[2], row[4], row[5]) for row in rows]
        original = stream_of(farm_here(), tmp_path / "original.csv", rows, FACTS)
        candidate = stream_of(original.farm, tmp_path / "candidate.csv", released, RELEASED)
        release = ReleaseNode("study", "source", "study.csv", "csv", {}, "public", RELEASED)
        tables = {"original": plain(rows, FACTS), "candidate": plain(released, RELEASED)}
        duck = Duck(**tables)
        sql = SparkSql(duck, original.farm, release, tmp_path / "candidate.csv", original, candidate, {})
        for query in GROUPED:
            for name in tables:
                if name == "original" and "town" in query:  # DuckDB does not know `town` from `Town`
                    continue
                expected = duck.table(query.format(name))
                made = sql.table(query.format(name))
                assert sets_of(made.to_pylist()) == sets_of(expected.to_pylist()), (query, name)
                assert made.schema.types == expected.schema.types, (query, name)


@pytest.mark.slow
def test_all_audits_of_a_release_share_what_spark_counted(farm_here, tmp_path) -> None:
    rows = [("a" if i % 2 else "b", str(i % 3), str(i % 5), f"note {i}") for i in range(2000)]
    stream = stream_of(farm_here(), tmp_path / "candidate.csv", rows, RELEASED)
    release = ReleaseNode("study", "source", "study.csv", "csv", {}, "public", RELEASED)
    shared = CombinationsOfStreams()

    def asked(query: str) -> int:
        before = stream.farm.asked_for.get("asked", 0)
        sql = SparkSql(Duck(), stream.farm, release, tmp_path / "candidate.csv", stream, stream, {}, shared)
        sql.rows(query)
        return stream.farm.asked_for["asked"] - before

    assert asked("SELECT town, count(*) FROM candidate GROUP BY town") == 1
    assert asked("SELECT town, job, age, count(*) FROM candidate GROUP BY ALL") == 0
    assert asked("SELECT min(job) FROM candidate") == 0
    assert asked("SELECT note, count(*) FROM candidate GROUP BY note") == 1
    assert asked("SELECT town, count(*) FROM original GROUP BY town") == 1  # by our reader, not by Spark's


@pytest.mark.slow
def test_combinations_go_with_their_stream(farm_here, tmp_path) -> None:
    stream, shared = (
        stream_of(farm_here(), tmp_path / "one.csv", [("a", "b", "1", "")], RELEASED),
        CombinationsOfStreams(),
    )
    assert shared.of(stream, TextsFrame(stream)).of(TextsFrame(stream), frozenset(["town"])).num_rows == 1
    assert len(shared._known) == 1
    del stream
    gc.collect()
    assert len(shared._known) == 0


def test_counts_of_few_combinations_are_made_once(farm_here, tmp_path) -> None:
    rows = [("a" if i % 2 else "b", str(i % 3), str(i % 5), f"note {i}") for i in range(2000)]
    stream = stream_of(farm_here(), tmp_path / "candidate.csv", rows, RELEASED)
    before = stream.farm.asked_for["each"]
    by_hand: dict[tuple[str, str], int] = {}
    for town, _, age, _ in rows:
        by_hand[age, town] = by_hand.get((age, town), 0) + 1
    counts = stream.counts(["age", "town"], None)
    ages, towns = (counts.as_table()[name].texts() for name in ("age", "town"))
    assert dict(zip(zip(ages, towns, strict=True), counts.counts.tolist(), strict=True)) == by_hand
    assert stream.counts(["job", "town"], None).counts.sum() == len(rows)
    assert stream.farm.asked_for["each"] - before == 1
    assert len(stream.counts(["note", "town"], None)) == len(rows)
    assert stream.farm.asked_for["each"] - before == 2


def test_counts_wait_for_wider_ones_that_are_being_made(farm_here, tmp_path, monkeypatch) -> None:
    rows = [("a" if i % 2 else "b", str(i % 3), str(i % 5), f"note {i % 9}") for i in range(2000)]
    view = StreamView(stream_of(farm_here(), tmp_path / "candidate.csv", rows, RELEASED))
    begun, go_on, made = threading.Event(), threading.Event(), []
    count = StreamView._count

    def slowly(self, columns):
        made.append(columns)
        begun.set()
        assert go_on.wait(20)
        return count(self, columns)

    monkeypatch.setattr(StreamView, "_count", slowly)
    wider = threading.Thread(target=view.counts, args=(["town", "job", "age"],))
    narrower = threading.Thread(target=view.counts, args=(["job", "town"],))
    wider.start()
    assert begun.wait(20)
    narrower.start()
    while len(view._coming) < 2:
        pass
    go_on.set()
    wider.join(20)
    narrower.join(20)
    assert made == [("town", "job", "age")]
    assert view._coming == []


def test_counts_are_made_where_the_wider_ones_fail(farm_here, tmp_path, monkeypatch) -> None:
    view = StreamView(stream_of(farm_here(), tmp_path / "candidate.csv", [("a", "b", "1", "")] * 9, RELEASED))
    count, begun, go_on = StreamView._count, threading.Event(), threading.Event()

    def failing(self, columns):
        if len(columns) == 3:
            begun.set()
            assert go_on.wait(20)
            raise RuntimeError
        return count(self, columns)

    monkeypatch.setattr(StreamView, "_count", failing)
    failures = []

    def wide() -> None:
        try:
            view.counts(["town", "job", "age"])
        except RuntimeError as error:
            failures.append(error)

    wider = threading.Thread(target=wide)
    wider.start()
    assert begun.wait(20)
    threading.Timer(0.2, go_on.set).start()
    assert view.counts(["job", "town"]).counts.tolist() == [9]
    wider.join(20)
    assert len(failures) == 1

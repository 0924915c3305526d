"""What each step and audit of a run asks of rows that are on a cluster, written down while it asks.

The farm is that of ``tests/farm.py``. What comes to the driver is seen where it comes: waves of fragments are rows,
answers of fragments and groups are counts, a view's whole table or a relation that DuckDB holds is a table.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass, field

import pytest
import sqlglot

from ppdm_flow.core.asks import DataAccess
from ppdm_flow.engine.judging import auditing
from ppdm_flow.engine.spark import sql
from ppdm_flow.engine.spark.engine import SparkEngine
from ppdm_flow.engine.spark.stream import SparkStream
from ppdm_flow.engine.steps.graph import Graph
from ppdm_flow.engine.streams.view import StreamView
from ppdm_flow.sdk.paired_relation import PairedRelation


@dataclass
class Asked:
    """What a step or an audit asked: ``most`` of it, how often it went over the rows, and whether it took them all."""

    plugin: str
    what: str
    name: str
    most: DataAccess = DataAccess.COUNTS
    passes: int = 0
    taken: bool = False
    told: list[str] = field(default_factory=list)

    def note(self, asks: DataAccess, how: str) -> None:
        self.told.append(how)
        if asks.rank > self.most.rank:
            self.most = asks


class Recorder:
    """Who is at work, one at a time (a run with one worker), and what was asked. ``passes`` are those of all."""

    def __init__(self) -> None:
        self.asked: list[Asked] = []
        self.passes = 0
        self.seen: dict[str, list[Asked]] = {}
        self._now: Asked | None = None
        self._sampling = False

    def note(self, asks: DataAccess, how: str, passes: int = 0) -> None:
        self.passes += passes
        if self._now is not None:
            self._now.note(DataAccess.FRAGMENTS if self._sampling else asks, how)
            self._now.passes += passes

    def taken(self) -> None:
        assert self._now is not None
        self._now.taken = True

    @contextmanager
    def at_work(self, plugin: str, what: str, name: str):
        self._now = Asked(plugin, what, name)
        self.asked.append(self._now)
        try:
            yield
        finally:
            self._now = None

    @contextmanager
    def sampling(self):
        self._sampling, before = True, self._sampling
        try:
            yield
        finally:
            self._sampling = before


def recording_farm(farm_here: type, recorder: Recorder) -> object:
    """Return a farm whose jobs are written down."""

    class RecordingFarm(farm_here):
        def each(self, work, tasks):
            rows = type(work).__name__ == "_RowsWork"
            recorder.note(DataAccess.FRAGMENTS if rows else DataAccess.COUNTS, f"each {type(work).__name__}", 1)
            return super().each(work, tasks)

        def waves(self, work, tasks):
            recorder.note(DataAccess.ROWS, f"waves {type(work).__name__}", 1)
            return super().waves(work, tasks)

        def grouped(self, work, tasks, keys):
            recorder.note(DataAccess.COUNTS, "grouped", 1)
            return super().grouped(work, tasks, keys)

        def query(self, frame, view, text):
            recorder.note(DataAccess.COUNTS, "asked", 1)
            return super().query(frame, view, text)

        def shuffled(self, work, tasks, parts, finish):
            recorder.note(DataAccess.COUNTS, "shuffled", 1)
            return super().shuffled(work, tasks, parts, finish)

    return RecordingFarm()


def recording(monkeypatch: pytest.MonkeyPatch, farm_here: type) -> tuple[SparkEngine, Recorder]:
    """Return an engine, and what records what is asked of it."""
    recorder = Recorder()
    _who(monkeypatch, recorder)
    _tables(monkeypatch, recorder)
    engine = SparkEngine(recording_farm(farm_here, recorder))
    monkeypatch.setattr(engine, "table_step", _after(recorder.taken, engine.table_step))
    return engine, recorder


def _after(first: Callable[[], None], then: Callable) -> Callable:
    def called(*args, **more):
        first()
        return then(*args, **more)

    return called


def _who(monkeypatch: pytest.MonkeyPatch, recorder: Recorder) -> None:
    fit, audit = Graph._fit, auditing._audit

    def fitted(self, node):
        with recorder.at_work(node.bound.info.name, "step", node.name):
            return fit(self, node)

    def audited(context, node, subject, folder):
        with recorder.at_work(node.bound.info.name, "audit", f"{node.name} of {subject.release.name}"):
            return audit(context, node, subject, folder)

    monkeypatch.setattr(Graph, "_fit", fitted)
    monkeypatch.setattr(auditing, "_audit", audited)


def _tables(monkeypatch: pytest.MonkeyPatch, recorder: Recorder) -> None:
    table, sample, grouped = StreamView.table, StreamView.sample, sql.SparkSql._grouped

    def whole(self, columns=None):
        if isinstance(self.stream, SparkStream):
            recorder.note(DataAccess.TABLE, "table of a view")
        return table(self, columns)

    def sampled(self, size, columns=None):
        with recorder.sampling():
            return sample(self, size, columns)

    def left(self, query, tables):
        text, relations = grouped(self, query, tables)
        named = _relations_of(text) - relations.keys()
        if named & self._streams.keys():
            recorder.note(DataAccess.TABLE, "a stream in SQL")
        elif "candidate" in named:
            recorder.note(DataAccess.ROWS, "the file in SQL")
        return text, relations

    monkeypatch.setattr(StreamView, "table", whole)
    monkeypatch.setattr(StreamView, "sample", sampled)
    monkeypatch.setattr(sql.SparkSql, "_grouped", left)
    _relations(monkeypatch, recorder)


def _relations_of(query: str) -> set[str]:
    """Return the relations that a query reads and does not make itself; what cannot be parsed, by the words in it."""
    try:
        tree = sqlglot.parse_one(query, dialect="duckdb")
    except sqlglot.errors.SqlglotError:
        return {name for name in ("candidate", "original") if name in query}
    named = {each.name for each in tree.find_all(sqlglot.exp.Table)}
    return named - {cte.alias for cte in tree.find_all(sqlglot.exp.CTE)}


def _relations(monkeypatch: pytest.MonkeyPatch, recorder: Recorder) -> None:
    gathered = PairedRelation.gathered

    def held(self, look):
        recorder.note(DataAccess.TABLE, "a relation in SQL")
        return gathered(self, look)

    monkeypatch.setattr(PairedRelation, "gathered", held)

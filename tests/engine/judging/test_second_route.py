"""DuckDB on the released file: what it sees, and everything that it may not do."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ppdm_flow.core.attributes import AttributeFacts
from ppdm_flow.core.errors import RunError
from ppdm_flow.core.roles import Role
from ppdm_flow.engine.local import sql as local_sql
from ppdm_flow.engine.local.engine import LocalEngine
from ppdm_flow.engine.local.sql import DuckSql, SharedGroups
from ppdm_flow.engine.local.transforms import MemoryStream
from ppdm_flow.engine.local.writing import batch, stream_of
from ppdm_flow.engine.opening.opening import open_sink
from ppdm_flow.engine.streams.reading import Budget
from ppdm_flow.engine.streams.stream import Stop
from ppdm_flow.mining.exposure.rows import ReleasedRows
from ppdm_flow.plan.definition import ReleaseNode
from ppdm_flow.sdk.audit import AuditContext
from ppdm_flow.tables.schema import Field, Schema
from ppdm_flow.tables.table import Table
from ppdm_flow.testing.view import InMemorySql, InMemoryView

ROWS = [("a", None), ("", "⊥"), ('x"y', "1,2"), ("line\nbreak", "cr\rhere"), ("é", "NULL"), ("01", "1.0"), (None, None)]


def facts(*names: str) -> tuple[AttributeFacts, ...]:
    return tuple(AttributeFacts(n, Role.INSENSITIVE) for n in names)


def table() -> Table:
    return Table.of({"first": [r[0] for r in ROWS], "sec'ond \"x": [r[1] for r in ROWS]})


@pytest.fixture(params=["csv", "csv.gz", "parquet", "semicolon"])
def sql(request, tmp_path):
    """A connection over ROWS as a released file of each kind, and over the same rows as original."""
    kind = request.param
    options = {"delimiter": ";"} if kind == "semicolon" else {}
    ending = "csv" if kind == "semicolon" else kind
    whole = table()
    release = ReleaseNode(
        "r",
        "source",
        f"t.{ending}",
        ending[:3] if ending != "parquet" else ending,
        options,
        "internal",
        facts(*whole.names),
    )
    file = tmp_path / "it's here" / release.path
    file.parent.mkdir()
    sink = open_sink(release, file, whole.names)
    sink.write(batch(whole))
    sink.close()
    folder = tmp_path / "private"
    folder.mkdir(mode=0o700)
    original = MemoryStream(whole, facts(*whole.names), 2, Stop())
    candidate = stream_of(release, file, 3, Budget(1 << 20), Stop())
    made = DuckSql(release, file, original, candidate, folder, 2)
    yield made
    made.close()


def test_both_relations_have_every_cell_as_text(sql):
    for name in ("candidate", "original"):
        found = sql.rows(f"SELECT * FROM {name}")
        assert sorted(found, key=repr) == sorted(ROWS, key=repr)
        kinds = sql.rows(f"DESCRIBE {name}")
        assert [(k[0], k[1]) for k in kinds] == [("first", "VARCHAR"), ("sec'ond \"x", "VARCHAR")]


def test_relations_can_be_asked_again_and_joined(sql):
    for _ in range(3):
        assert sql.rows("SELECT count(*) FROM candidate")[0][0] == len(ROWS)
    joined = 'SELECT count(*) FROM original o JOIN candidate c ON o."first" IS NOT DISTINCT FROM c."first"'
    assert sql.rows(joined)[0][0] == len(ROWS)
    assert sql.rows("SELECT count(*) FROM candidate WHERE first = ?", ["é"])[0][0] == 1


@pytest.mark.slow(quick=10)
@pytest.mark.parametrize(
    "query",
    [
        "SELECT * FROM read_csv('/etc/passwd')",
        "SELECT * FROM read_text('/etc/hostname')",
        "SELECT * FROM glob('/*')",
        "COPY candidate TO '/tmp/ppdm-flow-leak.csv'",
        "ATTACH '/tmp/ppdm-flow-leak.db'",
        "INSTALL httpfs",
        "LOAD httpfs",
        "SET enable_external_access = true",
        "SET threads = 1",
        "SET temp_directory = '/tmp'",
        "SELECT * FROM 'https://example.org/x.csv'",
        "SELECT * FROM table_of_python",
        "SELECT error('zqcanary')",
        "SELECT CAST('zqcanary' AS INTEGER)",
    ],
)
def test_nothing_else_can_be_read_written_loaded_or_changed(sql, query):
    table_of_python = pa.table({"x": [1]})
    assert table_of_python.num_rows == 1
    with pytest.raises(RunError) as caught:
        sql.rows(query)
    assert caught.value.diagnostics[0].code == "PPF908"
    assert "zqcanary" not in str(caught.value)


def test_a_file_that_duckdb_would_type_by_itself_comes_from_our_reader(tmp_path):
    file = tmp_path / "typed.parquet"
    pq.write_table(pa.table({"n": [1.0, None, 1e16]}), file)
    release = ReleaseNode("r", "source", file.name, "parquet", {}, "internal", facts("n"))
    candidate = stream_of(release, file, 10, Budget(1 << 20), Stop())
    original = MemoryStream(Table.of({"n": ["1.0"]}), facts("n"), 2, Stop())
    made = DuckSql(release, file, original, candidate, tmp_path, 1)
    assert sorted(made.rows("SELECT n FROM candidate"), key=repr) == [("1.0",), ("1e+16",), (None,)]
    made.close()


def opened(tmp_path, name, groups):
    """A second route over two equal rows and one other, in a file of its own."""
    folder = tmp_path / name
    folder.mkdir(exist_ok=True)
    file = folder / "t.csv"
    file.write_text("x,y\na,1\na,1\nb,\n")
    release = ReleaseNode("r", "source", file.name, "csv", {}, "internal", facts("x", "y"))
    candidate = stream_of(release, file, 10, Budget(1 << 20), Stop())
    return DuckSql(release, file, candidate, candidate, folder, 1, groups=groups), file, candidate


def test_groups_are_read_from_the_file_once_for_all_audits_of_a_release(tmp_path):
    shared = SharedGroups()
    first, file, _ = opened(tmp_path, "first", shared)
    second, _, _ = opened(tmp_path, "first", shared)
    other, _, _ = opened(tmp_path, "other", None)
    query = "SELECT x AS c0, SUM(1) AS n FROM candidate GROUP BY 1"
    groups = [("a", 2), ("b", 1)]
    assert sorted(zip(*first.groups(query).to_pydict().values(), strict=True)) == groups
    file.write_text("x,y\nc,1\n")
    assert second.groups(query) is first.groups(query)
    assert second.groups(f"{query} HAVING n > 0").to_pydict() == {"c0": ["c"], "n": [1]}
    assert sorted(zip(*other.groups(query).to_pydict().values(), strict=True)) == groups
    for made in (first, second, other):
        made.close()


def test_audits_of_one_reading_share_groups_and_those_of_another_do_not(tmp_path):
    engine = LocalEngine()
    _, file, candidate = opened(tmp_path, "one", None)
    _, changed, again = opened(tmp_path, "again", None)
    changed.write_text("x,y\nc,1\n")
    release = ReleaseNode("r", "source", file.name, "csv", {}, "internal", facts("x", "y"))
    query = "SELECT x AS c0, SUM(1) AS n FROM candidate GROUP BY 1"
    of_one = [engine.second_route(release, file, candidate, candidate, {}, tmp_path, 1).groups(query) for _ in range(2)]
    of_another = engine.second_route(release, changed, again, again, {}, tmp_path, 1).groups(query)
    assert of_one[0] is of_one[1]
    assert of_another.to_pydict() == {"c0": ["c"], "n": [1]}


def test_a_second_request_for_the_same_waits_and_a_failure_is_no_answer():
    shared, asked, go_on = SharedGroups(), threading.Event(), threading.Event()
    answer = pa.table({"n": [1]})

    def slow():
        asked.set()
        go_on.wait()
        return answer

    def never():
        raise AssertionError("asked twice")

    def fail():
        raise RunError(())

    with pytest.raises(RunError):
        shared.once("q", fail)
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(shared.once, "q", slow)
        asked.wait()
        second = pool.submit(shared.once, "q", never)
        go_on.set()
        assert first.result() is second.result() is answer


@pytest.mark.parametrize(("known", "groups"), [((), 4), (("x",), 3), (("x", "y"), 1)])
def test_remembered_groups_are_those_of_the_file(known, groups, monkeypatch):
    rows = {"x": ["a", "a", None, "b", "⊥"], "y": ["1", "1", "1", None, None]}
    view = InMemoryView(Table.of(rows), Schema(tuple(Field(n, Role.QUASI_IDENTIFIER) for n in rows)))

    class Grouped(InMemorySql):
        def groups(self, query):
            return self.table(query)

    ctx = AuditContext("r", {}, {}, sql=Grouped({"candidate": view.table()}))
    found = []
    for few in (0, 1 << 10):
        monkeypatch.setattr("ppdm_flow.mining.releases.attributes._FEW", few)
        relation = ReleasedRows(view, ctx).relation(("x", "y"), (), known)
        assert bool(relation.tables) == bool(few)
        kinds = ctx.sql.rows(f"DESCRIBE {relation.text}", (), relation.tables)
        found.append((sorted(ctx.sql.rows(relation.text, (), relation.tables), key=repr), [k[:2] for k in kinds]))
    assert found[0] == found[1]
    assert len(found[0][0]) == groups


configuration = DuckSql._configuration
LARGE = "SELECT count(*) FROM (SELECT range AS n, md5(range::VARCHAR) AS text FROM range(3000000) ORDER BY text)"


def small(monkeypatch) -> None:
    """So little memory that a sort of many texts ends with an error."""
    monkeypatch.setattr(local_sql, "_MEMORY_LIMIT", "8MB")


@pytest.mark.slow
def test_a_query_that_needs_more_memory_is_asked_again_with_more(sql, monkeypatch):
    small(monkeypatch)
    given = pa.table({"extra": [1, 2]})
    query = f"SELECT *, (SELECT count(*) FROM candidate), (SELECT sum(extra) FROM given) FROM ({LARGE})"
    assert sql.rows(query, (), {"given": given}) == [(3_000_000, len(ROWS), 3)]
    assert sql._has_more_memory
    of = "SELECT current_setting('memory_limit')"
    ((limit,),), ((whole,),) = sql.rows(of), duckdb.connect(":memory:").execute(of).fetchall()
    assert limit.split()[1] == whole.split()[1]  # two audits may ask for as much at once
    assert float(limit.split()[0]) == pytest.approx(float(whole.split()[0]) / 2, abs=0.11)
    assert sql.table(query, (), {"given": given}).num_rows == 1
    with pytest.raises(RunError):  # as closed as the first one
        sql.rows("SELECT * FROM read_csv('/etc/passwd')")
    with pytest.raises(RunError):
        sql.rows("SET memory_limit = '1GB'")


@pytest.mark.slow
def test_a_query_that_no_memory_is_enough_for_ends_the_run(sql, monkeypatch):
    small(monkeypatch)
    eight = {"memory_limit": "8MB"}
    monkeypatch.setattr(DuckSql, "_configuration", lambda self, **more: configuration(self, **more) | eight)
    with pytest.raises(RunError) as caught:
        sql.rows(LARGE)
    (told,) = caught.value.diagnostics
    assert (told.code, told.message) == ("PPF908", "the second route failed in SQL: out of memory exception")

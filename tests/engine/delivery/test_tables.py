"""Releases that become tables: whole or not at all, only once they hold, and never in another one's stead."""

from __future__ import annotations

import datetime as dt
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st
from tiers import examples

from ppdm_flow import api
from ppdm_flow.core.attributes import AttributeFacts
from ppdm_flow.core.errors import DataError, RunError, UsageError
from ppdm_flow.core.roles import AttributeType, Role
from ppdm_flow.engine import delivery
from ppdm_flow.engine.delivery import MysqlTables, PostgresTables, same_rows, staged
from ppdm_flow.plan.definition import ReleaseNode, TableNode
from ppdm_flow.sdk import registry

CANARY = "zqcanary"
POLICY = """version: 1
name: clinic
source: {path: table.csv}
undeclared: drop
attributes:
  age: {role: quasi_identifier, type: integer, description: "Age, in 'bands' \\\\ of years"}
  town: {role: quasi_identifier}
  cost: {role: insensitive, type: float}
  day: {role: insensitive, type: date}
privacy: {k_anonymity: {k: K}}
steps:
  bands: {use: generalize, with: {attributes: {age: {intervals: [0, 40, 120]}}}}
releases:
  study: {path: study.parquet, description: For research, into: {INTO}}
"""
HEADER = "age,town,cost,day"


@pytest.fixture(autouse=True)
def login(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Hide the logins of the person who runs the tests."""
    for name in ("PGUSER", "PGPASSWORD", "PGPASSFILE", "MYSQL_PWD"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))


class Place:
    """A database for releases: its server, and how it is asked."""

    def __init__(self, server: Any, database: str, url: str) -> None:
        self.server, self.database, self.url = server, database, url

    @property
    def is_postgres(self) -> bool:
        return self.url.startswith("postgresql")

    def sql(self, text: str) -> list[str]:
        return list(self.server.sql(self.database, text))

    def tables(self) -> list[str]:
        own = "current_schema()" if self.is_postgres else "DATABASE()"
        return self.sql(f"SELECT table_name FROM information_schema.tables WHERE table_schema = {own} ORDER BY 1")

    def rows(self, table: str = "study") -> list[str]:
        return self.sql(f"SELECT * FROM {table}")

    def clear(self) -> None:
        if self.is_postgres:
            self.sql("SET client_min_messages = error; DROP SCHEMA public CASCADE; CREATE SCHEMA public")
        else:
            for table in self.tables():
                self.sql(f"DROP TABLE `{table}`")


@pytest.fixture
def pg(postgres: Any) -> Iterator[Place]:
    pytest.importorskip("adbc_driver_postgresql", reason="the extra `sql` is not installed")
    database = postgres.database()
    place = Place(postgres, database, postgres.url(database))
    place.clear()
    yield place
    place.clear()


@pytest.fixture
def my(mariadb: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[Place]:
    monkeypatch.setenv("MYSQL_PWD", sys.modules["ppdm_tests_mariadb"].PASSWORD)
    place = Place(mariadb, "clinic", mariadb.url())
    place.clear()
    yield place
    place.clear()


@pytest.fixture(params=["pg", "my"])
def place(request: pytest.FixtureRequest) -> Place:
    """Each database in turn."""
    made: Place = request.getfixturevalue(request.param)
    return made


def data(bench: Any, count: int = 300) -> None:
    rows = [[str(20 + i * 7 % 60), f"{CANARY}{i % 3}", str(i / 8), f"2024-01-{1 + i % 28:02}"] for i in range(count)]
    bench.data(rows, HEADER)


def policy(place: Place, k: int = 5, into: str = "", text: str = POLICY) -> str:
    given = into or f"url: '{place.url}', table: study"
    return text.replace("{INTO}", f"{{{given}}}").replace("{k: K}", f"{{k: {k}}}")


def file_rows(run: Path) -> int:
    return int(pq.read_table(run / "released/study/study.parquet").num_rows)


# what holds


@pytest.mark.slow
@pytest.mark.server(quick=1)
def test_a_table_has_the_rows_of_the_file_in_their_order(bench, place) -> None:
    data(bench)
    into = f"url: '{place.url}', table: study, indexes: [[age, town], [day]]"
    run = bench.run(bench.plan(policy(place, into=into))).run_dir
    table = pq.read_table(run / "released/study/study.parquet")
    assert place.tables() == ["study"]
    mark = "|" if place.is_postgres else "\t"
    told = [line.split(mark) for line in place.rows()]
    columns = [table.column(name).to_pylist() for name in ("age", "town", "cost", "day")]
    assert [(a, b, float(c), d) for a, b, c, d in told] == [
        (a, b, c, d.isoformat()) for a, b, c, d in zip(*columns, strict=True)
    ]
    if place.is_postgres:
        assert place.sql("SELECT obj_description('study'::regclass)")[0].endswith(". For research")
        assert place.sql("SELECT col_description('study'::regclass, 1)") == ["Age, in 'bands' \\ of years"]
        assert len(place.sql("SELECT 1 FROM pg_indexes WHERE tablename = 'study'")) == 2
        assert place.sql("SELECT pg_typeof(cost), pg_typeof(day) FROM study LIMIT 1") == ["double precision|date"]
    else:
        comment = "SELECT TABLE_COMMENT FROM information_schema.TABLES WHERE TABLE_NAME = 'study'"
        assert place.sql(comment)[0].endswith(". For research")
        kinds = "SELECT DATA_TYPE FROM information_schema.COLUMNS WHERE TABLE_NAME = 'study' ORDER BY ORDINAL_POSITION"
        assert place.sql(kinds) == ["longtext", "longtext", "double", "date"]


def test_a_later_release_replaces_the_table(bench, place) -> None:
    data(bench)
    plan = bench.plan(policy(place))
    bench.run(plan)
    data(bench, 200)
    bench.run(bench.plan(policy(place)))
    assert place.tables() == ["study"]
    assert len(place.rows()) == 200


def test_what_does_not_hold_never_reaches_the_database(bench, place) -> None:
    data(bench)
    bench.run(bench.plan(policy(place)))
    before = place.rows()
    withheld = bench.run(bench.plan(policy(place, k=1000)), keep_withheld=True)
    assert withheld.report.verdict == "withheld"
    assert place.tables() == ["study"]
    assert place.rows() == before


def test_rights_are_those_of_the_policy(bench, pg) -> None:
    data(bench)
    pg.sql("DROP ROLE IF EXISTS analysts; DROP ROLE IF EXISTS others; CREATE ROLE analysts; CREATE ROLE others")
    try:
        bench.run(bench.plan(policy(pg, into=f"url: '{pg.url}', table: public.study, grants: [analysts]")))
        asked = "SELECT has_table_privilege('{}', 'study', 'SELECT')"
        assert [pg.sql(asked.format(role)) for role in ("analysts", "others")] == [["t"], ["f"]]
        error = bench_fails(bench, policy(pg, into=f"url: '{pg.url}', table: study, grants: [nobody]"))
        assert error.diagnostics[0].code == "PPF482"
    finally:
        pg.sql("DROP TABLE IF EXISTS study; DROP ROLE analysts; DROP ROLE others")


def bench_fails(bench: Any, text: str, **options: Any) -> Any:
    """Return the error of a run that releases nothing, also where others were released before."""
    before = sorted(bench.out.rglob("*")) if bench.out.exists() else []
    with pytest.raises((DataError, RunError)) as caught:
        bench.run(bench.plan(text), **options)
    assert CANARY not in str(caught.value)
    assert [p for p in sorted(bench.out.rglob("*")) if p not in before and p.is_file()] == []
    return caught.value


def test_a_table_of_somebody_else_stays(bench, place) -> None:
    data(bench)
    place.sql("CREATE TABLE study (i int)")
    place.sql("INSERT INTO study VALUES (7)")
    error = bench_fails(bench, policy(place))
    assert error.diagnostics[0].code == "PPF483"
    assert place.rows() == ["7"]
    assert place.tables() == ["study"]
    place.sql("DROP TABLE study")
    place.sql("CREATE VIEW study AS SELECT 1 AS i")
    assert bench_fails(bench, policy(place)).diagnostics[0].code == "PPF483"
    place.sql("DROP VIEW study")
    assert bench.run(bench.plan(policy(place))).report.verdict == "released"


def test_a_table_of_another_policy_stays(bench, place) -> None:
    data(bench)
    bench.run(bench.plan(policy(place)))
    before = place.rows()
    error = bench_fails(bench, policy(place, text=POLICY.replace("name: clinic", "name: another")))
    assert error.diagnostics[0].code == "PPF483"
    assert place.rows() == before
    bench.run(bench.plan(policy(place)))
    assert place.tables() == ["study"]


def test_what_others_need_is_not_dropped(bench, pg) -> None:
    data(bench)
    bench.run(bench.plan(policy(pg)))
    pg.sql("CREATE VIEW ages AS SELECT age FROM study")
    before = pg.rows()
    error = bench_fails(bench, policy(pg))
    assert error.diagnostics[0].code == "PPF482"
    assert pg.rows() == before


def test_a_schema_of_mysql_is_its_database(bench, my) -> None:
    data(bench)
    error = bench_fails(bench, policy(my, into=f"url: '{my.url}', table: other.study"))
    assert error.diagnostics[0].code == "PPF482"


def test_rights_that_are_missing(bench, pg) -> None:
    data(bench)
    pg.sql("DROP ROLE IF EXISTS writer; CREATE ROLE writer LOGIN; REVOKE CREATE ON SCHEMA public FROM PUBLIC")
    try:
        url = pg.server.url(pg.database, user="writer")
        error = bench_fails(bench, policy(pg, into=f"url: '{url}', table: study"))
        assert error.diagnostics[0].code == "PPF476"
        pg.sql("GRANT CREATE, USAGE ON SCHEMA public TO writer")
        assert bench.run(bench.plan(policy(pg, into=f"url: '{url}', table: study"))).report.verdict == "released"
    finally:
        pg.sql("DROP OWNED BY writer; DROP ROLE writer")


# what is read back


def test_a_table_that_reads_back_otherwise_is_no_release(bench, place, monkeypatch) -> None:
    data(bench)
    kind = PostgresTables if place.is_postgres else MysqlTables
    read = kind.read

    def altered(self: Any, target: Any, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
        for batch in read(self, target, schema):
            towns = ["elsewhere", *batch.column("town").to_pylist()[1:]]
            yield batch.set_column(1, "town", pa.array(towns, pa.string()))

    monkeypatch.setattr(kind, "read", altered)
    assert bench_fails(bench, policy(place)).diagnostics[0].code == "PPF482"
    assert place.tables() == []


def test_rows_are_the_same_however_they_are_cut() -> None:
    schema = pa.schema([("a", pa.int64())])
    draw = [3, None, 5, 6, 7, 8, 9]

    def cut(cells: list[Any], *sizes: int) -> Iterator[pa.RecordBatch]:
        start = 0
        for size in sizes:
            yield pa.record_batch([pa.array(cells[start : start + size], pa.int64())], schema=schema)
            start += size

    assert same_rows(cut(draw, 7), cut(draw, 0, 1, 2, 0, 4), schema)
    assert same_rows(cut([]), cut([], 0), schema)
    for other in ([3, None, 5, 6, 7, 8], [*draw, 1], [3, 0, 5, 6, 7, 8, 9], [None, 3, 5, 6, 7, 8, 9]):
        assert not same_rows(cut(draw, 3, 4), cut(other, len(other)), schema)


CELLS = st.tuples(
    st.none() | st.integers(-(2**63), 2**63 - 1),
    st.none() | st.floats(allow_nan=False, allow_infinity=False),
    st.none() | st.dates(dt.date(1000, 1, 1)),
    st.none() | st.datetimes(dt.datetime.fromisoformat("1000-01-01"), dt.datetime.fromisoformat("9999-12-31")),
    st.none() | st.text(st.characters(blacklist_categories=("Cs",), blacklist_characters="\0"), max_size=9),
)


def test_types_and_values_are_kept(place, tmp_path) -> None:
    """What is read back is compared cell by cell, so that a value which the database changes would end it."""
    names = ("whole", "real", "day", "moment", 'words %s `x` "y"')
    kinds = (
        AttributeType.INTEGER,
        AttributeType.FLOAT,
        AttributeType.DATE,
        AttributeType.TIMESTAMP,
        AttributeType.TEXT,
    )
    types = (pa.int64(), pa.float64(), pa.date32(), pa.timestamp("us"), pa.dictionary(pa.int32(), pa.string()))
    facts = tuple(AttributeFacts(n, Role.INSENSITIVE, k) for n, k in zip(names, kinds, strict=True))
    node = ReleaseNode("r", "", "r.parquet", "parquet", {}, "internal", facts, into=TableNode(place.url, "kept"))

    @examples(10, suppress_health_check=list(HealthCheck))
    @given(st.lists(CELLS, max_size=6))
    def holds(rows: list[tuple[Any, ...]]) -> None:
        columns = list(zip(*rows, strict=True)) or [()] * len(names)
        arrays = [pa.array(list(c), t) for c, t in zip(columns, types, strict=True)]
        file = tmp_path / "r.parquet"
        file.unlink(missing_ok=True)
        spec = registry.load("sinks", "parquet")
        sink = spec.load()(spec.params(), file, names)
        if rows:
            sink.write(pa.record_batch(arrays, names=list(names)))
        sink.close()
        with staged("p", "run", [(node, file)]) as tables:
            tables.commit()
        assert place.sql("SELECT count(*) FROM kept") == [str(len(rows))]

    holds()


def test_a_run_says_which_tables_it_made(place, bench, tmp_path, cli) -> None:
    data(bench)
    (tmp_path / "p.yaml").write_text(policy(place))
    done = cli("run", tmp_path / "p.yaml", "--out", tmp_path / "runs")
    assert done.returncode == 0, done.stderr
    (line,) = [each for each in done.stderr.splitlines() if each.startswith("table: ")]
    assert line.endswith(": study")
    assert "zqsecret" not in done.stdout + done.stderr


def test_a_partitioned_release_is_one_table(place, bench) -> None:
    """Columns that are names of folders keep their types, and their places among the others."""
    data(bench)
    run = bench.run(bench.plan(policy(place).replace("path: study.parquet", "path: s.csv, partition_by: [day, town]")))
    assert (run.run_dir / "released/study/s.csv").is_dir()
    one = sorted(place.rows())
    bench.run(bench.plan(policy(place)))
    assert sorted(place.rows()) == one
    kinds = "SELECT column_name FROM information_schema.columns WHERE table_name = 'study' ORDER BY ordinal_position"
    assert place.sql(kinds) == ["age", "town", "cost", "day"]


def test_a_character_that_the_database_has_not(bench, pg) -> None:
    rows = [[str(20 + i), "x", "1.5", "2024-01-01"] for i in range(20)]
    bench.data(rows, HEADER)
    text = POLICY.replace("town: {role: quasi_identifier}", "town: {role: insensitive}")
    facts = (AttributeFacts("town", Role.INSENSITIVE),)
    node = ReleaseNode("r", "", "r.parquet", "parquet", {}, "internal", facts, into=TableNode(pg.url, "nul"))
    file = bench.folder / "nul.parquet"
    pq.write_table(pa.table({"town": [f"{CANARY}\0"]}), file)
    with pytest.raises(DataError) as caught, staged("p", "run", [(node, file)]):
        pass
    assert caught.value.diagnostics[0].code == "PPF482"
    assert CANARY not in str(caught.value)
    assert pg.tables() == []
    assert bench.run(bench.plan(policy(pg, text=text))).report.verdict == "released"


# what breaks on the way


def test_a_server_that_is_killed_while_it_is_filled(bench, place, monkeypatch) -> None:
    data(bench)
    fill = delivery._rows_of

    def kill(*given: Any) -> Any:
        schema, rows = fill(*given)

        def killing() -> Iterator[pa.RecordBatch]:
            for batch in rows:
                yield batch.slice(0, 10)
                place.server.kill()
                yield batch.slice(10)

        return schema, killing()

    monkeypatch.setattr(delivery, "_rows_of", kill)
    try:
        error = bench_fails(bench, policy(place))
        assert error.diagnostics[0].code in ("PPF475", "PPF479")
    finally:
        place.server.restart()
    monkeypatch.undo()
    if not place.is_postgres:
        monkeypatch.setenv("MYSQL_PWD", sys.modules["ppdm_tests_mariadb"].PASSWORD)
    assert bench.run(bench.plan(policy(place))).report.verdict == "released"
    assert place.tables() == ["study"]


@pytest.mark.parametrize("when", ["before", "after"])
def test_between_commit_and_answer(bench, place, monkeypatch, when) -> None:
    """The files are out; the table is the old one or the new one, and `deliver` makes it the new one."""
    data(bench)
    bench.run(bench.plan(policy(place)))
    data(bench, 200)
    kind = PostgresTables if place.is_postgres else MysqlTables
    commit = kind.commit

    def killing(self: Any) -> None:
        if when == "after":
            commit(self)
        place.server.kill()
        self._ask("SELECT 1")

    monkeypatch.setattr(kind, "commit", killing)
    plan = bench.plan(policy(place))
    try:
        with pytest.raises(RunError) as caught:
            bench.run(plan)
    finally:
        place.server.restart()
    monkeypatch.setattr(kind, "commit", commit)
    assert caught.value.diagnostics[0].code == "PPF484"
    (run,) = [p for p in (bench.out / "clinic").iterdir() if file_rows(p) == 200]
    assert api.verify(run).holds
    assert len(place.rows()) == (200 if when == "after" else 300)
    assert len(api.deliver(run)) == 1
    assert len(place.rows()) == 200
    assert place.tables() == ["study"]


def test_a_run_that_is_killed_leaves_the_old_table_or_the_new_one(bench, place) -> None:
    (bench.folder / "policy.yaml").write_text(policy(place))
    data(bench)
    whole = bench.process_seconds()
    counts = set()
    killed = 0
    points = int(os.environ.get("PPDM_KILLS", "6"))
    for point in range(points):
        data(bench, 250)
        killed += bench.process(whole * (0.4 + 0.6 * point / points)) < 0
        counts.add(len(place.rows()))
        if place.is_postgres:
            until = time.monotonic() + 20
            while place.tables() != ["study"] and time.monotonic() < until:
                time.sleep(0.05)
            assert place.tables() == ["study"]
        data(bench, 300)
        bench.run(bench.plan(policy(place)))
    assert counts <= {300, 250}
    assert killed
    assert place.tables() == ["study"]
    assert len(place.rows()) == 300


def test_two_tables_take_their_places_together(bench, pg, monkeypatch) -> None:
    data(bench)
    more = f"  other: {{path: other.csv, into: {{url: '{pg.url}', table: other, grants: [nobody]}}}}\n"
    error = bench_fails(bench, policy(pg) + more)
    assert error.diagnostics[0].code == "PPF482"
    assert pg.tables() == []
    assert bench.run(bench.plan(policy(pg) + more.replace(", grants: [nobody]", ""))).report.verdict == "released"
    assert pg.tables() == ["other", "study"]


def test_the_ledger_takes_back_what_did_not_come_about(bench, pg) -> None:
    data(bench)
    rows = [
        [str(i), *line.split(",")] for i, line in enumerate((bench.folder / "table.csv").read_text().splitlines()[1:])
    ]
    bench.data(rows, f"patient,{HEADER}")
    text = POLICY.replace(
        "undeclared: drop\nattributes:\n",
        "ledger: {path: releases.ledger, subject: patient}\nattributes:\n  patient: {role: identifier}\n",
    )
    api.create_ledger(str(bench.folder / "releases.ledger"), None)
    pg.sql("CREATE TABLE study (i int)")
    assert bench_fails(bench, policy(pg, text=text)).diagnostics[0].code == "PPF483"
    shown = api.ledger(str(bench.folder / "releases.ledger"), None, repair=False, forget=(), runs=None)
    assert "study" not in shown.text
    pg.sql("DROP TABLE study")
    assert bench.run(bench.plan(policy(pg, text=text))).report.verdict == "released"
    shown = api.ledger(str(bench.folder / "releases.ledger"), None, repair=False, forget=(), runs=None)
    assert "study" in shown.text


# once more


def test_only_what_was_released_is_delivered(bench, place) -> None:
    data(bench)
    run = bench.run(bench.plan(policy(place)))
    withheld = bench.run(bench.plan(policy(place, k=1000)))
    with pytest.raises(UsageError) as caught:
        api.deliver(withheld.run_dir)
    assert caught.value.diagnostics[0].code == "PPF485"
    plain = bench.run(bench.plan(policy(place).partition(", into:")[0] + "}\n"))
    with pytest.raises(UsageError) as caught:
        api.deliver(plain.run_dir)
    assert caught.value.diagnostics[0].code == "PPF485"
    place.sql("DROP TABLE study")
    api.deliver(run.run_dir)
    assert len(place.rows()) == 300
    file = run.run_dir / "released/study/study.parquet"
    file.write_bytes(file.read_bytes()[:-1] + b"x")
    with pytest.raises(UsageError) as caught:
        api.deliver(run.run_dir)
    assert caught.value.diagnostics[0].code == "PPF485"


def test_the_command_says_what_it_made(bench, pg) -> None:
    data(bench)
    path = bench.folder / "policy.yaml"
    path.write_text(policy(pg))
    words = [sys.executable, "-m", "ppdm_flow"]
    done = subprocess.run(
        [*words, "run", str(path), "--out", str(bench.out)], capture_output=True, text=True, check=True
    )
    again = subprocess.run(
        [*words, "deliver", done.stdout.splitlines()[-1]], capture_output=True, text=True, check=True
    )
    assert again.stdout == f"localhost/{pg.database}: study\n"

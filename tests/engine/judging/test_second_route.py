"""DuckDB on the released file: what it sees, and everything that it may not do."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ppdm_flow.core.attributes import AttributeFacts
from ppdm_flow.core.errors import RunError
from ppdm_flow.core.roles import Role
from ppdm_flow.engine.local.sql import DuckSql
from ppdm_flow.engine.local.transforms import MemoryStream
from ppdm_flow.engine.local.writing import batch, stream_of
from ppdm_flow.engine.opening.opening import open_sink
from ppdm_flow.engine.streams.reading import Budget
from ppdm_flow.engine.streams.stream import Stop
from ppdm_flow.plan.definition import ReleaseNode
from ppdm_flow.tables.table import Table

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

"""What of a query Spark is asked: groupings of one relation, their filters left out where they are of groups."""

from __future__ import annotations

import pytest

sqlglot = pytest.importorskip("sqlglot", reason="the extra `spark` is not installed")

from ppdm_flow.engine.spark.sql import base_of, groupings, in_spark, parsable, without_filter  # noqa: E402

FRAMES = {"candidate": None, "original": None}
GROUPED = 'SELECT "a b" AS c0, SUM(CAST(1 AS BIGINT)) AS n FROM candidate GROUP BY 1'


def asked(query: str) -> list[str]:
    tree = sqlglot.parse_one(query, dialect="duckdb")
    return [select.sql(dialect="duckdb") for select in groupings(tree, FRAMES)]


def test_the_innermost_grouping_is_asked() -> None:
    outer = f"WITH t AS MATERIALIZED (SELECT * FROM ({GROUPED}) WHERE n > 0) SELECT MIN(n), COUNT(*) FROM t"
    assert asked(outer) == [sqlglot.transpile(GROUPED, read="duckdb", write="duckdb")[0]]
    assert asked(f"SELECT MIN(n) FROM ({GROUPED})") == asked(outer)


@pytest.mark.parametrize(
    "query",
    [
        "SELECT c.a, COUNT(*) FROM candidate c JOIN original o ON c.a = o.a GROUP BY 1",
        "SELECT a, ROW_NUMBER() OVER (ORDER BY a) FROM candidate",
        "SELECT a, COUNT(*) FROM candidate WHERE a = ? GROUP BY 1",
        "SELECT a, COUNT(*) FROM elsewhere GROUP BY 1",
        "WITH candidate AS (SELECT 1 AS a) SELECT a, COUNT(*) FROM candidate GROUP BY 1",
        "SELECT a, COUNT(*) FROM candidate GROUP BY 1 ORDER BY 2 LIMIT 3",
        "SELECT a, COUNT(*) FROM candidate WHERE a IN (SELECT b FROM original) GROUP BY 1",
        "SELECT a FROM candidate",
    ],
)
def test_what_is_no_plain_grouping_of_one_relation_stays_on_the_driver(query) -> None:
    assert not asked(query)


def test_casts_of_parameters_are_parsed() -> None:
    query = (
        f"SELECT MAX(n) FILTER (LIST_CONTAINS(?::VARCHAR[], c0)), '?::X', \"?::Y\" FROM ({GROUPED}), (SELECT ?::BIGINT)"
    )
    assert parsable(query) == query.replace("?::VARCHAR[]", "CAST(? AS VARCHAR[])").replace(
        "?::BIGINT", "CAST(? AS BIGINT)"
    )
    assert asked(parsable(query)) == asked(GROUPED)


@pytest.mark.parametrize("name", ["__view__", "{view}", "{", "candidate", "a`b", 'a"b', "rows_alike"])
def test_columns_of_any_name_are_asked_for(name: str) -> None:
    column = '"' + name.replace('"', '""') + '"'
    tree = sqlglot.parse_one(f"SELECT {column} AS c0, COUNT(*) AS n FROM candidate GROUP BY 1", dialect="duckdb")
    text = in_spark(tree, "candidate", "rows_1")
    assert text is not None
    again = sqlglot.parse_one(text, dialect="spark")
    assert [each.name for each in again.find_all(sqlglot.exp.Table)] == ["rows_1"]
    assert [each.name for each in again.find_all(sqlglot.exp.Column)] == [name]


def test_a_filter_of_groups_is_taken_out() -> None:
    with_filter = sqlglot.parse_one(GROUPED.replace(" GROUP", ' WHERE "a b" IS NOT NULL GROUP'), dialect="duckdb")
    every, condition = without_filter(with_filter)
    assert every == sqlglot.parse_one(GROUPED, dialect="duckdb")
    assert condition.sql(dialect="duckdb") == 'NOT "c0" IS NULL'


@pytest.mark.parametrize(
    "query",
    [
        "SELECT a AS c0, COUNT(*) AS n FROM candidate WHERE b IS NOT NULL GROUP BY 1",
        "SELECT UPPER(a) AS c0, COUNT(*) AS n FROM candidate WHERE a IS NOT NULL GROUP BY 1",
        "SELECT c0, SUM(n) AS n FROM (SELECT a AS c0, 1 AS n FROM candidate) WHERE c0 = 'x' GROUP BY 1",
    ],
)
def test_a_filter_of_rows_stays(query) -> None:
    tree = sqlglot.parse_one(query, dialect="duckdb")
    every, condition = without_filter(tree)
    assert every is tree
    assert condition is None
    assert base_of(tree, FRAMES) == "candidate"

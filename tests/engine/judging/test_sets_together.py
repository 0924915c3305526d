"""Sets and whole rows of two releases: judged on the rows that a reader of both joins."""

from __future__ import annotations

import itertools
from collections import Counter
from random import Random

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

BOTH, FILE = "one + two", "table.parquet"
SETS = """version: 1
name: baskets
source: {path: table.parquet}
attributes:
  person: {role: identifier}
  basket: {role: items}
privacy:
  km_anonymity: {k: 3, m: 2}
steps:
  ids: {use: pseudonymize, with: {attributes: [person], key_file: one.key}}
  first: {use: limit_items, input: FROM, with: {without: [y0, y1, y2]}}
  second: {use: limit_items, input: FROM, with: {without: [x0, x1, x2]}}
releases:
  one: {from: first, path: one.parquet}
  two: {from: second, path: two.parquet}
"""
ROWS = """version: 1
name: rows
source: {path: table.csv}
attributes:
  person: {role: identifier}
  a: {role: quasi_identifier}
  b: {role: insensitive}
privacy:
  blend: {min_support: {count: 5}, max: 0.03}
steps:
  ids: {use: pseudonymize, with: {attributes: [person], key_file: one.key}}
  first: {use: drop, input: FROM, with: {attributes: [b]}}
  second: {use: drop, input: FROM, with: {attributes: [a]}}
  some: {use: sample, input: second, with: {fraction: 0.5}}
releases:
  one: {from: first, path: one.csv}
  two: {from: SECOND, path: two.csv}
"""


@pytest.fixture
def keyed(bench):
    key = bench.folder / "one.key"
    key.write_bytes(bytes(range(1, 25)).hex().encode())
    key.chmod(0o600)
    return bench


def measured(bench, policy):
    report = bench.run(bench.plan(policy)).report
    return {r.release: r.measured for r in report.requirements}


@pytest.mark.slow(quick=1)
@pytest.mark.parametrize("seed", range(6))
def test_items_of_one_person_are_counted_together(keyed, seed):
    draw = Random(seed)
    every = [f"{letter}{i}" for letter in "xy" for i in range(3)]
    sets = [draw.sample(every, draw.randint(0, 4)) for _ in range(60)]
    people = [f"p{i}" for i in range(len(sets))]
    pq.write_table(pa.table({"person": people, "basket": pa.array(sets, pa.list_(pa.string()))}), keyed.folder / FILE)
    combinations = Counter(c for each in sets for m in (1, 2) for c in itertools.combinations(sorted(each), m))
    found = measured(keyed, SETS.replace("FROM", "ids"))
    assert found[BOTH] == min(combinations.values())
    assert found["one"] == min(n for c, n in combinations.items() if not any(i.startswith("y") for i in c))
    assert set(measured(keyed, SETS.replace("FROM", "source"))) == {"one", "two"}


@pytest.mark.parametrize("second", ["second", "some"])
def test_halves_of_rows_are_compared_with_whole_rows(keyed, second):
    """400 rows, each once: both halves have each value twenty times, and joining them gives the rows."""
    keyed.data([[f"p{i}", f"a{i % 20}", f"b{i // 20}"] for i in range(400)], header="person,a,b")
    policy = ROWS.replace("SECOND", second)
    assert measured(keyed, policy.replace("FROM", "ids")) == {"one": 0.0, "two": 0.0, BOTH: 1.0}
    assert measured(keyed, policy.replace("FROM", "source")) == {"one": 0.0, "two": 0.0}

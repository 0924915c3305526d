"""Steps on numbers through a whole run: columns stay numbers, and how rows are cut into partitions does not matter."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

POLICY = """version: 1
name: numbers
source: {path: table.csv}
attributes:
  age: {role: insensitive, type: integer}
  income: {role: insensitive, type: float}
  born: {role: insensitive, type: date}
  seen: {role: insensitive, type: timestamp}
  city: {role: insensitive}
steps:
  cut: {use: top_bottom_code, with: {attributes: [income, age], top: {quantile: 0.95}, replace: mean, min_rows: 5}}
  noise: {use: add_noise, with: {attributes: [income, age], scale: 0.2, correlated: true, keep_moments: true}}
  days: {use: add_noise, with: {attributes: [born, seen], distribution: laplace, sd: 30, min: "1950-01-01"}}
  exchange: {use: rank_swap, with: {attributes: [age, seen], percent: 5}}
  round: {use: round_values, with: {attributes: [income], base: 50, how: controlled, by: [city]}}
  tens: {use: round_values, with: {attributes: [age], base: 5, how: random}}
releases:
  study: {path: study.parquet}
"""
HEADER = "age,income,born,seen,city"


def people(rows: int = 400) -> list[list[str]]:
    normal = np.random.default_rng(7).standard_normal((rows, 2))
    found = []
    for i, (one, other) in enumerate(normal.tolist()):
        income = "" if i % 29 == 3 else str(round(3000 + 700 * (0.6 * one + 0.8 * other), 2))
        day = f"{1950 + i % 50}-{1 + i % 12:02d}-{1 + i % 28:02d}"
        found.append([str(round(45 + 12 * one)), income, day, f"{day}T{i % 24:02d}:00:00", f"c{i % 3}"])
    return found


@pytest.mark.slow
def test_columns_stay_numbers_for_any_partitioning(bench):
    bench.data(people(), HEADER)
    plan = bench.plan(POLICY)
    tables = []
    for options in ({}, {"partition_rows": 7}, {"partition_rows": 50, "workers": 1, "memory_limit": 1}):
        outcome = bench.run(plan, **options)
        tables.append(pq.read_table(outcome.run_dir / "released/study/study.parquet"))
    first, *others = tables
    assert all(each.equals(first) for each in others)
    kinds = [pa.int64(), pa.float64(), pa.date32(), pa.timestamp("us")]
    assert [first.schema.field(n).type for n in ("age", "income", "born", "seen")] == kinds
    assert first["income"].null_count == sum(not row[1] for row in people())
    assert not any(v % 5 for v in first["age"].to_pylist())
    assert not any(v % 50 for v in first["income"].drop_null().to_pylist())
    assert pc.min(first["born"]).as_py().isoformat() >= "1950-01-01"


def test_what_lies_beside_the_release_and_in_the_report(bench):
    bench.data(people(), HEADER)
    outcome = bench.run(bench.plan(POLICY))
    released = outcome.run_dir / "released/study"
    documents = [json.loads((released / n).read_text()) for n in ("noise.json", "days-noise.json")]
    assert sorted(d["relative_scale"] or 0 for d in documents) == [0, 0.2]
    assert all(("sd" in a) == (d["relative_scale"] is None) for d in documents for a in d["attributes"])
    assert "PPF868" in {f.code for f in outcome.report.findings}
    assert outcome.report.metrics["noise.income.noise_to_sd"].value == 0.2
    assert outcome.report.metrics["cut.income.mean_shift"].value is not None

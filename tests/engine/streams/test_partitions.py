"""The same bytes of release for any partitions, threads and memory; given the same key."""

from __future__ import annotations

import pytest

from ppdm_flow.core.draws import RunKey

WEIGHTED = """version: 1
name: weighted
source: {path: table.csv}
attributes:
  town: {role: quasi_identifier}
  illness: {role: sensitive}
  n: {role: weight}
privacy:
  sensitivities:
    illness: {default: {tolerance: 3}}
steps:
  perturb: {use: fine_grain_perturbation}
  some: {use: sample, with: {fraction: 0.7}}
releases:
  study: {path: study.csv}
  plain: {path: plain.parquet, shuffle: false}
"""

SHAPES = [
    {"partition_rows": 200},
    {"partition_rows": 1 << 20},
    {"partition_rows": 2_800, "memory_limit": 16_000, "workers": 3},
    {"partition_rows": 200, "memory_limit": 0},
]


@pytest.fixture(scope="module")
def expected() -> dict:
    return {}


def compare(bench, tools, plan, shape, expected, case) -> None:
    outcome = bench.run(plan, **shape)
    found = tools.released(outcome.run_dir)
    figures = {k: f.value for k, f in outcome.report.metrics.items()}
    first = expected.setdefault(case, (found, figures, shape))
    assert found == first[0], f"{shape} against {first[2]}"
    assert {k for k, v in figures.items() if v is None} == {k for k, v in first[1].items() if v is None}
    measured = {k: v for k, v in figures.items() if v is not None}
    assert measured == pytest.approx({k: v for k, v in first[1].items() if v is not None}, rel=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_two_releases_of_8300_rows(bench, tools, shape, expected):
    bench.data(tools.rows(8_300))
    compare(bench, tools, bench.plan(), shape, expected, "clinic")


@pytest.mark.slow(quick=1)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_weighted_rows_that_are_written_out(bench, tools, shape, expected):
    found = [[r[2], r[3], str(i % 5)] for i, r in enumerate(tools.rows(3_000))]
    bench.data(found, "town,illness,n")
    compare(bench, tools, bench.plan(WEIGHTED), shape, expected, "weighted")


@pytest.mark.slow(quick=1)
@pytest.mark.parametrize("shape", SHAPES[::2], ids=str)
def test_incomplete_rows_that_are_dropped_keep_the_numbers_of_the_others(bench, tools, shape, expected):
    found = tools.rows(5_000)
    for i in range(0, 5_000, 7):
        found[i][3] = "?"
    bench.data(found)
    policy = tools.POLICY.replace('missing: ["?", ""]', 'missing: ["?", ""], incomplete_rows: drop')
    compare(bench, tools, bench.plan(policy), shape, expected, "incomplete")


@pytest.mark.slow
def test_another_key_gives_another_release_and_a_seed_the_same_one(bench, tools):
    bench.data(tools.rows(500))
    policy = tools.POLICY + "randomness: {mode: reproducible, seed: '7'}\n"
    one, two = (tools.released(bench.run(bench.plan(policy), key=None).run_dir) for _ in range(2))
    assert one == two
    other = tools.released(bench.run(bench.plan(policy), key=RunKey.from_seed("8")).run_dir)
    assert other["study/study.csv"] != one["study/study.csv"]
    assert sorted(other["other/sub/other.parquet"]) != []


@pytest.mark.slow
def test_sealed_runs_differ(bench, tools):
    bench.data(tools.rows(500))
    plan = bench.plan()
    one, two = (bench.run(plan, key=None).run_dir for _ in range(2))
    assert one != two
    assert tools.released(one)["study/study.csv"] != tools.released(two)["study/study.csv"]
    commitments = {tools.manifest(r)["randomness"]["commitment"] for r in (one, two)}
    assert len(commitments) == 2


@pytest.mark.slow
def test_the_same_rows_in_a_parquet_file_give_the_same_release(bench, tools):
    import pyarrow.csv as pcsv
    import pyarrow.parquet as pq

    bench.data(tools.rows(1_000))
    csv = tools.released(bench.run(bench.plan()).run_dir)
    pq.write_table(pcsv.read_csv(bench.folder / "table.csv"), bench.folder / "table.parquet", row_group_size=77)
    policy = tools.POLICY.replace("table.csv", "table.parquet")
    parquet = tools.released(bench.run(bench.plan(policy)).run_dir)
    assert csv == parquet

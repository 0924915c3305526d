"""Weights say how many people a row represents: neither data nor steps may make that up."""

from __future__ import annotations

import pytest

from ppdm_flow.core.errors import DataError, RunError
from ppdm_flow.tables.column import Column

POLICY = """version: 1
name: counts
source: {path: table.csv}
attributes:
  job: {role: quasi_identifier}
  people: {role: weight}
  illness: {role: sensitive}
privacy:
  k_anonymity: {k: 3}
releases:
  study: {path: study.csv}
"""
ROWS = [["clerk", "5", "flu"], ["nurse", "5", "flu"]]
HEADER = "job,people,illness"


@pytest.mark.parametrize("zero", ["0", "00"])
def test_a_row_that_stands_for_nobody_is_not_released(bench, tools, zero):
    bench.data([*ROWS, ["astronaut", zero, "rare"]], HEADER)
    done = bench.run(bench.plan(POLICY))
    assert done.report.verdict == "released"
    assert b"astronaut" not in tools.released(done.run_dir)["study/study.csv"]
    assert done.report.run["input"] | {"sha256": "", "bytes": 0} == {
        "name": "table.csv",
        "bytes": 0,
        "sha256": "",
        "rows_read": 3,
        "rows_used": 2,
    }


@pytest.mark.slow
def test_dropped_rows_stay_dropped_when_the_file_is_read_again(bench, tools):
    bench.data([*ROWS, ["astronaut", "0", "rare"], ["clerk", "2", "flu"]] * 50, HEADER)
    plan = bench.plan(POLICY)
    held, read_sql = bench.run(plan), bench.run(plan, memory_limit=1, partition_rows=7)
    assert tools.released(held.run_dir) == tools.released(read_sql.run_dir)


@pytest.mark.parametrize("weight", ["0x10", "+5", " 5", "5.0", "1e3", "9999999999999999999", "٣"])
def test_only_plain_whole_numbers_are_weights(bench, weight):
    bench.data([*ROWS, ["pilot", weight, "flu"]], HEADER)
    error = bench.fails(bench.plan(POLICY))
    assert isinstance(error, DataError)
    assert error.diagnostics[0].code == "PPF715"
    assert error.diagnostics[0].message.startswith("row 3: column `people`")


def test_weights_that_64_bits_cannot_add_up(bench):
    bench.data([["clerk", "999999999999999999", "flu"]] * 19, HEADER)
    error = bench.fails(bench.plan(POLICY))
    assert error.diagnostics[0].code == "PPF715"


@pytest.mark.parametrize("weight", ["0", "x"])
def test_a_file_of_another_tool_with_rows_for_nobody_is_not_judged(bench, tmp_path, weight):
    from ppdm_flow.engine.verify.judge_files import judge

    original = bench.data(ROWS, HEADER)
    released = bench.data([*ROWS, ["astronaut", weight, "flu"]], HEADER, "theirs.csv")
    with pytest.raises(DataError) as caught:
        judge(bench.plan(POLICY), original, released, "study")
    assert caught.value.diagnostics[0].code == "PPF715"


def test_a_step_that_writes_weights_of_zero_fails(bench, tools):
    class Zeroes:
        draws_per_row = 0

        def __init__(self, params):
            self.params = params

        def fit(self, data, ctx):
            from ppdm_flow.sdk.anonymizer import Fitted

            return Fitted(self)

        def describe(self):
            return {}

        def apply(self, part, draws):
            return part.replaced({"job": part["job"], "people": Column.of(["0"] * len(part))})

    policy = POLICY.replace(
        "releases:", "steps: {coarse: {use: generalize, with: {attributes: {job: {prefix: 1}}}}}\nreleases:"
    )
    bench.data(ROWS, HEADER)
    assert isinstance(bench.fails(tools.swapped(bench.plan(policy), "coarse", Zeroes)), RunError)

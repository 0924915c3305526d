"""An identifier that a step has replaced must be gone from the released bytes."""

from __future__ import annotations

import pytest

from ppdm_flow.core.errors import DataError
from ppdm_flow.engine.judge_files import judge

POLICY = """version: 1
name: people
source: {path: table.csv}
attributes:
  name: {role: ROLE}
  age: {role: quasi_identifier}
privacy:
  k_anonymity: {k: 2}
steps:
  mask: {use: generalize, with: {attributes: {name: {prefix: KEPT}}}}
releases:
  study: {path: study.csv}
"""
ROWS = [["Ann Leigh", "1"], ["Bob", "1"], ["Cynthia", "1"]]


def policy(kept: int, role: str = "identifier") -> str:
    return POLICY.replace("ROLE", role).replace("KEPT", str(kept))


@pytest.mark.parametrize(("kept", "left"), [(99, "3 values"), (7, "2 values"), (3, "1 value")])
def test_values_that_come_out_as_they_went_in(bench, kept, left):
    bench.data(ROWS, "name,age")
    error = bench.fails(bench.plan(policy(kept)))
    assert isinstance(error, DataError)
    assert error.diagnostics[0].code == "PPF728"
    assert error.diagnostics[0].message.startswith(left)
    assert "Ann" not in str(error)


def test_values_that_are_really_replaced(bench, tools):
    bench.data(ROWS, "name,age")
    done = bench.run(bench.plan(policy(1)))
    assert done.report.verdict == "released"
    assert b"Bob" not in tools.released(done.run_dir)["study/study.csv"]


def test_a_file_of_another_tool(bench):
    original = bench.data(ROWS, "name,age")
    released = bench.data([["x", "1"], ["Bob", "1"]], "name,age", "theirs.csv")
    with pytest.raises(DataError) as caught:
        judge(bench.plan(policy(1)), original, released, "study")
    assert caught.value.diagnostics[0].code == "PPF728"

"""An identifier that a step has replaced must be gone from the released bytes."""

from __future__ import annotations

import pytest

from ppdm_flow.core.errors import DataError
from ppdm_flow.engine.verify.judge_files import judge

POLICY = """version: 1
name: people
source: {path: table.csv}
attributes:
  name: {role: identifier}
  age: {role: quasi_identifier}
privacy:
  k_anonymity: {k: 2}
steps:
  hide: {use: pseudonymize, with: {attributes: [name], key_env: NAMES_KEY}}
releases:
  study: {path: study.csv}
"""
ROWS = [["Ann Leigh", "1"], ["Bob", "1"], ["Cynthia", "1"]]


@pytest.fixture(autouse=True)
def _key(monkeypatch):
    monkeypatch.setenv("NAMES_KEY", "0123456789abcdef0123456789abcdef")


def test_values_that_are_really_replaced(bench, tools):
    bench.data(ROWS, "name,age")
    done = bench.run(bench.plan(POLICY))
    assert done.report.verdict == "released"
    assert b"Bob" not in tools.released(done.run_dir)["study/study.csv"]


@pytest.mark.parametrize(("theirs", "left"), [(["x", "Bob"], "1 value"), (["Ann Leigh", "Bob"], "2 values")])
def test_a_file_of_another_tool(bench, theirs, left):
    original = bench.data(ROWS, "name,age")
    released = bench.data([[name, "1"] for name in theirs], "name,age", "theirs.csv")
    with pytest.raises(DataError) as caught:
        judge(bench.plan(POLICY), original, released, "study")
    assert caught.value.diagnostics[0].code == "PPF728"
    assert caught.value.diagnostics[0].message.startswith(left)
    assert "Bob" not in str(caught.value)

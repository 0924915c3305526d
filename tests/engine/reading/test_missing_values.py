"""What a release with missing values is judged by, from the file to the verdict."""

from __future__ import annotations

import pytest

POLICY = """version: 1
name: towns
source: {path: table.csv, missing: ["?"]}
attributes:
  town: {role: quasi_identifier}
  age: {role: quasi_identifier}
  illness: {role: sensitive}
nulls: NULLS
privacy:
  k_anonymity: {k: 2}
  STEP
releases:
  study: {path: study.csv}
"""
ALONE = [("z", "?"), ("?", "3")]
"""A person who is known to be (z, 5) fits one of the two rows only."""
CROWD = [("z", "?"), ("z", "?"), ("z", "3")]


def verdict(bench, rows, nulls, more=""):
    bench.data([[*row, "flu"] for row in rows], "town,age,illness")
    return bench.run(bench.plan(POLICY.replace("NULLS", nulls).replace("STEP", more))).report


@pytest.mark.slow(quick=3)
@pytest.mark.parametrize(
    ("rows", "nulls", "expected", "k"),
    [
        (ALONE, "wildcard", "withheld", 1),
        (CROWD, "wildcard", "released", 2),
        (CROWD, "own_category", "withheld", 1),
        ([*CROWD, ("z", "3")], "own_category", "released", 2),
        (CROWD, "exclude", "withheld", 1),
        ([*CROWD, ("z", "3")], "exclude", "released", 2),
    ],
)
def test_a_row_with_a_missing_value(bench, rows, nulls, expected, k):
    report = verdict(bench, rows, nulls)
    (result,) = report.requirements
    assert (report.verdict, result.measured) == (expected, k)
    assert ("no other row has" in result.sentence) == (nulls == "wildcard")

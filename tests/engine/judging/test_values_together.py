"""Several values of one attribute in `lkc`: half and half is everybody."""

from __future__ import annotations

import pytest

POLICY = """version: 1
name: clinic
source: {path: table.csv}
attributes:
  town: {role: quasi_identifier}
  illness: {role: sensitive}
privacy:
  lkc: {l: 1, k: 2, c: 0.5, sensitive: {illness: [HIV, syphilis]}}
releases: {study: {path: study.csv}}
"""
HALF_AND_HALF = [["A", "HIV"], ["A", "syphilis"], ["B", "HIV"], ["B", "flu"]]
ONE_OF_TWO = [["A", "flu"], ["A", "syphilis"], ["B", "HIV"], ["B", "flu"]]


@pytest.mark.parametrize(("table", "released"), [(HALF_AND_HALF, False), (ONE_OF_TWO, True)])
def test_people_with_one_of_them(bench, table, released):
    bench.data(table, header="town,illness")
    report = bench.run(bench.plan(POLICY)).report
    assert report.verdict == ("released" if released else "withheld")
    assert report.metrics["privacy.lkc.confidence"].value == (0.5 if released else 1.0)


def test_each_by_itself_is_bounded_by_alpha(bench):
    """`alpha_k` speaks of one value at a time."""
    each = "  alpha_k: {illness: {alpha: 0.5, values: [HIV, syphilis]}}"
    together = next(line for line in POLICY.splitlines() if "lkc" in line)
    bench.data(HALF_AND_HALF, header="town,illness")
    assert bench.run(bench.plan(POLICY.replace(together, each))).report.verdict == "released"


@pytest.mark.parametrize("step", ["mondrian", "full_domain_recoding"])
def test_a_search_keeps_them_apart(bench, step):
    bench.data([*HALF_AND_HALF, ["B", "flu"]], header="town,illness")
    whole = POLICY.replace("releases:", f"steps: {{merge: {{use: {step}, with: {{}}}}}}\nreleases:").replace(
        "c: 0.5", "c: 0.6"
    )
    assert bench.run(bench.plan(whole)).report.verdict == "released"

"""Gates on the releases that they are about: measured on each of them, or the data stays."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ppdm_flow.core.gate import FigureGate
from ppdm_flow.core.results import Figure
from ppdm_flow.engine.judging.judging import gates_of

POLICY = """version: 1
name: clinic
source: {path: table.csv}
attributes:
  age: {role: quasi_identifier, type: integer}
  town: {role: quasi_identifier}
  score: {role: insensitive}
privacy:
  k_anonymity: {k: 2, attributes: [town]}
steps:
  bare: {use: drop, with: {attributes: [score]}}
  same: {use: suppress, with: {attributes: [town]}, input: source}
gates:
  score: {metric: distributions.score.total_variation, max: 0.5%s}
releases:
  all: {from: same, path: all.csv}
  less: {from: bare, path: less.csv}
"""
TABLE = [[str(20 + i % 3), "A", str(i % 2)] for i in range(24)]


@pytest.fixture
def judged(bench):
    def run(more: str):
        bench.data(TABLE, header="age,town,score")
        report = bench.run(bench.plan(POLICY % more)).report
        return report.verdict, {(r.release, r.holds): r.sentence for r in report.gates}

    return run


def test_a_figure_that_one_release_lacks_holds_it_back(judged):
    """`less` has no column `score`, so no figure of it: only the run can tell."""
    verdict, gates = judged("")
    assert verdict == "withheld"
    assert set(gates) == {("all", True), ("less", False)}
    assert "no figure `distributions.score.total_variation` on release `less`" in gates["less", False]


def test_it_is_about_those_that_are_named(judged):
    verdict, gates = judged(", releases: [all]")
    assert (verdict, set(gates)) == ("released", {("all", True)})


@pytest.mark.slow
def test_nothing_waives_what_was_not_measured(bench):
    bench.data(TABLE, header="age,town,score")
    waiver = (
        "waivers:\n  w: {of: gates.score, reason: it is agreed with the study, owner: a@b.example, until: 2027-01-01}\n"
    )
    assert bench.run(bench.plan(POLICY % "" + waiver)).report.verdict == "withheld"


def gate(*releases: str) -> FigureGate:
    return FigureGate("gates.g", "a.b", None, 0.5, releases=releases)


def test_only_the_releases_of_a_gate_are_judged(bench):
    bench.data(TABLE, header="age,town,score")
    plan = bench.plan(POLICY % "")
    both = {"all/a.b": Figure(0.1, "share"), "less/a.b": Figure(0.9, "share")}

    def found(metrics, *releases):
        return [(r.release, r.holds) for r in gates_of(replace(plan, gates=(gate(*releases),)), metrics)]

    assert found(both, "all") == [("all", True)]
    assert found(both, "less") == [("less", False)]
    assert found(both, "all", "less") == [("all", True), ("less", False)]
    assert found({"all/a.b": both["all/a.b"]}, "all", "less") == [("all", True), ("less", False)]
    assert found({}, "all") == [("all", False)]
    only = replace(plan, releases=plan.releases[:1], gates=(gate("all", "less"), gate("less")))
    assert [(r.release, r.holds) for r in gates_of(only, {"a.b": both["all/a.b"]})] == [("all", True)]

"""Clauses that are about some releases: measured there and nowhere else, alone and beside all others."""

from __future__ import annotations

import pytest

POLICY = """version: 1
name: clinic
source: {path: table.csv}
attributes:
  patient: {role: identifier}
  age: {role: quasi_identifier}
  town: {role: quasi_identifier}
  illness: {role: sensitive}
privacy:
  k_anonymity:
PRIVACY
steps:
  ids: {use: pseudonymize, with: {attributes: [patient], key_file: one.key}}
  ages: {use: drop, input: ids, with: {attributes: [town, illness]}}
  towns: {use: drop, input: ids, with: {attributes: [age, illness]}}
releases:
  by-age: {from: ages, path: by-age.csv}
  by-town: {from: towns, path: by-town.csv}
"""
PEOPLE = [[f"p{i}", str(i % 4), f"t{i // 4 % 4}", f"i{i % 3}"] for i in range(16)]
"""Four of each age and of each town, and one of each combination."""


@pytest.fixture
def judged(bench):
    def run(*clauses, recipients="together"):
        bench.data(PEOPLE, header="patient,age,town,illness")
        key = bench.folder / "one.key"
        key.write_bytes(bytes(range(1, 25)).hex().encode())
        key.chmod(0o600)
        text = POLICY.replace("PRIVACY", "\n".join(f"    - {clause}" for clause in clauses))
        report = bench.run(bench.plan(f"{text}recipients: {recipients}\n")).report
        figures = {(r.id.rpartition(".")[2], r.release): [] for r in report.requirements}
        for r in report.requirements:
            figures[r.id.rpartition(".")[2], r.release].append(r.measured)
        return report.verdict, {key: each[0] if len(each) == 1 else each for key, each in figures.items()}

    return run


def test_a_clause_is_measured_on_its_releases_alone(judged):
    verdict, figures = judged("{name: ages, k: 4, releases: [by-age]}", recipients="apart")
    assert (verdict, figures) == ("released", {("ages", "by-age"): 4})


def test_other_bounds_for_other_recipients(judged):
    clauses = "{name: ages, k: 4, releases: [by-age]}", "{name: towns, k: 5, releases: [by-town]}"
    verdict, figures = judged(*clauses, recipients="apart")
    assert verdict == "withheld"
    assert figures == {("ages", "by-age"): 4, ("towns", "by-town"): 4}


def test_what_several_releases_tell_together_is_judged_by_each_clause_on_one_of_them(judged):
    """Else two clauses on one release each would leave to nobody what both tell."""
    verdict, figures = judged("{name: ages, k: 4, releases: [by-age]}", "{name: towns, k: 4, releases: [by-town]}")
    assert verdict == "withheld"
    assert figures == {("ages", "by-age"): [4, 1], ("towns", "by-town"): [4, 1]}


def test_a_clause_on_another_key_set_is_measured_by_its_own_attributes(judged):
    verdict, figures = judged("{name: both, k: 4}", "{name: town, k: 4, attributes: [town]}", recipients="apart")
    assert verdict == "released"
    assert figures["both", "by-age"] == 4
    assert figures["town", "by-age"] == 16

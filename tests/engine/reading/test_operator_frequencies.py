"""What an operator tells: with `tolerance` how often each value occurs, with stated bounds nothing of the data."""

from __future__ import annotations

import json
from collections import Counter

import pytest

from ppdm_flow.plan.compile import compile_policy
from ppdm_flow.policy import load

POLICY = """version: 1
name: clinic
source: {path: table.csv}
attributes:
  town: {role: insensitive}
  illness: {role: sensitive, domain: [flu, cold, HIV]}
privacy:
  sensitivities: {illness: {default: {%s}}}
steps:
  perturb: {use: fine_grain_perturbation%s}
releases: {study: {path: study.csv, audience: %s}}
"""
TOLERANCE, STATED = "tolerance: 3", "r1: 0.1, r2: 0.3"
ROWS = [["A", value] for value, many in (("flu", 300), ("cold", 80), ("HIV", 20)) for _ in range(many)]
ONE_MORE = [*ROWS, ["A", "HIV"]]


@pytest.fixture
def retention(bench):
    """The operator that a run publishes, and its report."""

    def run(rows, bound):
        bench.data(rows, header="town,illness")
        done = bench.run(bench.plan(POLICY % (bound, "", "partner")))
        (operator,) = json.loads((done.run_dir / "released/study/operator.json").read_text())["operators"]
        return operator["retention"], done.report

    return run


def test_one_person_more_shows_in_an_operator_made_from_frequencies(retention):
    (before, report), (after, _) = (retention(rows, TOLERANCE) for rows in (ROWS, ONE_MORE))
    assert before != after
    assert report.verdict == "released"
    assert "PPF647" in {f.code for f in report.findings}
    (told,) = report.requirements
    assert "knows the counts of the original exactly" in told.sentence
    assert all(str(count) not in told.sentence for count in Counter(v for _, v in ROWS).values())


def test_one_person_more_does_not_show_with_stated_bounds(retention):
    (before, report), (after, _) = (retention(rows, STATED) for rows in (ROWS, ONE_MORE))
    assert before == after
    assert report.verdict == "released"
    assert "PPF647" not in {f.code for f in report.findings}
    assert "exactly" not in report.requirements[0].sentence


@pytest.mark.parametrize(
    ("bound", "audience", "refused"),
    [
        (TOLERANCE, "public", True),
        (TOLERANCE, "partner", False),
        (TOLERANCE, "internal", False),
        (STATED, "public", False),
    ],
)
def test_only_what_is_public_is_refused(tmp_path, bound, audience, refused):
    def codes(text):
        (tmp_path / "p.yaml").write_text(text)
        return [d.code for d in compile_policy(load(tmp_path / "p.yaml")).diagnostics]

    text = POLICY % (bound, "", audience)
    assert codes(text) == ["PPF646"] * refused
    pattern = text.replace("illness: {role", '"ill*": {role').replace("{illness: {def", '{"ill*": {def')
    assert codes(pattern) == ["PPF646"] * refused
    renamed = text.replace("releases:", "  call: {use: rename, with: {attributes: {illness: reason}}}\nreleases:")
    assert codes(renamed) == ["PPF646"] * refused
    dropped = text.replace("releases:", "  bare: {use: drop, with: {attributes: [illness]}}\nreleases:")
    assert "PPF646" not in codes(dropped)

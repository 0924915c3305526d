"""Audits of risks in a run where people are counted: on the released file, and by both routes."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest

import ppdm_flow.audits.membership_inference.algorithm as attack
from ppdm_flow.plan.compile import compile_policy
from ppdm_flow.policy import load

POLICY = """version: 1
name: visits
source: {path: table.csv}
attributes:
  patient: {role: subject}
  age: {role: quasi_identifier}
  zip: {role: quasi_identifier}
  day: {role: insensitive}
people: {known_rows: 2}
privacy: {k_anonymity: {k: 2}}
steps:
  named: {use: pseudonymize, with: {attributes: [patient], key_env: STUDY_KEY}}
audits:
  sizes: {use: class_sizes}
  risk: {use: reidentification_risk}
releases: {a: {path: a.csv, from: LAST}}
"""


@pytest.fixture
def visits(bench, monkeypatch):
    monkeypatch.setenv("STUDY_KEY", "7f3a9c1e5b8d2046c1e8f7a3b5d90426")
    rng = np.random.default_rng(5)
    rows = [[f"p{rng.integers(40)}", *(str(rng.integers(3)) for _ in range(2)), "d"] for i in range(150)]
    bench.data(rows, "patient,age,zip,day")
    return rows


def metrics(bench, text):
    return bench.run(bench.plan(text)).report.metrics


def test_the_file_is_counted_by_people(bench, visits):
    text = POLICY.replace("LAST", "tidy").replace(
        "steps:", "steps:\n  tidy: {use: drop, with: {attributes: [patient]}}"
    )
    text = text.replace("  named: {use: pseudonymize, with: {attributes: [patient], key_env: STUDY_KEY}}\n", "")
    found = metrics(bench, text)
    classes = defaultdict(set)
    for who, age, zip_, _ in visits:
        classes[age, zip_].add(who)
    sizes = [len(own) for own in classes.values()]
    assert found["sizes.smallest"].value == min(sizes)
    assert found["sizes.smallest"].unit == "people"
    assert found["risk.prosecutor_highest"].value == pytest.approx(1 / min(sizes))


@pytest.mark.slow
def test_what_counts_rows_says_so(bench, visits):
    del visits
    audits = "audits:\n  close: {use: closest_record}\n  loss: {use: information_loss}"
    found = metrics(bench, POLICY.replace("LAST", "named").replace("audits:", audits))
    assert "counts rows, not people" in found["close.training_copies"].note
    told = [f.note for n, f in found.items() if n.startswith(("risk.", "sizes."))]
    assert not any("counts rows" in note for note in told)
    by_rows = POLICY.replace("LAST", "named").replace("audits:", audits).replace("{known_rows: 2}", "{unit: rows}")
    assert not any("counts rows" in f.note for f in metrics(bench, by_rows).values())


def test_a_pseudonym_tells_more(bench, visits):
    found = metrics(bench, POLICY.replace("LAST", "named"))
    assert found["risk.prosecutor_highest"].value > 1 / found["sizes.smallest"].value


MADE = """version: 1
name: made
source: {path: table.csv}
attributes:
  patient: {role: subject}
  age: {role: quasi_identifier}
  zip: {role: quasi_identifier}
  day: {role: insensitive}
people: {known_rows: 1}
steps:
  BEFORE
  generate: {use: krimp_generator, with: {holdout: 0.5, min_support: 2}}
audits:
  members: {use: membership_inference}
  alone: {use: singling_out}
releases: {a: {path: a.csv}}
"""


def test_a_generator_holds_people_out(bench, visits, monkeypatch):
    """Some rows never reach the generator: they go where the others of the same people are."""
    seen = []
    plain = attack.read

    def watched(original, candidate, ctx, *more):
        seen.append(ctx.holdout)
        return plain(original, candidate, ctx, *more)

    monkeypatch.setattr(attack, "read", watched)
    found = metrics(bench, MADE.replace("BEFORE", "some: {use: limit_rows, with: {rows: 2}}"))
    assert found["members.auc"].value is not None
    out = seen[0].held_out(np.arange(len(visits)))
    sides = defaultdict(set)
    for (who, *_), side in zip(visits, out.tolist(), strict=True):
        sides[who].add(side)
    assert all(len(both) == 1 for both in sides.values())
    assert 0 < out.sum() < len(visits)


def test_a_generator_that_nobody_reaches_holds_nobody_out(bench, visits):
    del visits
    text = MADE.replace("BEFORE", "unnamed: {use: drop, with: {attributes: [patient]}}")
    (bench.folder / "policy.yaml").write_text(text)
    found = compile_policy(load(bench.folder / "policy.yaml"))
    assert ("PPF780", True) in [(d.code, "holdout" in d.message) for d in found.diagnostics]

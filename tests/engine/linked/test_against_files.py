"""Figures of linked tables against a plain join of the files that left, by pseudonym."""

from __future__ import annotations

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from random import Random

import pytest

from ppdm_flow import api

_SPEC = spec_from_file_location("plain_join", Path(__file__).with_name("plain_join.py"))
plain = module_from_spec(_SPEC)
_SPEC.loader.exec_module(plain)

POLICY = """version: 1
name: clinic
tables:
  patients:
    source: {{path: patients.csv}}
    key: patient
    attributes:
      patient: {{role: subject}}
      born: {{role: quasi_identifier}}
      sex: {{role: quasi_identifier}}
  visits:
    source: {{path: visits.csv}}
    refers: {{patient: patients}}
    attributes:
      hospital: {{role: quasi_identifier}}
      diagnosis: {{role: sensitive}}
  claims:
    source: {{path: claims.csv}}
    refers: {{patient: patients}}
    attributes:
      paid: {{role: quasi_identifier}}
people: {{known_rows: {known}}}
nulls: {nulls}
privacy:
  k_anonymity:
    of-both: {{k: 2, attributes: [patients.born, visits.hospital]}}
    of-all: {{k: 2, attributes: [patients.born, patients.sex, visits.hospital, claims.paid]}}
  alpha_k: {{visits.diagnosis: {{alpha: 0.7, attributes: [patients.born, patients.sex]}}}}
steps:
  names: {{use: pseudonymize, input: patients, with: {{attributes: [patient], key_env: CLINIC_KEY}}}}
  some: {{use: {use}, input: visits, with: {given}}}
releases:
  patients: {{from: names, path: patients.csv}}
  visits: {{from: some, path: visits.csv}}
  claims: {{from: claims, path: claims.csv}}
"""
STEPS = (
    ("sample", "{fraction: 0.7}"),
    ("limit_rows", "{rows: 1}"),
    ("suppress", "{rare: {hospital: 2}, small: keep}"),
    ("shuffle_rows", "{}"),
)
BY = {
    "of-both": (("patients", "visits"), ["born", "hospital"]),
    "of-all": (("patients", "visits", "claims"), ["born", "sex", "hospital", "paid"]),
}


def tables(draw: Random):
    people = [f"p{i}" for i in range(draw.randint(3, 9))]
    patients = [{"patient": p, "born": draw.choice(["x", "y", ""]), "sex": draw.choice("fm")} for p in people]
    visits = [
        {"patient": p, "hospital": draw.choice(["n", "s", ""]), "diagnosis": draw.choice(["flu", "hiv", "cold"])}
        for p in people
        for _ in range(draw.choice([0, 1, 1, 2, 3]))
    ]
    claims = [{"patient": p, "paid": draw.choice("12")} for p in people for _ in range(draw.choice([0, 1, 2]))]
    nobody = {"patient": people[0]}
    return {
        "patients": patients,
        "visits": visits or [{**nobody, "hospital": "n", "diagnosis": "flu"}],
        "claims": claims or [{**nobody, "paid": "1"}],
    }


def compared(clinic, run, seed: int) -> int:
    """Run a random policy on random tables; return how many figures were compared."""
    draw = Random(seed)
    known, nulls = draw.choice(["1", "2", "all"]), draw.choice(["own_category", "exclude"])
    use, given = draw.choice(STEPS)
    text = POLICY.format(known=known, nulls=nulls, use=use, given=given)
    policy = clinic(text, **tables(draw))
    result = run(policy)
    folder = result.run_dir / ("released" if result.released else "withheld")
    files = {name: plain.read(folder / name / f"{name}.csv") for name in ("patients", "visits", "claims")}
    measured = {(r["metric"], r["release"]): r["measured"] for r in result.document["requirements"]}
    number = 0
    for name, (joined, by) in BY.items():
        rows = plain.joined([files[each] for each in joined])
        where, metric = " + ".join(joined), f"privacy.k_anonymity.{name}"
        assert measured[f"{metric}.k", where] == plain.k(rows, by, nulls), (seed, name)
        smallest = plain.known_k(rows, by, nulls, known)
        if (f"{metric}.known_rows_k", where) in measured:
            assert measured[f"{metric}.known_rows_k", where] == smallest, (seed, name)
            number += 1
        number += 1
    everything, metric = plain.in_turn([files[name] for name in files]), "privacy.k_anonymity.of-all.known_rows_k"
    row_by_row = "patients + visits + claims, row by row"
    assert (("privacy.k_anonymity.of-all.k", row_by_row) in measured) == (known != "1"), seed
    turn = measured.get((metric, row_by_row))
    if turn is not None:
        assert turn == plain.known_k(everything, BY["of-all"][1], nulls, known), (seed, "row by row")
        number += 1
    rows = plain.joined([files["patients"], files["visits"]], frozenset({1}))
    alpha = plain.alpha(rows, ["born", "sex"], "diagnosis", nulls)
    found = measured["privacy.alpha_k.visits.diagnosis.alpha", "patients + visits"]
    assert found == (None if alpha is None else pytest.approx(alpha)), seed
    by_another_tool = api.audit(policy, policy.parent, folder).judgement(100).document["requirements"]
    alone = {key: value for key, value in measured.items() if ".together_" not in key[0]}
    assert {(r["metric"], r["release"]): r["measured"] for r in by_another_tool} == alone, seed
    return number + 1


SAMPLE = (0, 1, 2, 5, 6, 7, 8, 9, 19, 24, 25, 28)
"""Each step, each number of rows that are known and each semantics of nulls in it meets each of the others.

``tests/campaigns/linked_tables.py`` takes as many as one likes.
"""


@pytest.mark.random
@pytest.mark.parametrize("seed", SAMPLE)
def test_the_files_tell_what_was_measured(clinic, run, seed):
    assert compared(clinic, run, seed) >= 3

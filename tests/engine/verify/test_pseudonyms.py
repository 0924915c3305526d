"""People of a file that another tool made, counted by its own pseudonyms."""

from __future__ import annotations

import csv
from random import Random

import numpy as np
import pytest

from ppdm_flow import api
from ppdm_flow.core.errors import DataError
from ppdm_flow.engine.verify.released_file import require_one_each

POLICY = """version: 1
name: clinic
source: {{path: visits.csv}}
attributes:
  patient: {{role: subject}}
  age: {{role: quasi_identifier}}
  town: {{role: quasi_identifier}}
  note: {{role: insensitive}}
  dis: {{role: sensitive}}
people: {{known_rows: {known}}}
nulls: {nulls}
privacy:
  k_anonymity: {{k: 2}}
  l_diversity: {{dis: {{l: 2, kind: distinct}}}}
  alpha_k: {{dis: {{alpha: 0.7}}}}
  t_closeness: {{dis: {{t: 0.5, distance: equal}}}}
  delta_disclosure: {{dis: {{delta: 2.0}}}}
  beta_likeness: {{dis: {{beta: 2.0}}}}
  templates: {{hiv: {{channel: [age, town], sensitive: {{dis: [hiv]}}, confidence: 0.8}}}}
steps:
  names: {{use: pseudonymize, with: {{attributes: [patient], key_env: CLINIC_KEY}}}}
releases:
  study: {{from: names, path: study.csv}}
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("CLINIC_KEY", "0123456789abcdef0011223344556677")
    return tmp_path


def of_run(folder, draw: Random, known: str, nulls: str):
    """Run the policy on random visits; return its requirements, and the file that left."""
    rows = [
        [f"p{i}", draw.choice(["20", "30", ""]), draw.choice("ab"), draw.choice("xyz"), draw.choice(["flu", "hiv"])]
        for i in range(draw.randint(4, 12))
        for _ in range(draw.choice([1, 1, 2, 3]))
    ]
    with (folder / "visits.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([["patient", "age", "town", "note", "dis"], *rows])
    (folder / "policy.yaml").write_text(POLICY.format(known=known, nulls=nulls), encoding="utf-8")
    result = api.run(folder / "policy.yaml", out=folder / "runs", keep_withheld=True)
    place = "released" if result.released else "withheld"
    return result.document["requirements"], result.run_dir / place / "study" / "study.csv"


def rewritten(file, change):
    """Write the file's rows again, each as ``change`` (its number, its cells) has it."""
    with file.open(encoding="utf-8", newline="") as lines:
        head, *rows = csv.reader(lines)
    with file.open("w", encoding="utf-8", newline="") as lines:
        csv.writer(lines).writerows(
            [head, *(change(i, dict(zip(head, row, strict=True))).values() for i, row in enumerate(rows))]
        )


@pytest.mark.random
@pytest.mark.parametrize("seed", range(6))
def test_a_file_is_judged_as_the_run_that_made_it(folder, seed):
    draw = Random(seed)
    known, nulls = draw.choice(["1", "2", "all"]), draw.choice(["own_category", "exclude"])
    before, file = of_run(folder, draw, known, nulls)
    after = api.audit(folder / "policy.yaml", folder / "visits.csv", file).judgement(100).document
    figures = {r["metric"]: r["measured"] for r in after["requirements"]}
    assert figures == {r["metric"]: pytest.approx(r["measured"]) for r in before}
    assert len(figures) >= 7
    assert "PPF918" in [finding["code"] for finding in after["findings"]]


@pytest.mark.slow
@pytest.mark.parametrize(
    "change",
    [
        lambda i, row: row | {"patient": f"{i}"},
        lambda _i, row: row | {"patient": "one"},
        lambda i, row: row | {"patient": row["patient"] if i else ""},
    ],
    ids=["a pseudonym for each row", "one for all", "none"],
)
def test_pseudonyms_that_are_not_the_peoples_are_refused(folder, change):
    _, file = of_run(folder, Random(1), "1", "own_category")
    rewritten(file, change)
    with pytest.raises(DataError) as error:
        api.audit(folder / "policy.yaml", folder / "visits.csv", file)
    assert error.value.diagnostics[0].code == "PPF700"


@pytest.mark.slow
def test_other_pseudonyms_of_the_same_people_are_as_good(folder):
    before, file = of_run(folder, Random(1), "1", "own_category")
    rewritten(file, lambda _i, row: row | {"patient": row["patient"][::-1]})
    after = api.audit(folder / "policy.yaml", folder / "visits.csv", file).judgement(100).document
    assert [r["measured"] for r in after["requirements"]] == [pytest.approx(r["measured"]) for r in before]


@pytest.mark.parametrize(
    ("released", "original", "fits"),
    [
        ([2, 1], [1, 2], True),
        ([1], [5, 5], True),
        ([], [1], True),
        ([1, 1, 1], [2, 1], False),
        ([3], [2, 2], False),
        ([2, 2], [3, 1], False),
    ],
)
def test_each_pseudonym_has_room_in_a_person(released, original, fits):
    each = [np.array(rows, dtype=np.int64) for rows in (released, original)]
    if fits:
        require_one_each(*each, "the file")
        return
    with pytest.raises(DataError, match="one to one"):
        require_one_each(*each, "the file")

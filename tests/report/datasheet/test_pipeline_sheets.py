"""Sheets of worked policies: generated rows, a table in parts, linked tables, randomized sets."""

from __future__ import annotations

import hashlib

import pytest

from ppdm_flow import api

SAID = {
    "hospital_generated": {
        "study": [
            "All rows were generated: none of them belongs to a person",
            "The values were generated, row by row",
            "A row belongs to nobody.",
            "On a scale from 0 for none to 1 for all of them",
        ]
    },
    "hospital_partition": {
        "people": [
            "It is made from age, region and sex of the original.",
            "The key names a group of rows and not one row.",
            "No column of this file depends on the attributes that this is about.",
        ],
        "sensitive": ["Rows exchanged values with others.", "it has at least 5 values"],
    },
    "clinic_visits": {
        "patients": [
            "Each value was replaced by a pseudonym",
            "knows birth\\_year, sex and district of a person",
        ],
        "visits": ["Of people with many rows, only some were kept", "no value of diagnosis that the policy protects"],
    },
    "pharmacy": {
        "study": ["ppdm-flow mine . --min-support", "The number of items that a set had is published", "`at most 50%`"],
    },
}
UNSAID = {
    ("hospital_partition", "people"): ["Rows exchanged values with others.", "sensitive.csv"],
    ("hospital_partition", "sensitive"): ["people."],
    ("clinic_visits", "patients"): ["visits", "diagnosis", "hospital"],
    ("clinic_visits", "visits"): ["patients", "birth"],
}


@pytest.mark.slow
@pytest.mark.parametrize("name", SAID)
def test_the_sheet_of_a_worked_policy(root, tmp_path, monkeypatch, name):
    monkeypatch.setenv("CLINIC_KEY", hashlib.sha256(b"a key for tests").hexdigest())
    run = api.run(root / f"pipelines/{name}.yaml", out=tmp_path).run_dir
    for release, parts in SAID[name].items():
        text = (run / "released" / release / "datasheet.md").read_text()
        for part in parts:
            assert part.strip("`") in text, part
        for part in UNSAID.get((name, release), ()):
            assert part not in text.partition("## What this is")[2].replace("clinic\\_visits", "the policy"), part
        page = (run / "released" / release / "datasheet.html").read_text()
        assert page.count("<section") == page.count("</section>")

"""Names of files: what clashes with a run's own documents, what some systems cannot have, and what is fine."""

from __future__ import annotations

from pathlib import Path

import pytest

from ppdm_flow.core.texts import alike, beside, refused
from ppdm_flow.policy import load

LONG = "x" * 256
POLICY = """version: 1
name: {name}
attributes: {{job: {{role: quasi_identifier}}}}
privacy: {{k_anonymity: {{k: 2}}}}
steps: {{{step}: {{use: drop, with: {{attributes: [x]}}}}}}
releases: {{{release}: {{path: {path}, format: csv}}}}
"""


def codes(tmp_path: Path, **names: str) -> list[str]:
    given = {"name": "fine", "step": "cut", "release": "study", "path": "study.csv", **names}
    (tmp_path / "p.yaml").write_text(POLICY.format(**given))
    return [d.code for d in load(tmp_path / "p.yaml").diagnostics]


@pytest.mark.parametrize(
    "path",
    [
        "dictionary.json",
        "Dictionary.json",
        "./DICTIONARY.JSON",
        "dictionary.json/study.csv",
        "operator.json",
        "Attestations/study.csv",
        "mining_contract.json",
        "perturb-operator.json",
    ],
)
def test_names_of_documents(tmp_path, path):
    assert codes(tmp_path, path=path) == ["PPF596"]


@pytest.mark.parametrize(
    "path",
    [
        "dictionary.csv",
        "tables/dictionary.json",
        "my_dictionary.json",
        "study.v2.csv",
        "a b.csv",
        "größe.csv",
        "nulls.csv",
        "console/prn1.csv",
        "..data.csv",
    ],
)
def test_names_that_are_fine(tmp_path, path):
    assert codes(tmp_path, path=path) == []


@pytest.mark.parametrize(
    "path",
    [
        r'"a\0b.csv"',
        r'"a\x1bb.csv"',
        r'"a\\b.csv"',
        '"a:b.csv"',
        "NUL",
        "nul.csv",
        "tables/Con.csv",
        "com1.tar.gz",
        "a.csv.",
        '"a/ b.csv"',
        f"{'x' * 256}.csv",
    ],
)
def test_names_that_some_systems_refuse(tmp_path, path):
    found = codes(tmp_path, path=path)
    assert found in (["PPF598"], ["PPF516"]), found


@pytest.mark.parametrize("what", ["name", "release", "step"])
def test_devices(tmp_path, what):
    assert codes(tmp_path, **{what: "aux"}) == ["PPF598"]
    assert codes(tmp_path, **{what: "auxiliary"}) == []


def test_alike():
    assert alike(["a", "B", "A", "b", "c"]) == {"A": "a", "b": "B"}
    assert beside("Operator.JSON") == "operator.json"
    assert refused("study.csv") is None

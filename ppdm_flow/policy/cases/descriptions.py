"""A sentence and an example for every key of a test file, for editors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_TABLE = "job,disease\nnurse,flu\n"

_OWN: dict[str, tuple[str, Any]] = {
    "CaseFile.description": ("What the tests are about.", "What a release of credit records keeps back"),
    "CaseFile.policy": ("The policy that is tested, relative to this file.", "../policies/credit.yaml"),
    "CaseFile.set": ("Values of the policy's params, for all tests that do not say otherwise.", {"k": "3"}),
    "CaseFile.data": ("The data of all tests that write none of their own.", _TABLE),
    "CaseFile.tests": (
        "The tests by name. Randomness comes from a key that the name gives: a test comes out the same every time.",
        {"rare-ages-are-suppressed": {"data": _TABLE, "expect": {"verdict": "released"}}},
    ),
    "Case.description": ("What is tested, and why.", "Four of five cooks are bankrupt, so they are hidden"),
    "Case.data": (
        (
            "The table to run on: CSV text with a header, a list of rows, or a file. It is read in place of the "
            "policy's source, with its `missing` values."
        ),
        _TABLE,
    ),
    "Case.released": (
        "A table that is judged as the release, in place of what the steps make: it tests the requirements alone.",
        _TABLE,
    ),
    "Case.release": ("Which of several releases `released` is.", "billing"),
    "Case.set": ("Values of the policy's params.", {"k": "5"}),
    "Case.repeat": ("How often to draw anew, under keys of their own; what is expected must come each time.", "20"),
    "Case.expect": ("What must come of it.", {"verdict": "withheld", "fails": ["privacy.k_anonymity"]}),
    "Table.text": ("What the file would hold: CSV with a header; sets as the policy's source has them.", _TABLE),
    "Table.rows": (
        "Maps with the same keys, or a list of names and then lists. `~` is a missing value.",
        [["job", "disease"], ["nurse", "flu"]],
    ),
    "Table.csv": ("A CSV file with a header, relative to this file.", "small.csv"),
    "Table.file": ("A file that the policy's source can read, relative to this file.", "../data/visits.parquet"),
    "Figured.equals": ("The figure itself.", "3"),
    "Figured.min": ("The least that it may be.", "1"),
    "Figured.max": ("The most that it may be.", "4"),
    "Figured.tolerance": ("How far from `equals` it may be.", "0.01"),
    "Some.exactly": ("These and no others; a bare list says the same.", ["privacy.k_anonymity"]),
    "Some.include": ("All of these, whatever else there is.", ["privacy.k_anonymity"]),
    "Some.exclude": ("None of these.", ["privacy.templates.no-discharged"]),
    "Hidden.somewhere": ("Suppressed in at least one row that has it; a bare list says the same.", ["Lawyer"]),
    "Hidden.everywhere": ("Suppressed in every row that has it.", ["Lawyer"]),
    "Hidden.nowhere": ("Kept in every row that has it.", ["Cook"]),
    "Contents.rows": ("How many rows are released.", {"min": "1", "max": "10"}),
    "Contents.columns": ("The released columns, in any order.", ["job", "disease"]),
    "Contents.released_values": (
        "The values of released columns: `⊥` is a suppressed one, the empty text a missing one.",
        {"job": ["nurse", "⊥"]},
    ),
    "Contents.suppressed": ("Original values that are suppressed, by column.", {"job": ["Lawyer"]}),
    "Expect.verdict": (
        "`released`, `withheld`, or `refused`: then the input is at fault and nothing is made of it.",
        "withheld",
    ),
    "Expect.code": ("The diagnostic code that refused input is reported with.", "PPF709"),
    "Expect.fails": (
        "Requirements and gates that fail, and are not waived: exactly these. `RELEASE/` may stand before each.",
        ["privacy.k_anonymity"],
    ),
    "Expect.holds": ("Requirements and gates that hold on every release.", ["gates.still-useful"]),
    "Expect.waived": ("Requirements and gates that do not hold, and are waived.", ["gates.still-useful"]),
    "Expect.metrics": (
        "Measured figures, by their name in a run's report.",
        {"suppress.suppressed_cells": {"min": "1", "max": "4"}},
    ),
    "Expect.findings": ("Codes of findings that the run reports: exactly these.", {"include": ["PPF801"]}),
    "Expect.check": ("Codes of errors and warnings that `check` reports of the policy: exactly these.", ["PPF554"]),
    "Expect.releases": (
        "What each release holds, where the policy has several.",
        {"billing": {"rows": "12", "columns": {"exclude": ["disease"]}}},
    ),
}
_SHARED = ("rows", "columns", "released_values", "suppressed")

DESCRIPTIONS: Mapping[str, tuple[str, Any]] = _OWN | {f"Expect.{key}": _OWN[f"Contents.{key}"] for key in _SHARED}

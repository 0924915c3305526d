"""The glossary: each term has a text, and a pattern by which a report is found to use it."""

from __future__ import annotations

import re

from ppdm_flow.core.pages import read
from ppdm_flow.report.run.meanings import DIGEST, PAGE, RANDOMNESS, glossary

EMPTY = {"requirements": [], "gates": [], "metrics": {}, "steps": [], "findings": [], "run": {}, "releases": []}


def test_each_term_has_a_text_and_a_pattern():
    page = read(PAGE)
    patterns = page.entry("patterns")
    assert list(page.sections) == ["", *patterns, RANDOMNESS, DIGEST]
    assert page.sections[""] == ""
    for term, pattern in patterns.items():
        assert page.section(term).endswith((".", "`"))
        re.compile(pattern)


def test_only_terms_that_a_report_uses_are_explained():
    assert [term for term, _ in glossary(EMPTY)] == ["Released, withheld"]
    told = glossary({**EMPTY, "requirements": [{"id": "privacy.blend"}], "run": {"mode": "sealed"}})
    assert [term for term, _ in told] == ["Released, withheld", "Requirement", "Support", "Blend", RANDOMNESS]
    digest = {"digest": "0" * 64}
    assert [term for term, _ in glossary({**EMPTY, "releases": [digest]})] == ["Released, withheld", DIGEST]

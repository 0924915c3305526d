"""The reference has a page for every code that reading a policy raises, and for no other."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from ppdm_flow.core.pages import language, pages

ROOM = Path(__file__).resolve().parents[2] / "ppdm_flow" / "policy"
POLICIES = [f for f in ROOM.rglob("*.py") if f.relative_to(ROOM).parts[0] not in ("contract", "edit", "lock", "test")]
POLICIES += [f for name in ("problems", "redundancy") for f in ROOM.with_name("requirements").rglob(f"{name}.py")]
RANGES = (
    ("PPF100", "PPF117"),  # text
    ("PPF201", "PPF210"),  # shape
    ("PPF301", "PPF318"),  # inheritance and params
    ("PPF350", "PPF354"),  # lists of signers
    ("PPF470", "PPF473"),  # on databases
    ("PPF481", "PPF481"),
    ("PPF500", "PPF538"),  # rules on requirements, attributes, the ledger and files
    ("PPF542", "PPF549"),  # on people and linked tables
    ("PPF575", "PPF577"),
    ("PPF580", "PPF586"),  # and on equivalence classes
    ("PPF590", "PPF599"),  # and on sets of items and numbers
)
WAIVERS = ("PPF330", "PPF331", "PPF334", "PPF336", "PPF338")
"""What can be said of waivers without knowing what day it is, or which warnings there are."""
APPROVALS = ("PPF345", "PPF346", "PPF347")
"""What can be said of approvals without a look at who may give them."""
GATES = ("PPF645",)
"""The other one needs to know what audits measure."""
KINDS = ("PPF403", "PPF406")
"""Those of kinds of requirements that other packages bring."""
CODES = {c for c in pages() if any(a <= c <= b for a, b in RANGES)} | {*WAIVERS, *APPROVALS, *GATES, *KINDS}
PAGES = tuple(pages()[c] for c in sorted(CODES))


def test_pages_and_codes_agree() -> None:
    raised = {c for f in POLICIES for c in re.findall(r'"(PPF\d{3})"', f.read_text(encoding="utf-8"))}
    assert raised == {p.code for p in PAGES}
    assert raised <= set(pages())


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.code)
def test_a_page_says_what_why_and_how(page) -> None:
    assert page.title[0].islower() or page.title[0] == "`" or page.title.startswith("r1")
    for sentence in (page.what, page.why, page.fix):
        assert sentence.rstrip().endswith((".", "`"))


@pytest.mark.parametrize("page", [p for p in PAGES if language(p.good) == "yaml"], ids=lambda p: p.code)
def test_good_examples_are_yaml(page) -> None:
    assert yaml.compose(page.good) is not None

"""The reference has a page for every code that reading a policy raises, and for no other."""

from __future__ import annotations

import re
from pathlib import Path

import yaml

from ppdm_flow.core.pages import CodePage, language, pages

ROOM = Path(__file__).resolve().parents[2] / "ppdm_flow" / "policy"
POLICIES = [
    f
    for f in ROOM.rglob("*.py")
    if f.relative_to(ROOM).parts[0].removesuffix(".py") not in ("contract", "edit", "lock", "test")
]
POLICIES += ROOM.with_name("requirements").rglob("spec.py")
RANGES = (
    ("PPF100", "PPF117"),  # text
    ("PPF201", "PPF210"),  # shape
    ("PPF301", "PPF318"),  # inheritance and params
    ("PPF322", "PPF323"),
    ("PPF350", "PPF356"),  # lists of signers, project files
    ("PPF445", "PPF446"),  # on data that clients randomized
    ("PPF470", "PPF473"),  # on databases
    ("PPF481", "PPF481"),
    ("PPF492", "PPF493"),  # on values that are chosen from the data
    ("PPF499", "PPF499"),
    ("PPF500", "PPF538"),  # rules on requirements, attributes, the ledger and files
    ("PPF542", "PPF549"),  # on people and linked tables
    ("PPF566", "PPF566"),  # on templates that contradict each other
    ("PPF575", "PPF577"),
    ("PPF580", "PPF585"),  # and on equivalence classes
    ("PPF590", "PPF599"),  # and on sets of items and numbers
)
WAIVERS = ("PPF330", "PPF331", "PPF334", "PPF336", "PPF338")
"""What can be said of waivers without knowing what day it is, or which warnings there are."""
APPROVALS = ("PPF345", "PPF346", "PPF347")
"""What can be said of approvals without a look at who may give them."""
GATES = ("PPF614",)
"""The other one needs to know what audits measure."""
SPELLINGS = ("PPF635",)
KINDS = ("PPF403", "PPF405")
"""Those of kinds of requirements that other packages bring."""
CODES = {c for c in pages() if any(a <= c <= b for a, b in RANGES)} | {*WAIVERS, *APPROVALS, *GATES, *SPELLINGS, *KINDS}


def pages_of_policies() -> list[CodePage]:
    return [pages()[code] for code in sorted(CODES)]


def test_pages_and_codes_agree() -> None:
    raised = {c for f in POLICIES for c in re.findall(r'"(PPF\d{3})"', f.read_text(encoding="utf-8"))}
    assert raised == CODES
    assert raised <= set(pages())


def test_pages_say_what_why_and_how() -> None:
    faults = []
    for page in pages_of_policies():
        if not page.title[0].islower() and not page.title.startswith("`"):
            faults.append(f"{page.code}: its title begins with a capital: {page.title}")
        faults += [
            f"{page.code}: no full stop at the end of: {text}"
            for text in (page.what, page.why, page.fix)
            if not text.rstrip().endswith((".", "`"))
        ]
    assert not faults, "\n".join(faults)


def test_good_examples_are_yaml() -> None:
    faults = []
    for page in pages_of_policies():
        if language(page.good) == "yaml":
            try:
                if yaml.compose(page.good) is None:
                    faults.append(f"{page.code}: its good example is empty")
            except yaml.YAMLError as error:
                faults.append(f"{page.code}: {error}")
    assert not faults, "\n".join(faults)

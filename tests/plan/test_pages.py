"""Every code of plugins, flows and plans has a bad example or a test that raises it, and a page that helps."""

from __future__ import annotations

import re

import pytest

from ppdm_flow.core.codes import flow_rules, pages, plan, plugins

PAGES = (*plugins.PAGES, *plan.PAGES)

ELSEWHERE = {
    "PPF402": "tests/sdk: two distributions with one name need two distributions",
    "PPF403": "tests/plan/test_binding.py: a plugin whose import fails",
    "PPF404": "tests/plan/test_binding.py: no built-in is of a wrong kind",
    "PPF405": "tests/plan/test_binding.py: no built-in's model breaks",
    "PPF406": "tests/plan/test_binding.py: no built-in's effect breaks",
    "PPF554": "tests/plan/test_rules.py: the built-in says so itself (PPF783)",
    "PPF606": "tests/plan/test_flow.py: built-ins say so themselves (PPF781)",
    "PPF607": "tests/plan/test_flow.py: built-ins say so themselves (PPF797)",
    "PPF612": "tests/plan/test_flow.py: needs the columns of data",
    "PPF619": "tests/plan/test_covering.py: needs the columns of data",
    "PPF647": "tests/engine/test_operator_frequencies.py: a finding of a run",
    "PPF620": "tests/plan/test_covering.py: needs the columns of data",
}


OF_OPERATORS = ("PPF646", "PPF647")
"""What an operator tells of frequencies stands with the other rules on perturbed attributes."""


def commanded(code: str) -> bool:
    """Whether the command line raises it, not a policy."""
    return code >= "PPF690"


def test_every_code_is_shown_somewhere(root):
    shown = {path.name[:6] for path in (root / "tests/examples/bad").glob("*.yaml")}
    wanted = {page.code for page in PAGES if not commanded(page.code)}
    assert wanted - shown == set(ELSEWHERE)


def test_codes_are_in_their_rooms_and_pages_in_order():
    assert all(page.code.startswith("PPF4") for page in plugins.PAGES)
    assert all("PPF550" <= page.code < "PPF600" or page.code in OF_OPERATORS for page in flow_rules.PAGES)
    codes = [p.code for p in PAGES if p.code not in OF_OPERATORS]
    assert codes == sorted(set(codes))


def test_every_code_in_the_rooms_has_a_page(root):
    used: set[str] = set()
    for room in ("plan", "sdk", "api", "cli"):
        for path in (root / "ppdm_flow" / room).rglob("*.py"):
            used |= set(re.findall(r"\"(PPF[0-9]{3})\"", path.read_text()))
    assert used <= set(pages())
    assert {page.code for page in PAGES} <= used


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.code)
def test_pages_say_what_to_do(page):
    assert page.title
    assert not page.title.endswith(".")
    assert page.what.endswith((".", "!"))
    assert page.fix.endswith(".")
    assert bool(page.bad) == bool(page.good)

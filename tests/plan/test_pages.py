"""Every code of plugins, flows and plans has a bad example or a test that raises it, and a page that helps."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ppdm_flow.core.pages import CodePage, pages

RANGES = (
    ("PPF401", "PPF407"),  # plugins
    ("PPF550", "PPF574"),  # flows
    ("PPF601", "PPF620"),  # wiring, columns and audits
    ("PPF646", "PPF647"),  # what an operator reveals of frequencies
    ("PPF690", "PPF699"),  # the command line
)
PAGES = tuple(page for code, page in pages().items() if any(a <= code <= b for a, b in RANGES))

ELSEWHERE = {
    "PPF402": "tests/sdk: two distributions with one name need two distributions",
    "PPF403": "tests/plan/test_binding.py: a plugin whose import fails",
    "PPF404": "tests/plan/test_binding.py: no built-in is of a wrong kind",
    "PPF405": "tests/plan/test_binding.py: no built-in's model or effect breaks",
    "PPF554": "tests/plan/test_rules.py: the built-in says so itself (PPF783)",
    "PPF612": "tests/plan/test_flow.py: needs the columns of data",
    "PPF619": "tests/plan/test_covering.py: needs the columns of data",
    "PPF647": "tests/engine/reading/test_operator_frequencies.py: a finding of a run",
    "PPF620": "tests/plan/test_covering.py: needs the columns of data",
}


def commanded(code: str) -> bool:
    """Whether the command line raises it, not a policy."""
    return code >= "PPF690"


def test_every_code_is_shown_somewhere(root):
    shown = {path.name[:6] for path in (root / "tests/examples/bad").glob("*.yaml")}
    wanted = {page.code for page in PAGES if not commanded(page.code)}
    assert wanted - shown == set(ELSEWHERE)


def test_every_code_in_the_rooms_has_a_page(root):
    used: set[str] = set()
    for room in ("plan", "requirements", "sdk", "api", "cli", "python"):
        for path in (root / "ppdm_flow" / room).rglob("*.py"):
            used |= set(re.findall(r"\"(PPF[0-9]{3})\"", path.read_text()))
    assert used <= set(pages())
    assert {page.code for page in PAGES} <= used


def gaps(page: CodePage) -> Iterator[str]:
    if not page.title or page.title.endswith("."):
        yield f"its title is {page.title!r}"
    if not page.what.endswith((".", "!")) or not page.fix.endswith("."):
        yield "what it means or what to do does not end as a sentence"
    if bool(page.bad) != bool(page.good):
        yield "it has one example of two"


def test_pages_say_what_to_do():
    faults = [f"{page.code}: {gap}" for page in PAGES for gap in gaps(page)]
    assert not faults, "\n".join(faults)

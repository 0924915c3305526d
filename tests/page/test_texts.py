"""All texts of the page come from the catalogue: nothing is written into templates, and no text is left over."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import ppdm_flow.page
from ppdm_flow.page.app import ROUTES
from ppdm_flow.page.looks.templates import SAYINGS, SECTIONS
from ppdm_flow.page.texts.catalogue import catalogue

ROOM = Path(ppdm_flow.page.__file__).parent
TEMPLATES = sorted((ROOM / "html").rglob("*.html"))
CODE = re.compile(r"\{\{.*?\}\}|\{%.*?%\}|\{#.*?#\}", re.DOTALL)
KEY = re.compile(r"""["']([a-z_]+\.[a-z0-9_]+)["']""")
PREFIX = re.compile(r"""["']([a-z_]+\.[a-z0-9_]*)["']\s*~|f["']([a-z_]+\.[a-z0-9_]*)\{""")
TOLD = {"aria-label", "title", "placeholder", "alt", "aria-description", "label"}
LETTERS = re.compile(r"[A-Za-z]{2,}")


class _Words(HTMLParser):
    """Collects the texts and the attributes that people read."""

    def __init__(self) -> None:
        super().__init__()
        self.words: list[str] = []

    def handle_data(self, data: str) -> None:
        self.words += LETTERS.findall(data)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.words += [word for name, value in attrs if name in TOLD for word in LETTERS.findall(value or "")]


def _words_of(template: str) -> list[str]:
    parser = _Words()
    parser.feed(CODE.sub("", template))
    return parser.words


def test_no_template_has_words_of_its_own():
    words = {f"{file.parent.name}/{file.name}": _words_of(file.read_text(encoding="utf-8")) for file in TEMPLATES}
    faults = [f"{name}: {' '.join(found)}" for name, found in words.items() if found]
    assert not faults, "\n".join(faults)


def test_words_in_a_template_are_found():
    assert _words_of('<p title="Read me">{{ t("a.b") }} Hello</p>') == ["Read", "me", "Hello"]


def _texts_of(files: list[Path]) -> str:
    return "\n".join(file.read_text(encoding="utf-8") for file in files)


def test_every_text_is_used_and_every_text_that_is_used_exists():
    code = _texts_of([*TEMPLATES, *sorted(ROOM.rglob("*.py"))])
    features = {key.partition(".")[0] for key in catalogue().keys}
    named = {key for key in KEY.findall(code) if key.partition(".")[0] in features}
    begun = {first or second for first, second in PREFIX.findall(code)}
    actions = set(re.findall(r'changes\(.*?"([a-z_]+\.[a-z_]+)"', code, re.DOTALL))
    assert set(re.findall(r"""\bt\(\s*["']([^"']+)["']\s*[,)]""", code)) - catalogue().keys == set()
    helps = {f"{section.text}_help" for section in SECTIONS}
    left = {
        key
        for key in catalogue().keys - named - helps - SAYINGS - actions
        if not any(key.startswith(prefix) for prefix in begun)
    }
    assert left == set()


def test_what_pages_say_after_a_form_exists():
    assert {key for key in SAYINGS if key not in catalogue()} == set()
    assert all(section.text in catalogue() and f"{section.text}_help" in catalogue() for section in SECTIONS)


def test_the_journal_has_a_name_for_every_action():
    assert {route.action for route in ROUTES if route.action} - catalogue().keys == set()

"""The pages of plugins' cards: which texts a page has for a card and for its figures, and what is wrong with a page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ppdm_flow.core.pages import MalformedPageError, MarkdownPage, read, read_of_package
from ppdm_flow.core.recipients.statements import RecipientStatement

_TEXTS = ("summary", "reference", "cost")
"""Keys of the front matter, beside the list ``guarantees``."""
_RECIPIENTS = "For recipients"
_HEADINGS = ("Parameters", "Example", _RECIPIENTS)
_FIGURE = "Figure: "
_FACTS: Mapping[str, tuple[str, ...]] = {
    "formula": (),
    "better": ("lower", "higher"),
    "reference": (),
    "audience": ("internal", "public"),
    "redefined": (),
}
"""What the lines below a figure tell, with the values that there are if there are few."""
_ELSEWHERE = "as"
"""Begins the one line of a figure that another page tells."""


def page_of(name: str) -> MarkdownPage:
    """Return the page ``audits/linkage``, or ``package:file.md`` of another package.

    Raises MalformedPageError, and OSError or ImportError where there is none.
    """
    return read_of_package(name) if ":" in name else read(name)


def texts_on(page: MarkdownPage) -> dict[str, Any]:
    """Return the texts of a card, but for its figures, by field of ``PluginInfo``. Raises MalformedPageError."""
    for heading, text in page.sections.items():
        if not heading and text:
            raise MalformedPageError(page.name, "a card has no text before its first heading")
        if heading and heading not in _HEADINGS and not heading.startswith(_FIGURE):
            known = ", ".join(f"`{each}`" for each in (*_HEADINGS, f"{_FIGURE}NAME"))
            raise MalformedPageError(page.name, f"a card has no heading `{heading}`, but {known}")
    example = page.example("Example") if "Example" in page.sections else ""
    parameters, recipients = page.sections.get("Parameters", ""), tuple(_statements(page))
    return {**_front(page), "parameters": parameters, "example": example, "recipients": recipients}


def _statements(page: MarkdownPage) -> Iterator[RecipientStatement]:
    """Yield what a card tells those who receive the table: a list, a statement a line."""
    for line in page.section(_RECIPIENTS).split("\n") if _RECIPIENTS in page.sections else ():
        try:
            yield RecipientStatement.read(line.removeprefix("- ") if line.startswith("- ") else "")
        except ValueError as error:
            raise MalformedPageError(page.name, f"under `{_RECIPIENTS}`: {error}") from error


def figures_on(page: MarkdownPage) -> dict[str, dict[str, Any]]:
    """Return what a page says below each heading ``Figure: NAME``, by field of ``FigureInfo``.

    That is a sentence, and lines such as ``- better: lower``. Where another page says it there is only a line
    ``- as: PAGE``, or ``- as: PAGE#NAME`` where that page has another name for it. Raises MalformedPageError.
    """
    return {h.removeprefix(_FIGURE): _figure(page, h) for h in page.sections if h.startswith(_FIGURE)}


def _front(page: MarkdownPage) -> dict[str, Any]:
    page.entry("summary")
    claims = page.front.get("guarantees", [])
    if not isinstance(claims, list) or not all(isinstance(claim, str) for claim in claims):
        raise MalformedPageError(page.name, "`guarantees` must be a list of texts")
    for key, text in page.front.items():
        if key != "guarantees" and not (key in _TEXTS and isinstance(text, str)):
            raise MalformedPageError(page.name, f"in the front matter of a card, `{key}: {text}` means nothing")
    return {**page.front, "guarantees": tuple(claims)}


def _figure(page: MarkdownPage, heading: str) -> dict[str, Any]:
    lines = page.section(heading).split("\n")
    facts = _facts(page, heading, [line.removeprefix("- ") for line in lines if line.startswith("- ")])
    what = " ".join(line for line in lines if not line.startswith("- ")).strip()
    if _ELSEWHERE in facts and (what or len(facts) > 1):
        raise MalformedPageError(page.name, f"beside `{_ELSEWHERE}`, nothing else may stand under `{heading}`")
    if _ELSEWHERE in facts:
        return _told_elsewhere(page, heading, facts[_ELSEWHERE])
    if not what:
        raise MalformedPageError(page.name, f"`{heading}` needs a sentence that says what the figure is")
    return {"what": what, **facts}


def _facts(page: MarkdownPage, heading: str, lines: list[str]) -> dict[str, str]:
    facts: dict[str, str] = {}
    for line in lines:
        key, _, value = line.partition(": ")
        if key != _ELSEWHERE and key not in _FACTS:
            raise MalformedPageError(page.name, f"under `{heading}` stands `{key}`; there are {', '.join(_FACTS)}")
        if key in facts:
            raise MalformedPageError(page.name, f"`{heading}` has `{key}` twice")
        choices = _FACTS.get(key) or (value,)
        if not value or value not in choices:
            raise MalformedPageError(page.name, f"`{heading}`: `{key}` cannot be `{value}`")
        facts[key] = value
    return facts


def _told_elsewhere(page: MarkdownPage, heading: str, place: str) -> dict[str, Any]:
    name, _, figure = place.partition("#")
    try:
        other = page_of(name)
    except (OSError, ImportError) as error:
        raise MalformedPageError(page.name, f"`{heading}`: there is no page `{name}`") from error
    wanted = f"{_FIGURE}{figure}" if figure else heading
    if wanted not in other.sections or other is page:
        raise MalformedPageError(page.name, f"`{heading}`: `{name}` has no `{wanted}` of its own")
    return _figure(other, wanted)

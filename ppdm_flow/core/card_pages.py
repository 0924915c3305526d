"""The pages of plugins' cards: the texts for a card and for its figures, and the faults of a page."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

from ppdm_flow.core.pages import MalformedPageError, MarkdownPage, read, read_of_package

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
Topic = Literal["done", "true", "not true", "correct"]


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


# What a step tells those who receive its table: what it did to a column, what remains true, and what does not.


TOPICS: tuple[str, ...] = get_args(Topic)
_LINE = re.compile(r"(?P<topic>[a-z ]+?)(?: \((?P<when>[^()]*)\))?: (?P<text>.+)")
_CONDITION = re.compile(r"(?P<parameter>\w+): (?P<values>.+)")


@dataclass(frozen=True, slots=True)
class StatementCondition:
    """Condition of a statement: a parameter has one of some values, as policies write them.

    ``set`` and ``unset`` say whether there is any value: nothing, an empty list and ``false`` are none.
    """

    parameter: str
    values: tuple[str, ...]

    def holds(self, parameters: Mapping[str, Any]) -> bool:
        """Whether a step with these parameters makes the statement."""
        value = parameters.get(self.parameter)
        is_set = value is not None and value is not False and value not in ("", [], {}, ())
        written = {True: "true", False: "false"}.get(value, str(value)) if isinstance(value, bool) else str(value)
        return written in self.values or ("set" if is_set else "unset") in self.values


@dataclass(frozen=True, slots=True)
class RecipientStatement:
    """A statement on what a step leaves, made where all conditions hold."""

    topic: str
    text: str
    conditions: tuple[StatementCondition, ...] = ()

    @classmethod
    def read(cls, line: str) -> RecipientStatement:
        """Return the statement that a line of a card makes, as ``not true (how: nearest): sums``.

        Raises ValueError, with what is wrong, where the line is not written so.
        """
        parts = _LINE.fullmatch(line)
        if parts is None or parts["topic"] not in TOPICS:
            raise ValueError(f"a line begins with one of {', '.join(f'`{t}: `' for t in TOPICS)}")
        return cls(parts["topic"], parts["text"], tuple(_conditions(parts["when"])))

    def applies(self, parameters: Mapping[str, Any]) -> bool:
        """Whether a step with these parameters makes it."""
        return all(condition.holds(parameters) for condition in self.conditions)


def said(statements: tuple[RecipientStatement, ...], topic: Topic, parameters: Mapping[str, Any]) -> tuple[str, ...]:
    """Return what is said on a topic by a step with these parameters."""
    return tuple(s.text for s in statements if s.topic == topic and s.applies(parameters))


def _conditions(written: str | None) -> Iterator[StatementCondition]:
    for each in written.split(", ") if written is not None else ():
        parts = _CONDITION.fullmatch(each)
        if parts is None:
            raise ValueError("a condition names a parameter and its values, as `(how: random or controlled)`")
        yield StatementCondition(parts["parameter"], tuple(parts["values"].split(" or ")))


RATIOS = frozenset(("share", "probability", "points", "nats", "bits", "ratio", "distance", "index", "correlation"))
"""Units of figures that count nobody."""
FEWEST = 10
"""Counts below it are not told."""


def is_small_count(value: float, unit: str) -> bool:
    """Whether a figure counts so few that it is not told."""
    return unit not in RATIOS and value < FEWEST

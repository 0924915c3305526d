"""Nested values as rows of name and text, bounded in depth and length; and the files of releases as such rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ppdm_flow.core.phrases import counted
from ppdm_flow.report.run.fields import ReportDocument
from ppdm_flow.report.run.wording import flat, spoken

_MOST_ROWS = 60
_MOST_ITEMS = 24
_NAMES = {"sha256": "SHA-256", "peak_mb": "peak memory in MB"}
_LONGEST = 240


@dataclass(frozen=True, slots=True)
class Fact:
    """A name, in words, and what is known. ``code`` says that the text is a digest, a path or a version."""

    name: str
    text: str
    code: bool = False


def facts(values: Mapping[str, Any], most: int = _MOST_ROWS) -> list[Fact]:
    """Return the leaves of nested maps, at most ``most``; the last row says how many more there are."""
    rows = list(_leaves(values, ""))
    if len(rows) <= most:
        return rows
    return [*rows[:most], Fact("\N{HORIZONTAL ELLIPSIS}", f"{len(rows) - most:,} more in report.json")]


def _leaves(values: Mapping[str, Any], above: str) -> Iterator[Fact]:
    for key, value in values.items():
        word = _NAMES.get(key, key.replace("_", " "))
        name = f"{above} \N{MIDDLE DOT} {word}" if above else spoken(word)
        if isinstance(value, dict) and value:
            yield from _leaves(value, name)
        else:
            text = _text(value)
            yield Fact(name, text, _is_code(text))


def _text(value: Any) -> str:
    if isinstance(value, dict):
        return "none"
    if not isinstance(value, list):
        return _bounded(flat(value))
    if not value:
        return "none"
    shown = [_item(item) for item in value[:_MOST_ITEMS]]
    more = f" \N{HORIZONTAL ELLIPSIS} {len(value) - _MOST_ITEMS:,} more" if len(value) > _MOST_ITEMS else ""
    return _bounded(", ".join(shown)) + more


def _item(item: Any) -> str:
    if isinstance(item, dict):
        return "; ".join(f"{key}: {_text(value)}" for key, value in item.items())
    return f"({_text(item)})" if isinstance(item, list) else flat(item)


def _bounded(text: str) -> str:
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "\N{HORIZONTAL ELLIPSIS}"


def _is_code(text: str) -> bool:
    """Whether it reads like a digest or a path, which want a fixed-width type."""
    long_word = len(text) >= 12 and " " not in text and any(c.isdigit() for c in text)
    return long_word or ("/" in text and " " not in text)


_MOST_FACTS = 16


@dataclass(frozen=True, slots=True)
class ReleaseFacts:
    """One release. ``summary`` is a line for the eye, ``facts`` all that is recorded."""

    name: str
    description: str
    audience: str
    summary: str
    digest: str
    facts: tuple[Fact, ...]


def outputs(document: ReportDocument) -> tuple[ReleaseFacts, ...]:
    """Return the releases in the policy's order."""
    planned = {node["name"]: node for node in document["plan"].get("releases", ())}
    return tuple(_output(name, about, planned.get(name, {})) for name, about in document["releases"].items())


def _output(name: str, about: dict[str, Any], node: dict[str, Any]) -> ReleaseFacts:
    return ReleaseFacts(
        name,
        node.get("description", ""),
        node.get("audience", ""),
        _summary(about),
        str(about.get("sha256") or ""),
        tuple(facts({key: value for key, value in about.items() if key != "audience" and value != []}, _MOST_FACTS)),
    )


def _summary(about: dict[str, Any]) -> str:
    counts = [counted(about[name], name[:-1]) for name in ("rows", "columns") if isinstance(about.get(name), int)]
    return ", ".join([*counts, *([str(about["path"])] if about.get("path") else [])])

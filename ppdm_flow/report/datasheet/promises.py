"""Which requirements and bounds held on a release, in sentences for people who are no experts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ppdm_flow.core.amounts import amount
from ppdm_flow.core.errors import PluginError
from ppdm_flow.core.phrases import listed
from ppdm_flow.policy.language.kind_pages import page_of
from ppdm_flow.policy.language.kinds import kind_of as kind_of_requirement
from ppdm_flow.report.datasheet.given import DatasheetInput
from ppdm_flow.report.run.fields import ResultDocument
from ppdm_flow.report.run.wording import is_cumulative, kind_of, title_of

_SECTION = "For recipients"
_NOTHING = "This file has no column that tells of what this is about."
_NO_WORDS = "It was measured on this file itself, and holds."
_TOGETHER = "So it is also with what was released before of the same people."
_NOT = "This does NOT hold on this file. It was waived:"
_NO_COLUMNS = ".columns"
"""Ends the name of the figure that says that a release carries nothing that a requirement is about."""
_KNOWN = "what others may know"
_COUNTED = frozenset({"rows", "people", "sets"})


@dataclass(frozen=True, slots=True)
class Promise:
    """A requirement or a gate that was judged: its name, its bound, and what it means where it holds."""

    title: str
    kind: str
    bound: str
    sentence: str
    holds: bool


def promises(given: DatasheetInput) -> tuple[Promise, ...]:
    """Return the requirements that were judged on the release."""
    asked = {r["id"]: r for r in given.report["plan"].get("requirements", ())}
    return tuple(dict.fromkeys(_promise(r, asked.get(r["id"], {}), given) for r in given.results("requirements")))


def gates(given: DatasheetInput) -> tuple[Promise, ...]:
    """Return the other bounds that were judged: of usefulness, of attacks."""
    return tuple(
        Promise(title_of(r["id"]), r["metric"], _bound(r, given.unit(r)), "", bool(r["holds"]))
        for r in given.results("gates")
    )


def _promise(result: ResultDocument, asked: Mapping[str, Any], given: DatasheetInput) -> Promise:
    unit = given.unit(result)
    names = {key: _written(value, given) for key, value in asked.items()}
    told = " ".join(_sentences(result, names, unit))
    sentence = told if result["holds"] else f"{_NOT} {told}"
    empty = result["metric"].endswith(_NO_COLUMNS)
    bound = "" if empty or unit == "points" else _bound(result, unit)
    title = given.plain(title_of(result["id"]))
    return Promise(title, kind_of(result["id"]), bound, sentence, bool(result["holds"]))


def _sentences(result: ResultDocument, names: Mapping[str, str], unit: str) -> Iterator[str]:
    if result["metric"].endswith(_NO_COLUMNS):
        yield _NOTHING
        return
    yield _meaning(result, names, unit)
    if is_cumulative(result):
        yield _TOGETHER


def _meaning(result: ResultDocument, names: Mapping[str, str], unit: str) -> str:
    """Return what the page of a kind says of it to recipients, with the bound and the names of this requirement."""
    spec = kind_of_requirement(result["id"])
    try:
        page = page_of(spec) if spec else None
    except PluginError:
        page = None
    if page is None or _SECTION not in page.sections:
        return _NO_WORDS
    try:
        return page.section(_SECTION).format_map({**names, "bound": _size(result, unit)})
    except (KeyError, IndexError, ValueError):
        return _NO_WORDS


def _written(value: Any, given: DatasheetInput) -> str:
    """Return what a requirement names as a sentence has it: of linked tables, what is of the release's own."""
    if isinstance(value, list | tuple):
        return listed(given.own([str(each) for each in value])) or _KNOWN
    return f"{value:g}" if isinstance(value, float) else given.plain(str(value))


def _size(result: ResultDocument, unit: str) -> str:
    number = amount(result["bound"], unit)
    return f"{number} {unit}" if unit in _COUNTED and not number.endswith(unit) else number


def _bound(result: ResultDocument, unit: str) -> str:
    return f"{'at most' if result['direction'] == 'at_most' else 'at least'} {_size(result, unit)}"

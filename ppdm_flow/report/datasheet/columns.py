"""The columns of a release in plain words: what each is, and what was done to it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from ppdm_flow.core.attributes import CLIENTS
from ppdm_flow.core.lineage import DerivationKind
from ppdm_flow.core.phrases import listed
from ppdm_flow.core.roles import AttributeType, Role
from ppdm_flow.core.texts.file_names import DICTIONARY
from ppdm_flow.plan.definition import COLLAPSE
from ppdm_flow.report.datasheet.given import DatasheetInput
from ppdm_flow.report.datasheet.steps import StepWords

_TYPES = {
    AttributeType.TEXT: "text",
    AttributeType.INTEGER: "whole number",
    AttributeType.FLOAT: "number",
    AttributeType.DATE: "date",
    AttributeType.TIMESTAMP: "date and time",
}
_ROLES = {
    Role.IDENTIFIER: "names a person",
    Role.QUASI_IDENTIFIER: "others may know it of a person",
    Role.SENSITIVE: "to be protected",
    Role.TARGET: "what an analysis is to explain",
    Role.INSENSITIVE: "nothing to be protected",
    Role.WEIGHT: "how many rows this row stands for: count each row so often",
    Role.SAMPLING_WEIGHT: "how many people of the population the row stands for",
    Role.SUBJECT: "whose row it is",
    Role.ITEMS: "a set of items",
}
_COUNTED = "Rows that are equal in all other columns, missing cells among them, became one record."


@dataclass(frozen=True, slots=True)
class SheetColumn:
    """A released column: what it holds, and what was done to it in the order of the steps, a sentence each."""

    name: str
    holds: str
    description: str
    done: tuple[str, ...]
    kept: bool


def columns(given: DatasheetInput) -> Iterator[SheetColumn]:
    """Yield the columns in the order of the file."""
    words = {step["name"]: StepWords.of(step) for step in given.steps}
    described = {a["name"]: a for a in given.beside[DICTIONARY]["attributes"]}
    for column in given.node["attributes"]:
        about = described[column["name"]]
        told = {each["step"]: each["told"] for each in about.get("done", ()) if "told" in each}
        done = tuple(dict.fromkeys(_done(given, column, words, told)))
        holds = f"{_TYPES.get(about['type'], about['type'])}; {_ROLES.get(column['role'], column['role'])}"
        sizes = f"The sizes are {about['sizes']}." if "sizes" in about else ""
        description = " ".join(filter(None, (about.get("description", ""), sizes)))
        yield SheetColumn(column["name"], holds, description, done or ("Kept as it was.",), kept=not done)
    for about in described.values():
        if about["name"] == given.beside[DICTIONARY]["options"].get(COLLAPSE):
            holds = f"{_TYPES[AttributeType.INTEGER]}; {_ROLES[Role.WEIGHT]}"
            yield SheetColumn(about["name"], holds, about["description"], (_COUNTED,), kept=False)


def left_out(given: DatasheetInput) -> tuple[str, ...]:
    """Return the attributes of the original that steps dropped, and identifiers of which nothing is released."""
    released = {name for column in given.node["attributes"] for name in (column["name"], *column["computed_from"])}
    identifiers = (a["name"] for a in given.source["attributes"] if a["role"] == Role.IDENTIFIER)
    dropped = (name for step in given.steps for name in step["drops"])
    return tuple(dict.fromkeys(name for name in (*identifiers, *dropped) if name not in released))


def _done(
    given: DatasheetInput, column: Mapping[str, Any], words: Mapping[str, StepWords], told: Mapping[str, str]
) -> Iterator[str]:
    """Yield what was done: what the step says of this column, or else its card of any."""
    changes = {change["step"]: change["change"] for change in column.get("changes", ())}
    since, added = _since(given, column["name"])
    if CLIENTS in changes:
        yield "Each client randomized its own set, by the published operator, before it was collected."
    for step in since:
        name = step["name"]
        if name in changes or name == added or name in column.get("steps", ()):
            yield from (told[name],) if name in told else words[name].done(changes.get(name))
    sources = column.get("computed_from", [])
    if column.get("how") == DerivationKind.GENERATED:
        return
    if sources and sources != [column["name"]]:
        yield f"It is made from {listed(sources)} of the original."
    if not sources:
        yield "It is made from no column of the original."


def _since(given: DatasheetInput, name: str) -> tuple[list[Mapping[str, Any]], str]:
    """Return the steps from the one on that added a column, with its name; all where it was in the source."""
    since: list[Mapping[str, Any]] = []
    for place in range(len(given.steps) - 1, -1, -1):
        step = given.steps[place]
        since.insert(0, step)
        old = next((old for old, new in step["renames"].items() if new == name), None)
        before = given.steps[place - 1] if place else given.source
        if old is None and all(a["name"] != name for a in before["attributes"]) and not _is_pattern(before, name):
            return since, step["name"]
        name = old or name
    return since, ""


def _is_pattern(before: Mapping[str, Any], name: str) -> bool:
    """Whether the source declares the column by a pattern, which has no name of its own before the data is read."""
    return any(fnmatchcase(name, a["name"]) for a in before["attributes"] if set("*?[") & set(a["name"]))

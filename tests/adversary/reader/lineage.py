"""What the columns of a release carry: the record of twins (`twins`), composed over the steps of a policy."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from adversary.reader.files import SUPPRESSED, HiddenCells, ReleasedColumn, keyed_name
from adversary.reader.twins import NEW, OTHER, OWN, RECORD, column_roles, shape

EXCHANGING = ("swap", "rank_swap")
AVERAGING = ("microaggregation",)
BY_REQUIREMENT = ("full_domain_recoding",)
"""Steps that hide or drop whole classes for the sake of the policy's requirements."""

Attributes = frozenset[str]


@dataclass(frozen=True)
class PlaceLineage:
    """The columns at one place of a policy, what decided which rows are there, and whether rows lack by chance."""

    columns: Mapping[str, ReleasedColumn]
    present: Attributes = frozenset()
    sampled: bool = False
    steps: tuple[str, ...] = ()
    source: str = "source"


@cache
def recorded() -> dict[str, Any]:
    """What twins showed, by step and shape of its options."""
    return json.loads(RECORD.read_text(encoding="utf-8"))


def lineage(policy: Mapping[str, Any], hiding: Collection[tuple[str, str]] | None = None) -> dict[str, PlaceLineage]:
    """The lineage at the source and after each step. Raises KeyError where twins saw no step of a shape.

    ``hiding`` are the steps and columns after which some cell is hidden; None where that is not known.
    """
    sources = {n: t["attributes"] for n, t in policy.get("tables", {}).items()} or {"source": policy["attributes"]}
    places = {
        place: PlaceLineage({n: ReleasedColumn(n, frozenset({n})) for n in attributes}, source=place)
        for place, attributes in sources.items()
    }
    for name, step in policy["steps"].items():
        places[name] = _after(name, step["use"], step["with"], places[step["input"]], policy)
        if hiding is not None:
            shown = {n: c if (name, n) in hiding else replace(c, hidden=None) for n, c in places[name].columns.items()}
            places[name] = replace(places[name], columns=shown)
    for step in policy["steps"].values():
        if "tables" in policy and step["use"] == "pseudonymize" and _subject(policy) in step["with"]["attributes"]:
            places = {n: _with_key(place, _subject(policy), step["with"]) for n, place in places.items()}
    return places


def _subject(policy: Mapping[str, Any]) -> str:
    tables = policy["tables"].values()
    return next(n for table in tables for n, a in table["attributes"].items() if a["role"] == "subject")


def _with_key(place: PlaceLineage, subject: str, options: Mapping[str, Any]) -> PlaceLineage:
    """What a step does to the key of one linked table is done to it in all."""
    column = place.columns.get(subject)
    if column is None or column.carries != {subject}:
        return place
    return replace(place, columns={**place.columns, subject: _keyed(column, options)})


def _after(
    name: str, use: str, options: Mapping[str, Any], before: PlaceLineage, policy: Mapping[str, Any]
) -> PlaceLineage:
    steps = (*before.steps, name)
    if use == "drop":
        kept = {n: c for n, c in before.columns.items() if n not in options["attributes"]}
        return replace(before, columns=kept, steps=steps)
    roles = column_roles(options, list(before.columns))
    entry = recorded()[shape(use, options, list(before.columns))]
    sensitive = _protected(policy) if use in BY_REQUIREMENT else None
    columns = {}
    for column in before.columns.values():
        place = next((option for option, names in roles.items() if column.name in names), OTHER)
        columns[column.name] = _changed(column, use, entry.get(place, {}), roles, before, sensitive)
        if use in AVERAGING and place != OTHER:
            kinds = {before.columns[n].kind for names in roles.values() for n in names}
            drawn = next((kind for kind in ("noisy", "exchanged") if kind in kinds), "averaged")
            columns[column.name] = replace(columns[column.name], kind=drawn)
        if use == "pseudonymize" and place != OTHER:
            columns[column.name] = _keyed(columns[column.name], options)
    if NEW in entry:
        carries = _carried(entry[NEW]["shown"], None, roles, before)
        columns[options["name"]] = ReleasedColumn(options["name"], carries, "class_id")
    present, sampled = before.present, before.sampled
    if "drawn" in entry.get("present", {}):
        sampled = True
    elif "present" in entry or sensitive:  # rows whose cells could not be hidden together are dropped
        hidden = [role for each in entry.values() for role in each.get("hidden", ())]
        read = entry["present"]["shown"] if "present" in entry else hidden
        present = present | _carried(read, None, roles, before) | ({sensitive} if sensitive else set())
    return PlaceLineage(columns, frozenset(present), sampled, steps, before.source)


def _changed(
    column: ReleasedColumn,
    use: str,
    entry: Mapping[str, list[str]],
    roles: Mapping[str, list[str]],
    before: PlaceLineage,
    sensitive: str | None,
) -> ReleasedColumn:
    if "drawn" in entry:
        kind = "exchanged" if use in EXCHANGING else "noisy"
        return replace(column, kind=kind)
    if set(entry.get("shown", ())) > {OWN}:
        read = _carried(entry["shown"], column.name, roles, before)
        drawn = any(before.columns[n].kind == "exchanged" for names in roles.values() for n in names)
        column = replace(column, carries=read, kind="exchanged" if drawn else column.kind, hidden=None)
    if set(entry.get("hidden", ())) > {OWN}:
        carries = (
            _all(column) | _carried(entry["hidden"], column.name, roles, before) | ({sensitive} if sensitive else set())
        )
        hidden = HiddenCells(frozenset(carries), SUPPRESSED, "classes" if sensitive else None, sensitive)
        column = replace(column, hidden=hidden)
    return column


def _carried(read: list[str], own: str | None, roles: Mapping[str, list[str]], before: PlaceLineage) -> Attributes:
    """All that the columns of these roles carry."""
    named = {n for names in roles.values() for n in names}
    columns: set[str] = set()
    for role in read:
        if role == OWN:
            columns |= {own} if own else set()
        elif role == OTHER:
            columns |= set(before.columns) - named
        else:
            columns |= set(roles[role])
    return frozenset(a for n in columns for a in _all(before.columns[n]))


def _all(column: ReleasedColumn) -> Attributes:
    return column.carries | (column.hidden.carries if column.hidden else frozenset())


def _keyed(column: ReleasedColumn, options: Mapping[str, Any]) -> ReleasedColumn:
    key = f"{options['key_env']}/{options.get('scope', column.name)}"
    kind = column.kind if column.kind == "exchanged" else "keyed"
    carries = frozenset(keyed_name(a, key) for a in column.carries)
    return replace(column, carries=carries, kind=kind, unkeyed=column.unkeyed or column.carries)


def _protected(policy: Mapping[str, Any]) -> str | None:
    """The sensitive attribute of the requirements that classes keep."""
    for kind in ("l_diversity", "alpha_k", "t_closeness", "beta_likeness"):
        if kind in policy["privacy"]:
            return next(iter(policy["privacy"][kind]))
    return None

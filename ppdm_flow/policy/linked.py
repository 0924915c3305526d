"""Linked tables as the rest of the program reads a policy: attributes by table, and a policy for each.

An attribute of a table is written ``table.attribute`` wherever a policy speaks of several tables. What a policy has
under ``tables.T.attributes`` is therefore read as if it stood under ``attributes``, with such names; the places in the
file stay what they are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, TypeVar

from ppdm_flow.core.roles import Role
from ppdm_flow.policy.flatten import FlatPolicy
from ppdm_flow.policy.language.models import Attribute, Policy, TableEntry
from ppdm_flow.policy.loaded import PolicyPath, ResolvedPlaces

V = TypeVar("V")
SEPARATOR = "."
"""Stands between a table's name, which has none, and an attribute's."""


def qualified(table: str, attribute: str) -> str:
    """Return the name of a table's attribute where several tables are spoken of."""
    return f"{table}{SEPARATOR}{attribute}"


def plain_name(table: str, name: str) -> str | None:
    """Return what a qualified name is called in its own table; None where it is another table's."""
    owner, dot, attribute = name.partition(SEPARATOR)
    return attribute if dot and owner == table else None


def table_name(name: str) -> str:
    """Return the table of a qualified name."""
    return name.partition(SEPARATOR)[0]


def lifted(flat: FlatPolicy) -> FlatPolicy:
    """Return the policy with its tables' attributes under ``attributes``; itself where it has no tables.

    A policy that has both is left as it is, for the rules to refuse.
    """
    tables = flat.tree.get("tables") if isinstance(flat.tree, dict) else None
    if not isinstance(tables, dict) or "attributes" in flat.tree:
        return flat
    attributes: dict[str, Any] = {}
    moved: dict[PolicyPath, PolicyPath] = {}
    rest = dict(tables)
    for table, entry in tables.items():
        own = entry.get("attributes") if isinstance(entry, dict) else None
        if not isinstance(own, dict):
            continue
        rest[table] = {key: value for key, value in entry.items() if key != "attributes"}
        referring = entry.get("refers")
        for name, attribute in own.items():
            refers = isinstance(referring, dict) and name in referring
            attributes[qualified(table, name)] = _read_as_identifier(attribute) if refers else attribute
            moved["tables", table, "attributes", name] = ("attributes", qualified(table, name))
    if not attributes:
        return flat
    other = replace(
        flat,
        tree={**flat.tree, "tables": rest, "attributes": attributes},
        keys=_with_aliases(flat.keys, moved),
        values=_with_aliases(flat.values, moved),
        scalars=_with_aliases(flat.scalars, moved),
        quoted_keys={*flat.quoted_keys, *_aliases(flat.quoted_keys, moved)},
        gone={*flat.gone, *_aliases(flat.gone, moved)},
        partial={*flat.partial, *_aliases(flat.partial, moved)},
    )
    other.keys["attributes",] = flat.keys["tables",]
    other.values["attributes",] = flat.values["tables",]
    return other


def written_path(path: PolicyPath, policy: Policy) -> PolicyPath:
    """Return where the policy's text has what is read at a path."""
    if policy.tables and path[:1] == ("attributes",) and len(path) > 1:
        table, dot, attribute = path[1].partition(SEPARATOR)
        if dot and table in policy.tables:
            return ("tables", table, "attributes", attribute, *path[2:])
    return path


def subject_table(policy: Policy) -> str | None:
    """Return the table whose key names people; None where there are no tables, or none has a subject."""
    for table in policy.tables:
        for name, attribute in policy.attributes.items():
            if attribute.role is Role.SUBJECT and plain_name(table, name) is not None:
                return table
    return None


def table_policy(policy: Policy, table: str) -> Policy:
    """Return what the policy says of one table alone: its source, and its attributes under their own names.

    A column that refers to a person is the subject. What depends on steps is left to the caller.
    """
    own = policy.tables[table]
    update: dict[str, Any] = {"tables": {}, "source": own.source, "undeclared": own.undeclared}
    if policy.ledger is not None:  # the subject, under the name that it has in this table
        update["ledger"] = policy.ledger.model_copy(update={"subject": None})
    return policy.model_copy(update={**update, "attributes": _attributes_of(policy, table, own)})


def table_places(places: ResolvedPlaces, table: str) -> ResolvedPlaces:
    """Return where everything stands, as the policy of one table names it."""
    return ResolvedPlaces(_places_of(places.keys, table), _places_of(places.values, table))


def _attributes_of(policy: Policy, table: str, own: TableEntry) -> dict[str, Attribute]:
    attributes: dict[str, Attribute] = {}
    for name, attribute in policy.attributes.items():
        if (plain := plain_name(table, name)) is not None:
            attributes[plain] = attribute
    for column in own.refers:
        declared = attributes.get(column, Attribute(role=Role.SUBJECT))
        attributes[column] = declared.model_copy(update={"role": Role.SUBJECT})
    return attributes


def _places_of(spans: Mapping[PolicyPath, V], table: str) -> dict[PolicyPath, V]:
    own = dict(_below(spans, table))
    return {path: span for path, span in spans.items() if path[:1] not in (("attributes",), ("source",))} | own


def _below(spans: Mapping[PolicyPath, V], table: str) -> Iterator[tuple[PolicyPath, V]]:
    """Yield what stands in the table's entry, by its path in a policy of one table."""
    for path, span in spans.items():
        if path[:2] == ("tables", table) and len(path) > 2:
            yield path[2:], span
            if path[2] == "refers" and len(path) > 3 and ("tables", table, "attributes", path[3]) not in spans:
                yield ("attributes", path[3]), span


def _read_as_identifier(attribute: Any) -> Any:
    """Return an attribute that names whose row it is: the subject is the one in the table that it refers to."""
    if isinstance(attribute, dict) and attribute.get("role") == Role.SUBJECT.value:
        return {**attribute, "role": Role.IDENTIFIER.value}
    return attribute


def _aliases(paths: Any, moved: Mapping[PolicyPath, PolicyPath]) -> Iterator[PolicyPath]:
    return (to + path[4:] for path in paths if (to := moved.get(path[:4])) is not None)


def _with_aliases(spans: Mapping[PolicyPath, V], moved: Mapping[PolicyPath, PolicyPath]) -> dict[PolicyPath, V]:
    pairs = ((path, moved.get(path[:4]), span) for path, span in spans.items())
    return {**spans, **{to + path[4:]: span for path, to, span in pairs if to is not None}}

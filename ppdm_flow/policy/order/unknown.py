"""Words of the language that no rule here knows: where they differ, nothing is proved."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import BaseModel

from ppdm_flow.policy.language.models import (
    Attribute,
    GateEntry,
    Policy,
    Randomness,
    Release,
    ReportOptions,
    SourceEntry,
    TableEntry,
)
from ppdm_flow.policy.order.clauses import ChangeVerdict, Clauses, ComparedClause

KNOWN: Mapping[type[BaseModel], frozenset[str]] = {
    Policy: frozenset(
        [
            "version",
            "name",
            "description",
            "owner",
            "extends",
            "params",
            "floors",
            "source",
            "attributes",
            "undeclared",
            "tables",
            "people",
            "nulls",
            "privacy",
            "steps",
            "audits",
            "analyses",
            "gates",
            "waivers",
            "releases",
            "recipients",
            "randomness",
            "ledger",
            "approvals",
            "report",
        ]
    ),
    TableEntry: frozenset(("source", "key", "refers", "attributes", "undeclared")),
    SourceEntry: frozenset(
        (
            "path",
            "url",
            "table",
            "query",
            "format",
            "columns",
            "missing",
            "incomplete_rows",
            "normalize",
            "keep_apart",
            "randomized_by",
            "operator",
            "with_",
        )
    ),
    Attribute: frozenset(("role", "type", "domain", "hierarchy", "determines", "description")),
    GateEntry: frozenset(("metric", "min", "max", "releases", "max_width")),
    Release: frozenset(
        (
            *("from_", "path", "format", "audience", "shuffle", "description"),
            *("into", "partition_by", "collapse", "with_", "received"),
        )
    ),
    Randomness: frozenset(("mode", "seed")),
    ReportOptions: frozenset(("values",)),
}
"""The fields that the rules of this room judge; a ledger and approvals are compared as a whole."""


def unknown(old: Clauses, new: Clauses) -> Iterator[ComparedClause]:
    """Yield fields beyond those, where they are not the same."""
    before, after = dict(_parts(old.policy)), dict(_parts(new.policy))
    for path in dict.fromkeys((*before, *after)):
        sides = _beyond(before.get(path)), _beyond(after.get(path))
        if sides[0] != sides[1]:
            why = "no rule of the comparison knows this word of the language"
            yield ComparedClause(
                ".".join(path) or "policy", ChangeVerdict.INCOMPARABLE, why, old.side(path), new.side(path)
            )


def _parts(policy: Policy) -> Iterator[tuple[tuple[str, ...], BaseModel]]:
    yield (), policy
    yield ("source",), policy.source
    yield ("randomness",), policy.randomness
    for name, table in policy.tables.items():
        yield ("tables", name), table
        yield ("tables", name, "source"), table.source
    yield ("report",), policy.report
    for section in ("attributes", "gates", "releases"):
        for name, part in getattr(policy, section).items():
            yield (section, name), part


def _beyond(part: BaseModel | None) -> dict[str, Any]:
    """Return the fields that nothing here judges, as far as they are not what they are by default."""
    if part is None:
        return {}
    known = next(KNOWN[model] for model in type(part).__mro__ if model in KNOWN)
    fields = type(part).model_fields
    unread = {name: getattr(part, name) for name in fields if name not in known}
    return {
        name: value for name, value in unread.items() if value != fields[name].get_default(call_default_factory=True)
    }

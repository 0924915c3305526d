"""Words for the parts of a plan in pictures."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ppdm_flow.policy.language.kinds import kind_of

HOWS = {
    "value_map": "value by value",
    "keyed": "with a secret key",
    "drawn": "drawn at random",
    "generated": "generated",
    "other": "not value by value",
}
"""How a column's cells come from an attribute, in a clause; those of unchanged ones need none."""

_VERBS = {
    "generalized": "generalizes",
    "suppressed": "suppresses in",
    "perturbed": "perturbs",
    "pseudonymized": "pseudonymizes",
    "changed": "changes",
}


def deeds(step: Mapping[str, Any]) -> list[str]:
    """Return what a step does to the table, one clause each."""
    clauses = []
    for change, verb in _VERBS.items():
        names = [name for name, what in step["changes"].items() if what == change]
        if names:
            clauses.append(f"{verb} {some(names)}")
    if step["drops"]:
        clauses.append(f"drops {some(step['drops'])}")
    if step["renames"]:
        clauses.append("renames " + some(f"{old} to {new}" for old, new in step["renames"].items()))
    rows = {"fewer": "keeps some rows", "reordered": "puts rows in a new order", "generated": "makes new rows"}
    if step["rows"] in rows:
        clauses.append(rows[step["rows"]])
    if step["expands_weights"]:
        clauses.append("writes weighted rows out singly")
    return clauses


def approvals_of(approvals: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the roles that have to sign beside the author: those of the release, then those of waivers."""
    return tuple(dict.fromkeys((*approvals["roles"], *approvals.get("waivers", {}).values())))


def held_of(document: Mapping[str, Any]) -> tuple[str, ...]:
    """Return in a clause what every release waits for, if there is anything."""
    if "approvals" not in document:
        return ()
    return (f"held until signed by {', '.join(('author', *approvals_of(document['approvals'])))}",)


def demand(requirement: Mapping[str, Any]) -> str:
    """Return a requirement in a clause: what is bounded, and by what."""
    spec = kind_of(requirement["id"])
    return requirement["id"].removeprefix("privacy.") if spec is None else spec.wording.clause(requirement)


def bound(gate: Mapping[str, Any]) -> str:
    """Return a gate in a clause."""
    low, high = gate["min"], gate["max"]
    sides = [f"≥ {low:g}"] if low is not None else []
    sides += [f"≤ {high:g}"] if high is not None else []
    return f"{gate['metric']} {' and '.join(sides)}"


def demands_of(document: Mapping[str, Any], release: str) -> list[str]:
    """Return the requirements that the audits of a release measure."""
    ids = {r for audit in document["audits"] if audit["release"] == release for r in audit["requirements"]}
    return [demand(r) for r in document["requirements"] if r["id"] in ids]


def judged_releases(document: Mapping[str, Any]) -> set[str]:
    """Return the releases on which a requirement is measured, alone or joined to others."""
    alone = {audit["release"] for audit in document["audits"] if audit["requirements"]}
    joined = (*document.get("joins", ()), *document.get("joined_by", ()))
    return alone.union(*(join["releases"] for join in joined))


def gates_of(document: Mapping[str, Any], release: str) -> list[str]:
    """Return the gates that concern a release: those about it, and those on figures of steps."""
    return [bound(gate) for gate in document["gates"] if release in (gate.get("releases") or (release,))]


def measures_of(document: Mapping[str, Any], release: str) -> list[str]:
    """Return the audits of a release beside the requirements'."""
    return [a["name"] for a in document["audits"] if a["release"] == release and not a["requirements"]]


def some(names: Iterable[str], most: int = 4) -> str:
    """Return the first names, and how many more there are."""
    every = list(names)
    rest = len(every) - most
    return ", ".join(every) if rest <= 1 else f"{', '.join(every[:most])} and {rest} more"


def columns(count: int) -> str:
    """Return a number of columns for people."""
    return f"{count} column{'' if count == 1 else 's'}"


def derived(release: Mapping[str, Any]) -> list[str]:
    """Return where the columns of a release come from, but for those that are an attribute as it was, in clauses."""
    groups: dict[tuple[str, frozenset[str]], list[Mapping[str, Any]]] = {}
    for column in release["attributes"]:
        chosen = frozenset(column.get("chosen_by", ()))
        together = chosen.union(column["computed_from"]) if chosen else chosen
        groups.setdefault((derivation(column), together), []).append(column)
    clauses = ((columns, _clause(words, columns, together)) for (words, together), columns in groups.items())
    return [f"{', '.join(c['name'] for c in columns)}: {clause}" for columns, clause in clauses if clause]


def _clause(words: str, alike: list[Mapping[str, Any]], together: frozenset[str]) -> str:
    """Return the clause of columns that one another and other attributes chose."""
    rest = some(sorted(together.difference(*(column["computed_from"] for column in alike))))
    if not together:
        return words
    if len(alike) == 1:
        return ", ".join(filter(None, (words, f"chosen by {rest}")))
    return ", ".join(filter(None, (words, f"chosen together with {rest}" if rest else "chosen together")))


def computed(release: Mapping[str, Any], most: int = 4) -> list[str]:
    """Return the columns of a release that are computed from anything but their namesake, at most ``most``."""
    sources = [f"{c['name']} from {some(c['computed_from'])}" for c in release["attributes"] if not _is_own(c)]
    return sources if len(sources) <= most else [*sources[:most], f"and {len(sources) - most} more"]


def derivation(column: Mapping[str, Any]) -> str:
    """Return what a column is computed from and how, in a clause; nothing where it is its attribute as it was."""
    sources, own = column.get("computed_from", ()), _is_own(column)
    words = [] if own else [f"computed from {some(sources) or 'nothing of the source'}"]
    words += [HOWS[how] for how in [column.get("how")] if how in HOWS and (own or len(sources) == 1)]
    return ", ".join(words)


def _is_own(column: Mapping[str, Any]) -> bool:
    return bool(column.get("computed_from", [column["name"]]) == [column["name"]])

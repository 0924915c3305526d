"""Waivers: what need not hold for a while. Fewer of them, for a shorter time, are stricter."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from ppdm_flow.policy.order.clauses import Clauses
from ppdm_flow.policy.order.verdicts import Change, Side, Verdict, verdict


def waived(tree: Mapping[str, Any]) -> dict[str, str]:
    """Return the last day of what is waived, by what it is; the latest, where several are about one thing."""
    found: dict[str, str] = {}
    given = tree.get("waivers")
    for each in given.values() if isinstance(given, Mapping) else ():
        if isinstance(each, Mapping):
            name, until = _name(each), str(each.get("until", ""))
            found[name] = max(found.get(name, ""), until)
    return found


def _name(waiver: Mapping[str, Any]) -> str:
    """Return what is waived: an id, or a code with the place that it is about."""
    of, at = str(waiver.get("of", "")), waiver.get("at")
    return of if at is None else f"{of} at {at}"


def waivers(old: Clauses, new: Clauses, judged: Collection[str]) -> Iterator[Change]:
    """Yield what has changed about waivers; those of clauses in ``judged`` count there."""
    before, after = waived(old.loaded.tree), waived(new.loaded.tree)
    for of in dict.fromkeys((*before, *after)):
        days = before.get(of, ""), after.get(of, "")
        if days[0] == days[1]:
            continue
        found = verdict(forward=days[1] <= days[0], backward=days[0] <= days[1])
        if of in judged:
            yield Change(f"waivers of {of}", Verdict.NEUTRAL, f"what it does is said at `{of}`", *_sides(of, old, new))
        else:
            yield Change(f"waivers of {of}", found, "what is waived may happen", *_sides(of, old, new))


def _sides(of: str, old: Clauses, new: Clauses) -> tuple[Side | None, Side | None]:
    return _side(of, old), _side(of, new)


def _side(of: str, clauses: Clauses) -> Side | None:
    given = clauses.loaded.tree.get("waivers")
    for name, waiver in given.items() if isinstance(given, Mapping) else ():
        if isinstance(waiver, Mapping) and _name(waiver) == of:
            return clauses.side(("waivers", str(name)))
    return None

"""Floors and waivers: what binds those who extend a policy, and what need not hold for a while."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any

from ppdm_flow.core.codes import current_code
from ppdm_flow.core.spans import Span
from ppdm_flow.policy.demands import Demand, EqualTo, HasAll, OneOf, SubsetOf
from ppdm_flow.policy.floors.grammar import demands
from ppdm_flow.policy.order.clauses import ChangeVerdict, Clauses, ClauseText, ComparedClause, verdict
from ppdm_flow.policy.project import Project

_LOST = "whoever extends it is no longer bound"


def floors(old: Clauses, new: Clauses) -> Iterator[ComparedClause]:
    """Yield floors that were added, removed or changed."""
    before, after = old.policy.floors, new.policy.floors
    for name in dict.fromkeys((*before, *after)):
        path = ("floors", name)
        if name not in after:
            yield ComparedClause(f"floors.{name}", ChangeVerdict.WEAKER, _LOST, old.side(path), None)
        elif name not in before:
            yield ComparedClause(
                f"floors.{name}", ChangeVerdict.STRONGER, "whoever extends it is bound", None, new.side(path)
            )
        elif before[name].split() != after[name].split():
            yield ComparedClause(f"floors.{name}", *_moved(before[name], after[name]), old.side(path), new.side(path))


def project(old: Clauses, new: Clauses) -> Iterator[ComparedClause]:
    """Yield what changed in the project files that bind the two policies."""
    before, after = old.loaded.project, new.loaded.project
    if before is None and after is None:
        return
    demands: tuple[tuple[str, Callable[[Project], Collection[str]]], ...] = (
        ("require", lambda p: [each.name for each in p.required]),
        ("locked", lambda p: ["true"] if p.locked else []),
        ("lint.strict", lambda p: ["true"] if p.strict else []),
    )
    for key, said in demands:
        one, other = (frozenset(() if p is None else said(p)) for p in (before, after))
        if one != other:
            judged = verdict(forward=one <= other, backward=other <= one)
            yield ComparedClause(
                f"project.{key}", judged, "it binds every policy of the project", *_said(before, after, said)
            )
    files = [None if p is None or p.signers is None else p.signers.name for p in (before, after)]
    if files[0] != files[1]:
        why = "other people may sign: whoever reviews this has to know them"
        sides = _said(before, after, lambda p: [p.signers.name] if p.signers else [])
        yield ComparedClause("project.signers", ChangeVerdict.INCOMPARABLE, why, *sides)


def _said(
    before: Project | None, after: Project | None, said: Callable[[Project], Collection[str]]
) -> Iterator[ClauseText | None]:
    for each in (before, after):
        text = "" if each is None else ", ".join(said(each))
        yield ClauseText(text, Span(each.shown, 1, 1, 1, 1)) if each is not None and text else None


def _moved(before: str, after: str) -> tuple[ChangeVerdict, str]:
    """Compare what two floors ask: each of several demands, joined by ``and``, counts by itself."""
    one, other = ({" ".join(part.split()) for part in text.split(" and ")} for text in (before, after))
    lost, won = one - other, other - one
    if not lost and not won:
        return ChangeVerdict.NEUTRAL, "the same demands"
    if not lost:
        return ChangeVerdict.STRONGER, "another demand besides"
    if not won:
        return ChangeVerdict.WEAKER, "a demand is gone"
    if len(lost) != 1 or len(won) != 1:
        return ChangeVerdict.INCOMPARABLE, "other demands"
    (before,), (after,) = lost, won
    return _names(before, after) or _bounds(before, after)


def _names(before: str, after: str) -> tuple[ChangeVerdict, str] | None:
    """Say which of two demands on names is the harder one; None where they are no such demands, or of two kinds."""
    one, other = _wanted(before), _wanted(after)
    if one is None or other is None or one[0] is not other[0]:
        return None
    fewer = one[1] <= other[1], other[1] <= one[1]
    forward, backward = fewer if one[0] is HasAll else fewer[::-1]
    judged = verdict(forward=forward, backward=backward)
    return judged, _HARDER[judged]


_HARDER = {
    ChangeVerdict.STRONGER: "a harder demand",
    ChangeVerdict.WEAKER: "an easier demand",
    ChangeVerdict.NEUTRAL: "the same demand",
    ChangeVerdict.INCOMPARABLE: "another demand",
}


def _wanted(text: str) -> tuple[type[Demand], frozenset[str]] | None:
    """Return the kind of a demand on names, and the names; more ask for more only where all have to be there."""
    read = demands(text)
    demand = read[0] if read is not None and len(read) == 1 else None
    if isinstance(demand, HasAll | SubsetOf | OneOf):
        return type(demand), frozenset(demand.wanted)
    if isinstance(demand, EqualTo) and isinstance(demand.tree, str):
        return OneOf, frozenset((demand.tree,))
    return None


def _bounds(before: str, after: str) -> tuple[ChangeVerdict, str]:
    """Say which of two bounds with one sign is the harder one."""
    signs = {text.rstrip("0123456789.eE+- ").strip() for text in (before, after)}
    sign = signs.pop() if len(signs) == 1 else ""
    try:
        one, other = (float(text.replace(sign, "", 1)) for text in (before, after)) if sign else (0.0, 0.0)
    except ValueError:
        sign = ""
    if sign not in (">=", ">", "<=", "<"):
        return ChangeVerdict.INCOMPARABLE, "another demand"
    if one == other:
        return ChangeVerdict.NEUTRAL, "the same bound"
    harder = other > one if sign.startswith(">") else other < one
    return (ChangeVerdict.STRONGER, "a harder bound") if harder else (ChangeVerdict.WEAKER, "an easier bound")


def waived(tree: Mapping[str, Any]) -> dict[str, str]:
    """Return the last day of what is waived, by what it is; the latest, where several are about one thing."""
    last_day: dict[str, str] = {}
    given = tree.get("waivers")
    for each in given.values() if isinstance(given, Mapping) else ():
        if isinstance(each, Mapping):
            name, until = _name(each), str(each.get("until", ""))
            last_day[name] = max(last_day.get(name, ""), until)
    return last_day


def _name(waiver: Mapping[str, Any]) -> str:
    """Return what is waived: an id, or a code with the place that it is about."""
    of, at = current_code(str(waiver.get("of", ""))), waiver.get("at")
    return of if at is None else f"{of} at {at}"


def waivers(old: Clauses, new: Clauses, judged: Collection[str]) -> Iterator[ComparedClause]:
    """Yield what has changed about waivers; those of clauses in ``judged`` count there."""
    before, after = waived(old.loaded.tree), waived(new.loaded.tree)
    for of in dict.fromkeys((*before, *after)):
        days = before.get(of, ""), after.get(of, "")
        if days[0] == days[1]:
            continue
        judged_days = verdict(forward=days[1] <= days[0], backward=days[0] <= days[1])
        if of in judged:
            yield ComparedClause(
                f"waivers of {of}", ChangeVerdict.NEUTRAL, f"what it does is said at `{of}`", *_sides(of, old, new)
            )
        else:
            yield ComparedClause(f"waivers of {of}", judged_days, "what is waived may happen", *_sides(of, old, new))


def _sides(of: str, old: Clauses, new: Clauses) -> tuple[ClauseText | None, ClauseText | None]:
    return _side(of, old), _side(of, new)


def _side(of: str, clauses: Clauses) -> ClauseText | None:
    given = clauses.loaded.tree.get("waivers")
    for name, waiver in given.items() if isinstance(given, Mapping) else ():
        if isinstance(waiver, Mapping) and _name(waiver) == of:
            return clauses.side(("waivers", str(name)))
    return None

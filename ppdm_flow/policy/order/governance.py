"""Floors and params: what binds those who extend or run a policy. They are no clauses, so they are reported apart."""

from __future__ import annotations

from collections.abc import Iterator

from ppdm_flow.policy.loaded import UsedParam
from ppdm_flow.policy.order.clauses import Clauses
from ppdm_flow.policy.order.verdicts import Change, Side, Verdict
from ppdm_flow.policy.redaction import UNSHOWN

_LOST = "whoever extends it is no longer bound"
_FREE = "whoever runs the policy may give it another value, as far as its bounds and floors let them"
_FIXED = "whoever runs the policy cannot give it a value any more"


def governance(old: Clauses, new: Clauses) -> Iterator[Change]:
    """Yield changed floors, and params that came or went."""
    yield from floors(old, new)
    yield from _params(old, new)


def _params(old: Clauses, new: Clauses) -> Iterator[Change]:
    sides = [{p.name: Side(_told(p), p.declared) for p in c.loaded.params} for c in (old, new)]
    for name in dict.fromkeys((*sides[0], *sides[1])):
        if name not in sides[0]:
            yield Change(f"params.{name}", Verdict.WEAKER, _FREE, None, sides[1][name])
        elif name not in sides[1]:
            yield Change(f"params.{name}", Verdict.STRONGER, _FIXED, sides[0][name], None)


def _told(param: UsedParam) -> str:
    return ", ".join(param.texts) or UNSHOWN


def floors(old: Clauses, new: Clauses) -> Iterator[Change]:
    """Yield floors that were added, removed or changed."""
    before, after = old.policy.floors, new.policy.floors
    for name in dict.fromkeys((*before, *after)):
        path = ("floors", name)
        if name not in after:
            yield Change(f"floors.{name}", Verdict.WEAKER, _LOST, old.side(path), None)
        elif name not in before:
            yield Change(f"floors.{name}", Verdict.STRONGER, "whoever extends it is bound", None, new.side(path))
        elif before[name].split() != after[name].split():
            yield Change(f"floors.{name}", *_moved(before[name], after[name]), old.side(path), new.side(path))


def _moved(before: str, after: str) -> tuple[Verdict, str]:
    """Compare what two floors ask: each of several demands, joined by ``and``, counts by itself."""
    one, other = ({" ".join(part.split()) for part in text.split(" and ")} for text in (before, after))
    lost, won = one - other, other - one
    if not lost and not won:
        return Verdict.NEUTRAL, "the same demands"
    if not lost:
        return Verdict.STRONGER, "another demand besides"
    if not won:
        return Verdict.WEAKER, "a demand is gone"
    return _bounds(lost.pop(), won.pop()) if len(lost) == len(won) == 1 else (Verdict.INCOMPARABLE, "other demands")


def _bounds(before: str, after: str) -> tuple[Verdict, str]:
    """Say which of two bounds with one sign is the harder one."""
    signs = {text.rstrip("0123456789.eE+- ").strip() for text in (before, after)}
    sign = signs.pop() if len(signs) == 1 else ""
    try:
        one, other = (float(text.replace(sign, "", 1)) for text in (before, after)) if sign else (0.0, 0.0)
    except ValueError:
        sign = ""
    if sign not in (">=", ">", "<=", "<"):
        return Verdict.INCOMPARABLE, "another demand"
    if one == other:
        return Verdict.NEUTRAL, "the same bound"
    harder = other > one if sign.startswith(">") else other < one
    return (Verdict.STRONGER, "a harder bound") if harder else (Verdict.WEAKER, "an easier bound")

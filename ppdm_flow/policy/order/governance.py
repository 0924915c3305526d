"""Floors: what binds those who extend a policy. They are no clauses, so they are reported apart."""

from __future__ import annotations

from collections.abc import Iterator

from ppdm_flow.policy.order.clauses import Clauses
from ppdm_flow.policy.order.verdicts import Change, Verdict

_LOST = "whoever extends it is no longer bound"


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

"""Floors: what a policy asks of those who extend it. They bind no release, so they are reported apart."""

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
    """Say which of two bounds with one sign is the harder one."""
    signs = {text.rstrip("0123456789.eE+- ").strip() for text in (before, after)}
    sign = signs.pop() if len(signs) == 1 else ""
    try:
        one, other = (float(text.replace(sign, "", 1)) for text in (before, after)) if sign else (0.0, 0.0)
    except ValueError:
        sign = ""
    if sign not in (">=", ">", "<=", "<"):
        return Verdict.INCOMPARABLE, "another bound"
    if one == other:
        return Verdict.NEUTRAL, "the same bound"
    harder = other > one if sign.startswith(">") else other < one
    return (Verdict.STRONGER, "a harder bound") if harder else (Verdict.WEAKER, "an easier bound")

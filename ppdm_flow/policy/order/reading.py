"""Reading: which data is taken, and what becomes of what nobody declared."""

from __future__ import annotations

from collections.abc import Iterator

from ppdm_flow.policy.order.clauses import Clauses
from ppdm_flow.policy.order.frame import Between
from ppdm_flow.policy.order.verdicts import Change, Verdict, verdict

_HOW = {
    "format": "format",
    "columns": "columns",
    "missing": "missing",
    "incomplete_rows": "incomplete_rows",
    "with_": "with",
}
"""Fields of a source that say which table a file is, with their names in the policy."""


def reading(old: Clauses, new: Clauses, between: Between) -> Iterator[Change]:
    """Yield what has changed about the source, undeclared columns and null semantics."""
    one, other = old.policy.source, new.policy.source
    if one.path != other.path:
        yield _change(("source", "path"), Verdict.NEUTRAL, "which data it is, and not what must hold of it", old, new)
    if between.given.reading != between.asked.reading:
        for field, label in _HOW.items():
            if getattr(one, field) != getattr(other, field):
                why = "the same file is another table, so that no release of the one is one of the other"
                yield _change(("source", label), Verdict.INCOMPARABLE, why, old, new)
    if old.policy.undeclared != new.policy.undeclared:
        judged = verdict(forward=new.policy.undeclared == "error", backward=old.policy.undeclared == "error")
        why = "`error` refuses data with a column that nobody declared, `drop` releases the rest of it"
        yield _change(("undeclared",), judged, why, old, new, "error")
    if old.policy.nulls is not new.policy.nulls:
        why = "what it does is said at each requirement that counts groups"
        yield _change(("nulls",), Verdict.NEUTRAL, why, old, new, "own_category")


def _change(path: tuple[str, ...], judged: Verdict, why: str, old: Clauses, new: Clauses, default: str = "") -> Change:
    sides = [c.side(path) if c.has(path) else c.side(path, default) if default else None for c in (old, new)]
    return Change(".".join(path), judged, why, *sides)

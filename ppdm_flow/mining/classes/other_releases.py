"""What holds of one release has to hold as well inside of the groups of people that all releases together leave."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ppdm_flow.core.attributes import Change
from ppdm_flow.core.phrases import counted
from ppdm_flow.mining.exposure.rows import CountedRows, ReleasedRows, RowsWithOthers
from ppdm_flow.mining.releases.successive import members, why_unknown
from ppdm_flow.sdk.audit import AuditContext
from ppdm_flow.sdk.history import EarlierRelease, Membership
from ppdm_flow.sdk.view import DataView


def applies(ctx: AuditContext) -> bool:
    """Whether other releases are to be taken into account: the ledger knows people, and rows are somebody's."""
    return ctx.ledger and not all(a.was(Change.GENERATED) for a in ctx.attributes.values())


def obstacle(ctx: AuditContext) -> str:
    """Return why the groups cannot be told; empty where they can."""
    if ctx.history is not None and ctx.pairs is None:
        return "Nothing tells whose rows are released, so nobody can say what remains of them beside earlier releases."
    return why_unknown(ctx.history)


def rows(candidate: DataView, ctx: AuditContext) -> CountedRows | None:
    """Return the rows with the classes of their people in all other releases; None where these are unknown."""
    if not applies(ctx) or obstacle(ctx) or ctx.history is None:
        return None
    return _rows(members(ctx.history), candidate, ctx)


def one_by_one(candidate: DataView, ctx: AuditContext) -> Iterator[tuple[EarlierRelease, CountedRows]]:
    """Yield each other release, with the rows and the classes of their people in it."""
    for earlier in () if ctx.history is None else ctx.history.earlier:
        if earlier.members is not None and (rows := _rows([earlier.members], candidate, ctx)) is not None:
            yield earlier, rows


def _rows(others: Sequence[Membership], candidate: DataView, ctx: AuditContext) -> CountedRows | None:
    if not others:
        return ReleasedRows(candidate, ctx)
    if ctx.history is None or ctx.history.own is None or ctx.pairs is None:
        return None
    return RowsWithOthers(ctx.history.own, tuple(others), ctx.pairs, ctx)


def sentence(
    what: str, value: float | None, bound: str, broken: int, ctx: AuditContext, colliding: Sequence[str]
) -> str:
    """Return what the groups leave: ``what`` is the figure's name, ``broken`` the rows in groups beyond the bound."""
    others = 0 if ctx.history is None else len(members(ctx.history))
    if not others:
        return f"No other release tells these people apart, so what holds of its classes is all; {bound}."
    worst = "does not exist in all of them" if value is None else f"is {value:.4g} in the worst of them"
    text = f"Of the groups of people that this release and {counted(others, 'other')} leave together: {what} {worst};"
    text += f" {bound}."
    if not broken:
        return text
    by = "; ".join(colliding) if colliding else "only all of them together"
    return f"{text} {broken:,} {'row is' if broken == 1 else 'rows are'} in such groups. It collides with: {by}."

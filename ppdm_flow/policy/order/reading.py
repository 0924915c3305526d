"""Reading and running: which data is taken, what becomes of what nobody declared, and how a run behaves."""

from __future__ import annotations

from collections.abc import Iterator
from typing import get_args

from ppdm_flow.core.people import KnownRows
from ppdm_flow.policy.language.models import SourceEntry
from ppdm_flow.policy.order.clauses import ChangeVerdict, Clauses, ClauseText, ComparedClause, verdict
from ppdm_flow.policy.order.frame import ComparedPolicies

_HOW = {
    "format": "format",
    "columns": "columns",
    "missing": "missing",
    "incomplete_rows": "incomplete_rows",
    "normalize": "normalize",
    "with_": "with",
    "query": "query",
    "randomized_by": "randomized_by",
}
"""Fields of a source that say which table a file is, with their names in the policy."""
_WHERE = ("path", "url", "table")
"""Fields that say where the data is."""


def reading(old: Clauses, new: Clauses, between: ComparedPolicies) -> Iterator[ComparedClause]:
    """Yield what has changed about the source, undeclared columns and null semantics."""
    one, other = old.policy.source, new.policy.source
    for field in _WHERE:
        if getattr(one, field) != getattr(other, field):
            why = "which data it is, and not what must hold of it"
            yield _change(("source", field), ChangeVerdict.NEUTRAL, why, old, new)
    if between.given.reading != between.asked.reading:
        for field, label in _HOW.items():
            if _value(one, field) != _value(other, field):
                why = "the same file is another table, so that no release of the one is one of the other"
                yield _change(("source", label), ChangeVerdict.INCOMPARABLE, why, old, new)
    if not between.same_operator:
        why = "sets that clients randomized by another operator, or by one that cannot be read, tell something else"
        yield _change(("source", "operator"), ChangeVerdict.INCOMPARABLE, why, old, new)
    elif one.operator != other.operator:
        yield _change(("source", "operator"), ChangeVerdict.NEUTRAL, "the same content under another name", old, new)
    yield from _kept_apart(("source", "keep_apart"), one, other, old, new)
    if old.policy.undeclared != new.policy.undeclared:
        judged = verdict(forward=new.policy.undeclared == "error", backward=old.policy.undeclared == "error")
        why = "`error` refuses data with a column that nobody declared, `drop` releases the rest of it"
        yield _change(("undeclared",), judged, why, old, new, "error")
    if old.policy.nulls is not new.policy.nulls:
        why = "what it does is said at each requirement that counts groups"
        yield _change(("nulls",), ChangeVerdict.NEUTRAL, why, old, new, "own_category")
    yield from _tables(old, new)
    yield from _people(old, new)


def _tables(old: Clauses, new: Clauses) -> Iterator[ComparedClause]:
    """Yield what has changed about linked tables: which there are, how they hang together, and how they are read."""
    before, after = old.policy.tables, new.policy.tables
    for name in dict.fromkeys((*before, *after)):
        path, one, other = ("tables", name), before.get(name), after.get(name)
        if one is None or other is None:
            why = "with another table the releases are others, and so are their joins"
            yield _change(path, ChangeVerdict.INCOMPARABLE, why, old, new)
            continue
        for key in ("key", "refers"):
            if getattr(one, key) != getattr(other, key):
                why = "whose a row is, and so how many people there are, is told in another way"
                yield _change((*path, key), ChangeVerdict.INCOMPARABLE, why, old, new)
        yield from _kept_apart((*path, "source", "keep_apart"), one.source, other.source, old, new)
        if one.source.model_copy(update={"keep_apart": other.source.keep_apart}) != other.source:
            where = {field: getattr(other.source, field) for field in (*_WHERE, "keep_apart")}
            same = one.source.model_copy(update=where) == other.source
            judged = ChangeVerdict.NEUTRAL if same else ChangeVerdict.INCOMPARABLE
            yield _change((*path, "source"), judged, "which data it is, and how it is read", old, new)
        if one.undeclared != other.undeclared:
            judged = verdict(forward=other.undeclared == "error", backward=one.undeclared == "error")
            why = "`error` refuses data with a column that nobody declared, `drop` releases the rest of it"
            yield _change((*path, "undeclared"), judged, why, old, new, "error")


def _value(source: SourceEntry, field: str) -> object:
    """Return what a source says, words without their order."""
    value = getattr(source, field)
    return frozenset(value) if field == "normalize" else value


def _kept_apart(
    path: tuple[str, ...], one: SourceEntry, other: SourceEntry, old: Clauses, new: Clauses
) -> Iterator[ComparedClause]:
    """Yield what has changed about the spellings that are two people, or two sensitive values."""
    before, after = frozenset(one.keep_apart), frozenset(other.keep_apart)
    if before != after:
        judged = verdict(forward=after <= before, backward=before <= after)
        why = "two spellings of one person or of one value that are kept apart count as two"
        yield _change(path, judged, why, old, new, "[]")


def _people(old: Clauses, new: Clauses) -> Iterator[ComparedClause]:
    """Yield what has changed about who is counted, where both have a subject."""
    before, after = old.policy.people, new.policy.people
    if before is None or after is None:
        if before != after:
            why = "with a subject people are counted, else rows: each takes other data"
            yield _change(("people",), ChangeVerdict.INCOMPARABLE, why, old, new)
        return
    if before.unit != after.unit:
        judged = verdict(forward=after.unit == "people", backward=before.unit == "people")
        why = "several rows of one person are no crowd where people are counted, and are one where rows are"
        yield _change(("people", "unit"), judged, why, old, new, "people")
    elif before.known_rows != after.known_rows:
        order = get_args(KnownRows)
        ranks = [order.index(p.known_rows) if p.known_rows else -1 for p in (before, after)]
        judged = verdict(forward=ranks[1] >= ranks[0], backward=ranks[0] >= ranks[1])
        why = "whoever knows more of a person's rows finds fewer people who have them all"
        yield _change(("people", "known_rows"), judged, why, old, new)


def _change(
    path: tuple[str, ...], judged: ChangeVerdict, why: str, old: Clauses, new: Clauses, default: str = ""
) -> ComparedClause:
    sides = [c.side(path) if c.has(path) else c.side(path, default) if default else None for c in (old, new)]
    return ComparedClause(".".join(path), judged, why, *sides)


_LEDGER = ("ledger",)


def conduct(old: Clauses, new: Clauses, between: ComparedPolicies) -> Iterator[ComparedClause]:
    """Yield what has changed about the conduct of runs."""
    modes = old.policy.randomness.mode, new.policy.randomness.mode
    if modes[0] != modes[1]:
        judged = verdict(forward=modes[1] == "sealed", backward=modes[0] == "sealed")
        why = "whoever has the seed can draw again and take the randomness away; a sealed key nobody has"
        yield ComparedClause("randomness.mode", judged, why, *_sides(("randomness", "mode"), modes, old, new))
    elif old.policy.randomness != new.policy.randomness:
        why = "another seed draws otherwise, and is as public"
        path = ("randomness", "seed")
        yield ComparedClause("randomness.seed", ChangeVerdict.NEUTRAL, why, old.side(path), new.side(path))
    shown = old.policy.report.values, new.policy.report.values
    if shown[0] != shown[1]:
        judged = verdict(forward=shown[1] == "hide", backward=shown[0] == "hide")
        why = "a report that shows values shows people's values"
        yield ComparedClause("report.values", judged, why, *_sides(("report", "values"), shown, old, new))
    yield from _ledger(old, new, between)


def _ledger(old: Clauses, new: Clauses, between: ComparedPolicies) -> Iterator[ComparedClause]:
    before, after = old.policy.ledger, new.policy.ledger
    if before is None and after is None:
        return
    if before is None or after is None:
        judged = verdict(forward=before is None, backward=after is None)
        why = "with a ledger, what was released before is remembered, and counts"
        yield ComparedClause("ledger", judged, why, *(c.side(_LEDGER) if c.policy.ledger else None for c in (old, new)))
    elif between.given.ledger != between.asked.ledger:
        why = "another ledger, or other people in it: it remembers another history"
        yield ComparedClause("ledger", ChangeVerdict.INCOMPARABLE, why, old.side(_LEDGER), new.side(_LEDGER))
    elif before.repeat != after.repeat:
        judged = verdict(forward=after.repeat == "refuse", backward=before.repeat == "refuse")
        why = "`refuse` withholds a second draw of values that were randomized before, `warn` lets it go"
        repeats = before.repeat, after.repeat
        yield ComparedClause("ledger.repeat", judged, why, *_sides(("ledger", "repeat"), repeats, old, new))


def _sides(path: tuple[str, ...], texts: tuple[str, str], old: Clauses, new: Clauses) -> tuple[ClauseText, ClauseText]:
    return old.side(path, texts[0]), new.side(path, texts[1])

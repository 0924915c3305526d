"""Which column says whose row it is, where people have several rows: an id that repeats."""

from __future__ import annotations

from collections.abc import Sequence

from ppdm_flow.core.roles import Role
from ppdm_flow.mining.profiling.column import ColumnFacts
from ppdm_flow.mining.profiling.roles import Guess

_FEW = 5
"""Different values at most that are those of a code, and not people."""
_ALONE = 0.5
"""From what share of rows of their own on a table has about a row a person."""
_KINDS = ("person_id", "national_id", "document", "account", "email", "phone", "uuid", "iban", "card")
"""Kinds of ids that two people do not share, likeliest first. A name is none: two people may have one."""
_WEIGHTS = (Role.WEIGHT, Role.SAMPLING_WEIGHT)


def with_subject(columns: Sequence[ColumnFacts], guesses: tuple[Guess, ...]) -> tuple[Guess, ...]:
    """Return guesses of which one is the subject, if an id of people repeats in most of the rows.

    Every row must have one. Of several the likeliest kind is taken, by a name that says so before one that ends as
    those of ids do, and of these the one of the fewest people: who visits several times has several visits' ids. A
    table with weights has none.
    """
    if any(g.role in _WEIGHTS for g in guesses):
        return guesses
    candidates = [i for i, (c, g) in enumerate(zip(columns, guesses, strict=True)) if _repeats(c, g)]
    if not candidates:
        return guesses
    chosen = min(candidates, key=lambda i: (_rank(columns[i], guesses[i]), columns[i].distinct, i))
    column, before = columns[chosen], guesses[chosen]
    reason = (
        f"{before.reason.partition(';')[0]}, and repeats: {column.rows / column.distinct:.3g} rows each on average, so"
        " people are counted by it"
    )
    return tuple(Guess(Role.SUBJECT, reason, g.kind) if i == chosen else g for i, g in enumerate(guesses))


def _repeats(column: ColumnFacts, guess: Guess) -> bool:
    known = guess.role is Role.IDENTIFIER and guess.kind in _KINDS
    return known and not column.missing and column.distinct > _FEW and column.alone_share < _ALONE


def _rank(column: ColumnFacts, guess: Guess) -> tuple[int, int]:
    return int(guess.kind == "person_id" and column.named != "person_id"), _KINDS.index(guess.kind)

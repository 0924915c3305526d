"""A whole table: its columns, the roles guessed, and what tells its rows apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ppdm_flow.core.roles import Role
from ppdm_flow.mining.profiling.column import ColumnFacts, facts
from ppdm_flow.mining.profiling.roles import Guess, guess
from ppdm_flow.mining.uniques.search import BUDGET, CodedColumns, MinimalUniques, search

Coded = tuple[npt.NDArray[np.int32], pa.StringArray]
"""Codes of the rows, -1 for missing, and the distinct texts that they point into."""

_LEFT_OUT = (Role.IDENTIFIER, Role.SUBJECT)
"""What does not leave."""


@dataclass(frozen=True, slots=True)
class Profile:
    """``columns`` with ``guesses`` in the same order; ``uniques`` are about positions among them.

    ``missing`` are the marks, of a fixed list, that were taken for missing values.
    """

    rows: int
    columns: tuple[ColumnFacts, ...]
    guesses: tuple[Guess, ...]
    uniques: MinimalUniques
    missing: tuple[str, ...] = ("",)

    def names(self, columns: Sequence[int]) -> tuple[str, ...]:
        """Return the names of these columns."""
        return tuple(self.columns[c].name for c in columns)


def profile(columns: Mapping[str, Coded], missing: Sequence[str] = ("",), *, budget: int = BUDGET) -> Profile:
    """Measure every column, guess its role, and look for what tells rows apart.

    Columns that are declared identifiers count as unique or not by themselves, and in no combination: they do not
    leave. ``budget`` is that of the search. Missing values are equal to each other.
    """
    measured = tuple(facts(name, codes, values) for name, (codes, values) in columns.items())
    guesses = _usable(measured, with_subject(measured, _one_weight(tuple(guess(column) for column in measured))))
    ground = CodedColumns(
        [np.ascontiguousarray(codes + np.int32(1)) for codes, _ in columns.values()],
        [len(values) + 1 for _, values in columns.values()],
    )
    alone = [i for i, column in enumerate(measured) if column.rows > 1 and column.alone == column.rows]
    others = [i for i, g in enumerate(guesses) if g.role not in _LEFT_OUT and i not in alone]
    combinations = search(ground, others, budget=budget)
    minimal = (*((i,) for i in alone), *combinations.minimal)
    uniques = MinimalUniques(minimal, combinations.telling, combinations.looked_at, combinations.left_out)
    rows = measured[0].rows if measured else 0
    return Profile(rows, measured, guesses, uniques, tuple(missing))


def _one_weight(guesses: tuple[Guess, ...]) -> tuple[Guess, ...]:
    """Return guesses of which one is a sampling weight: others are those of replicates, or of another unit."""
    first = next((i for i, g in enumerate(guesses) if g.role is Role.SAMPLING_WEIGHT), None)
    return tuple(
        Guess(Role.QUASI_IDENTIFIER, f"another column is the sampling weight ({g.reason})", g.kind)
        if g.role is Role.SAMPLING_WEIGHT and i != first
        else g
        for i, g in enumerate(guesses)
    )


def _usable(columns: Sequence[ColumnFacts], guesses: tuple[Guess, ...]) -> tuple[Guess, ...]:
    """Return guesses by which there is something to group by: without any quasi-identifier, what leaves is one."""
    if any(g.role is Role.QUASI_IDENTIFIER for g in guesses):
        return guesses
    left = [i for i, g in enumerate(guesses) if g.role not in _LEFT_OUT and columns[i].distinct]
    sensitive = [i for i in left if guesses[i].role is Role.SENSITIVE]
    chosen = set(left) - set(sensitive) or set(sensitive)
    instead = "nothing else is left to group people by"
    return tuple(
        Guess(Role.QUASI_IDENTIFIER, f"{instead} ({g.reason})", g.kind) if i in chosen else g
        for i, g in enumerate(guesses)
    )


# Which column says whose row it is, where people have several rows: an id that repeats.


_FEW = 5
"""Different values at most that are those of a code, and not people."""
_ALONE, _ALONE_IF_NAMED = 0.5, 0.9
"""From what share of rows of their own on a table has about a row a person.

Where a name says that the values are people's, one row in ten that shares its value is enough: of 100,000 stays in
hospital half are those of people who have one.
"""
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
    alone = _ALONE if _is_any_id(column, guess) else _ALONE_IF_NAMED
    return known and not column.missing and column.distinct > _FEW and column.alone_share < alone


def _rank(column: ColumnFacts, guess: Guess) -> tuple[int, int]:
    return int(_is_any_id(column, guess)), _KINDS.index(guess.kind)


def _is_any_id(column: ColumnFacts, guess: Guess) -> bool:
    """Whether a name ends as those of ids do, and does not say that they are people's."""
    return guess.kind == "person_id" and column.named != "person_id"

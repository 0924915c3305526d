"""Columns that repeat like a person's id: then a person has several rows, and k rows are fewer people.

A subject is not among them: it says so itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import pyarrow as pa
import pyarrow.compute as pc

from ppdm_flow.core.attributes import AttributeFacts
from ppdm_flow.core.roles import Role
from ppdm_flow.engine.streams.coding import respelled_cells
from ppdm_flow.mining.profiling.words import named
from ppdm_flow.sdk.storage import Source

LOOKED_AT = 1 << 16
"""So many rows from the top of the file are counted at most."""
LEAST_SHARE = 0.01
"""So many of the rows share their value with others at least: two people may have one name."""
_FEW = 5
_LIKE_IDS = frozenset({"person_id", "national_id", "document", "account", "card", "iban", "email", "phone", "uuid"})


@dataclass(slots=True)
class RepeatCounter:
    """Counts the values of one column, without keeping any; :attr:`text` says what was found, if anything."""

    code: ClassVar[str] = "PPF857"
    facts: AttributeFacts
    rows: int = 0
    parts: list[pa.StringArray] = field(default_factory=list)
    distinct: int = 0
    shared: int = 0
    most: int = 0

    def look(self, cells: pa.Array, missing: pa.Array) -> None:
        """Take in texts as they are read, but for missing ones."""
        texts = cells.dictionary_decode() if pa.types.is_dictionary(cells.type) else cells
        texts = texts.cast(pa.string()).drop_null()
        texts = texts.filter(pc.invert(pc.is_in(texts, value_set=missing)))
        self.rows += len(texts)
        self.parts.append(texts)

    def count(self) -> None:
        """Count what was taken in, and forget it."""
        counts = pc.value_counts(pa.chunked_array(self.parts, pa.string())).field("counts")
        self.distinct, self.most = len(counts), int(pc.max(counts).as_py() or 0)
        several = counts.filter(pc.greater(counts, 1))
        self.shared = int(pc.sum(several).as_py() or 0)
        self.parts = []

    @property
    def text(self) -> str | None:
        """Say that it repeats, and how; None where it does not."""
        own = self.facts.role is Role.IDENTIFIER
        if self.shared < LEAST_SHARE * self.rows or not self.shared or (self.distinct <= _FEW and not own):
            return None
        what = f"`{self.facts.name}` is {'an identifier' if own else 'named like an id of people'}, and repeats:"
        return (
            f"{what} {self.rows:,} rows have {self.distinct:,} different values, the most frequent of them"
            f" {self.most:,} times. Where a value is a person, groups of k rows are of fewer people"
        )


def look_at_the_top(
    counters: Sequence[RepeatCounter],
    source: Source,
    columns: Mapping[str, str],
    missing: Sequence[str],
    normalize: Sequence[str] = (),
) -> None:
    """Read the first rows of these columns, and no others; ``columns`` are what the file calls them."""
    if not counters:
        return
    names, marks, rows = [columns[r.facts.name] for r in counters], pa.array(list(missing), pa.string()), 0
    for batch in source.batches(list(dict.fromkeys(names))):
        part = respelled_cells(batch.slice(0, LOOKED_AT - rows), normalize)
        for each, name in zip(counters, names, strict=True):
            each.look(part.column(name), marks)
        rows += len(part)
        if rows >= LOOKED_AT:
            break
    for each in counters:
        each.count()


def columns_to_count(attributes: Iterable[AttributeFacts], columns: Sequence[str]) -> tuple[RepeatCounter, ...]:
    """Return what to count: identifiers, and what is named like one; of a weighted table nothing."""
    known = tuple(a for a in attributes if a.name in columns)
    if any(a.role is Role.WEIGHT for a in known):
        return ()
    return tuple(RepeatCounter(a) for a in known if a.role is Role.IDENTIFIER or _like_id(a))


def _like_id(facts: AttributeFacts) -> bool:
    return facts.role not in (Role.SUBJECT, Role.ITEMS) and named(facts.name) in _LIKE_IDS

"""Files that a run could release of a small table: with copies of a column, in two parts, with rows of people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from ppdm_flow.core.attributes import AttributeFacts, Change
from ppdm_flow.core.lineage import Lineage
from ppdm_flow.core.roles import Nulls, Role
from ppdm_flow.reader.run import RunReader
from ppdm_flow.sdk.audit import OtherRelease
from ppdm_flow.tables.column import SUPPRESSED_TEXT, Column
from ppdm_flow.tables.table import Table
from ppdm_flow.testing.view import InMemoryPairs, InMemoryView

WEIGHT = "how often"
"""The column of weights of the tables that have some."""
SUBJECT = "whose row"
"""The column that says whose row it is, of tables of people."""
KEY = "number of the row"
"""The column by which the rows of two files can be put together."""
COPY = "copy"
"""The column with a copy of another one."""
PARTITION = 7
"""Rows of a partition: fewer than most tables have."""


@dataclass(frozen=True)
class FileOfRun:
    """A file of a run: its cells, and what is known of its columns."""

    table: Table
    facts: Mapping[str, AttributeFacts]

    @property
    def view(self) -> InMemoryView:
        """The file as audits read it."""
        return InMemoryView.of(self.table, {name: facts.role for name, facts in self.facts.items()}, PARTITION)

    def part(self, names: Sequence[str], key: Column) -> FileOfRun:
        """Return a file with these columns alone, and the number of each row."""
        facts = {n: self.facts[n] for n in names}
        known = AttributeFacts(KEY, Role.INSENSITIVE, source=KEY)
        return FileOfRun(self.table.select(names).replaced({KEY: key}), {**facts, KEY: known})


@dataclass(frozen=True)
class RunOfTwo:
    """Two files with the same rows, which anybody can put together by their numbers, and the original of both."""

    original: Table
    files: tuple[FileOfRun, FileOfRun]
    nulls: Nulls

    @classmethod
    def of(cls, whole: FileOfRun, name: str, original: Table, nulls: Nulls) -> RunOfTwo:
        """Return a file with one column, and one with all others."""
        key = Column.of([str(n) for n in range(len(original))])
        rest = [other for other in whole.table.names if other != name]
        return cls(original.replaced({KEY: key}), (whole.part([name], key), whole.part(rest, key)), nulls)

    @cached_property
    def read(self) -> tuple[OtherRelease, ...]:
        """The files as their readers see them."""
        none = np.zeros(0, dtype=np.int64)
        return tuple(
            OtherRelease(name, f.facts, f.view, InMemoryPairs(self.original, f.table), none, everyone=self._everyone)
            for name, f in zip(("one", "other"), self.files, strict=True)
        )

    @cached_property
    def reader(self) -> RunReader:
        """Somebody who has both files."""
        facts = (fact for file in self.files for fact in file.facts.values())
        known = frozenset(fact.source for fact in facts if fact.role is Role.QUASI_IDENTIFIER)
        return RunReader(self.read, None, self.nulls, quasi_identifiers=known)

    def _everyone(self, columns: Sequence[str]) -> Iterator[Table]:
        yield self.original.select(columns)


def copies(file: FileOfRun, name: str) -> Iterator[tuple[str, FileOfRun, FileOfRun]]:
    """Yield copies of a column: in words, as a file with the copy in the column's place, and as one with both.

    The column itself is suppressed beside its copy.
    """
    facts, plain = file.facts[name], file.table[name]
    hidden = file.table.replaced({name: Column.of([SUPPRESSED_TEXT] * len(file.table))})
    suppressed = {**file.facts, name: replace(facts, changes=(("hide", Change.SUPPRESSED),))}
    renamed = FileOfRun(hidden.replaced({COPY: plain}), {**suppressed, COPY: replace(facts, name=COPY)})
    yield f"it is suppressed, and released once more as `{COPY}`", file, renamed
    coarse, changes = retold(plain, width=1), (("cut", Change.GENERALIZED),)
    computed = AttributeFacts(COPY, Role.INSENSITIVE, changes=changes, derived=Lineage(frozenset((name,))))
    yield (
        f"it is suppressed, and released in coarser values as `{COPY}`",
        FileOfRun(file.table.replaced({name: coarse}), {**file.facts, name: replace(facts, changes=changes)}),
        FileOfRun(hidden.replaced({COPY: coarse}), {**suppressed, COPY: computed}),
    )


def retold(column: Column, missing: str | None = None, width: int | None = None) -> Column:
    """Return a column with ``missing`` for missing values, and no more than ``width`` letters of the others."""
    texts = column.texts()
    return Column.of([missing if text is None else text if text == SUPPRESSED_TEXT else text[:width] for text in texts])


def uneven(table: Table) -> npt.NDArray[np.int64]:
    """Return how often each row counts (rows,): once, twice, three times, and so on."""
    return np.arange(len(table)) % 3 + 1

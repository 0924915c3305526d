"""The classes of a release, the groups of the original that were merged into them, and their sensitive values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ppdm_flow.mining.releases.attributes import source_of
from ppdm_flow.sdk.audit import AuditContext
from ppdm_flow.tables.counts import count, merge
from ppdm_flow.tables.table import Table

Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class MergedClasses:
    """``groups`` are the people of each group, sorted by class, of which ``owner`` is the class.

    ``holders`` people of class ``of`` have the value ``value``; ``names`` are the values as texts, ``sizes`` the people
    of each class.
    """

    groups: Integers
    owner: Integers
    of: Integers
    value: Integers
    holders: Integers
    names: Sequence[str]
    sizes: Integers

    def groups_of(self, number: int) -> Integers:
        """Return the sizes of the groups of one class."""
        first, last = np.searchsorted(self.owner, [number, number + 1])
        return self.groups[first:last]


def merged(columns: Sequence[str], secret: str, ctx: AuditContext) -> MergedClasses | None:
    """Put classes and groups together; None where rows cannot be paired or there are none."""
    if ctx.pairs is None or not columns:
        return None
    sources = [source_of(c, ctx) for c in columns]
    if any(s not in ctx.original_attributes for s in sources):
        return None
    kept = [f"\0{i}" for i in range(len(sources))]
    joint = merge(count(part, [*kept, *columns, secret]) for part in _parts(sources, columns, secret, ctx))
    if joint.total == 0:
        return None
    group = joint.project([*kept, *columns])
    owner, number = group.groups(tuple(columns))
    values = joint.project([*columns, secret])
    of, _ = values.groups(tuple(columns))
    order = np.argsort(owner, kind="stable")
    sizes = np.zeros(number, dtype=np.int64)
    np.add.at(sizes, owner, group.counts)
    codes = values.of(secret).astype(np.int64)
    shown = codes >= 0
    names = values.names(secret).to_pylist()
    return MergedClasses(group.counts[order], owner[order], of[shown], codes[shown], values.counts[shown], names, sizes)


def _parts(sources: Sequence[str], columns: Sequence[str], secret: str, ctx: AuditContext) -> Iterator[Table]:
    if ctx.pairs is None:
        return
    for left, right in ctx.pairs.pairs(list(dict.fromkeys(sources)), [*columns, secret]):
        mine = {f"\0{i}": left[s] for i, s in enumerate(sources)}
        yield Table({**mine, **{c: right[c] for c in (*columns, secret)}}, left.rows)

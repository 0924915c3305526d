"""For whom a value is certain by rows that are seen to be one person's.

Whoever knows the classes of up to ``known_rows`` rows of a person finds the linked people who have them all, with what
all of their linked rows say. A value is certain that everybody of them has in any of these.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from ppdm_flow.core.roles import Nulls
from ppdm_flow.mining.exposure.columns import ReadingMethod, RevealingColumns, ValueColumns
from ppdm_flow.mining.exposure.faults import UnmeasuredError
from ppdm_flow.mining.people.groups import GroupEntries
from ppdm_flow.mining.people.known import KnownRows, may_link
from ppdm_flow.mining.people.known_query import KnownQuery
from ppdm_flow.sdk.audit import AuditContext
from ppdm_flow.sdk.view import DataView
from ppdm_flow.tables.column import SPECIALS

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class ByLinks:
    """``found`` are the numbers of the people for whom a value is certain, ``share`` the highest of one value.

    ``any_linked``: some row is. ``complete`` is false where nobody looks at all of them: combinations of
    classes are too many, or sets may link rows.
    """

    found: Ints
    share: float = 0.0
    any_linked: bool = False
    complete: bool = True


NOTHING = ByLinks(np.zeros(0, dtype=np.int64))


def by_links(candidate: DataView, columns: Sequence[str], secret: str, ctx: AuditContext) -> ByLinks:
    """Look at the combinations of classes that linked people have; a missing cell there is a value of its own."""
    formed, own = _read(columns, ctx)
    found, share = [], 0.0
    try:
        if not may_link(formed, candidate, own):
            return NOTHING
        known = KnownRows.of(formed, ValueColumns(secret, ReadingMethod.SHOWN, (secret,)), candidate, own)
        if not known.linked.total:
            return NOTHING
        for number, entries in known.entries():
            persons, most = _certain(number, entries)
            found.append(persons)
            share = max(share, most)
    except UnmeasuredError:
        return ByLinks(NOTHING.found, 0.0, any_linked=True, complete=False)
    places = np.unique(np.concatenate([NOTHING.found, *found]))
    return ByLinks(known.held.holdings.persons[places], share, any_linked=True)


def _certain(number: int, entries: GroupEntries) -> tuple[Ints, float]:
    """Return who is in one of so many groups where everybody has one value, and the highest share of people or rows."""
    if not len(entries.owner):
        return np.zeros(0, dtype=np.int64), 0.0
    pairs = np.unique(np.stack([entries.owner, entries.person]), axis=1)
    people = np.bincount(pairs[0], minlength=number)
    rows = np.bincount(entries.owner, entries.amount, number)
    shown = entries.value >= SPECIALS
    keys = np.stack([entries.owner[shown], entries.value[shown]])
    cells, place, holders = np.unique(keys, axis=1, return_inverse=True, return_counts=True)
    amounts = np.bincount(place.reshape(-1), entries.amount[shown], cells.shape[1])
    owner = cells[0]
    shares = np.maximum(holders / people[owner], amounts / rows[owner])
    sure = np.zeros(number, dtype=np.bool_)
    sure[owner[holders == people[owner]]] = True
    return np.unique(pairs[1][sure[pairs[0]]]), float(shares.max(initial=0.0))


def links_sql(candidate: DataView, columns: Sequence[str], ctx: AuditContext) -> bool:
    """Whether some row is or may be linked, by the second route. Raises ValueError without a database."""
    if ctx.sql is None:
        raise ValueError("nothing to ask")
    formed, own = _read(columns, ctx)
    try:
        return KnownQuery.of_known(ctx.sql, formed, None, candidate, own).links()
    except UnmeasuredError:
        return True


def _read(columns: Sequence[str], ctx: AuditContext) -> tuple[RevealingColumns, AuditContext]:
    return RevealingColumns(tuple(columns)), replace(ctx, nulls=Nulls.OWN_CATEGORY)

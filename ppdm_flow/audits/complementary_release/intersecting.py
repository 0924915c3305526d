"""Released people by their class in this release and by the classes of another one that fit them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from ppdm_flow.audits.labels.joining import look_up
from ppdm_flow.audits.labels.released import Classes
from ppdm_flow.mining.releases.attributes import source_of
from ppdm_flow.sdk.audit import AuditContext
from ppdm_flow.sdk.view import PairedView
from ppdm_flow.tables.column import SPECIALS
from ppdm_flow.tables.counts import Counts, count, merge
from ppdm_flow.tables.table import Table

Integers = npt.NDArray[np.int64]
_ALL = 1 << 62


@dataclass(frozen=True, slots=True, eq=False)
class Intersections:
    """Kinds of released people: ``persons`` of each, their class ``here``, their ``group`` of both releases.

    ``there`` is the one class of the other release that fits them, -1 where none or several do; ``fits`` says how many.
    ``values`` (secrets, kinds) are the codes of their released secrets.
    """

    persons: Integers
    here: Integers
    there: Integers
    fits: Integers
    group: Integers
    values: Integers

    @property
    def sizes(self) -> Integers:
        """The people of each group."""
        return np.bincount(self.group, self.persons).astype(np.int64)

    @property
    def total(self) -> int:
        """All released people."""
        return int(self.persons.sum())


def intersections(here: Classes, there: Classes, pairs: PairedView, ctx: AuditContext) -> Intersections | None:
    """Look up in ``there`` the original values of everybody in ``here``; None where there are no rows."""
    known = [f"\0{i}" for i in range(len(there.columns))]
    both = _counted(here, there.columns, known, pairs, ctx)
    if both is None:
        return None
    people = both.project(known)
    kind = _places(both, known)
    fits, first, signature = _looked_up(people, there, ctx)
    single = np.where(fits == 1, first, -1)
    mine = here.places(both.project([*here.columns]))[_places(both, here.columns)]
    group = np.unique(np.stack([mine, signature[kind]]), axis=1, return_inverse=True)[1].ravel()
    values = np.stack([both.of(s) for s in here.secrets]) if here.secrets else np.zeros((0, len(both)), np.int32)
    return Intersections(both.counts, mine, single[kind], fits[kind], group, values.astype(np.int64))


def _counted(
    here: Classes, theirs: Sequence[str], known: Sequence[str], pairs: PairedView, ctx: AuditContext
) -> Counts | None:
    """Count people by the values that the other release's columns were made of, and by all that is released here."""
    sources = [source_of(c, ctx) for c in theirs]
    released = [*here.columns, *here.secrets]
    parts = []
    for left, right in pairs.pairs(list(dict.fromkeys(sources)), released):
        columns = {k: left[s] for k, s in zip(known, sources, strict=True)} | {c: right[c] for c in released}
        if len(left):
            parts.append(count(Table(columns, left.rows), [*known, *released]))
    return merge(parts) if parts else None


def _places(counts: Counts, columns: Sequence[str]) -> Integers:
    """Return the place of each combination in the projection to these columns: both are sorted in one way."""
    return counts.groups(columns)[0]


def _looked_up(people: Counts, there: Classes, ctx: AuditContext) -> tuple[Integers, Integers, Integers]:
    """Return how many classes fit, the first of these, and a number for all of them together.

    The number is a sum of random ones, one for each class: other classes have another sum, but once in 2^64.
    """
    codes = people.codes.astype(np.int64) + SPECIALS
    random = np.random.default_rng(0).integers(-(1 << 63), (1 << 63) - 1, len(there), dtype=np.int64)
    known = replace(there.index(people.categories, ctx), rows=random)
    matches, _ = look_up(codes, np.ones(len(codes), dtype=np.int64), known, looks=_ALL)
    return matches.kinds, matches.first, matches.rows

"""The people whom the attacker knows, and their released rows where these are known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ppdm_flow.audits.labels.file import IDENTITY, KnownTable, known_columns, read
from ppdm_flow.audits.labels.released import ReleasedClasses
from ppdm_flow.audits.linkage.spec import LinkageParams
from ppdm_flow.mining.releases.attributes import source_of
from ppdm_flow.sdk.audit import AuditContext
from ppdm_flow.sdk.view import DataView
from ppdm_flow.tables.column import SPECIALS, Column
from ppdm_flow.tables.counts import Counts, count, merge
from ppdm_flow.tables.table import Table

Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class KindsOfPeople:
    """Dense ``codes`` (kinds, columns) in ``values``; each kind represents ``persons``.

    ``own`` (kinds,) is the class that holds their released row, -1 for people who have none; None where nobody knows.
    ``identities`` names them, where the file does.
    """

    codes: Integers
    values: tuple[pa.StringArray, ...]
    persons: Integers
    own: Integers | None
    identities: Column | None = None

    @property
    def total(self) -> int:
        """How many persons there are."""
        return int(self.persons.sum())


def linked_by(params: LinkageParams, columns: Sequence[str], original: DataView, ctx: AuditContext) -> tuple[str, ...]:
    """Return the released columns of which the attacker knows people's values."""
    if params.external is None:
        return tuple(c for c in columns if source_of(c, ctx) in original.schema)
    return tuple(known_columns(file_of(params, ctx), [(c, source_of(c, ctx)) for c in columns]))


def people_of(params: LinkageParams, known: ReleasedClasses, original: DataView, ctx: AuditContext) -> KindsOfPeople:
    """Return the people of the file, or of the original. Raises DataError where the file cannot be used."""
    if params.external is None:
        return _originals(known, original, ctx)
    file = file_of(params, ctx)
    table = read(file, known_columns(file, [(c, source_of(c, ctx)) for c in known.columns]))
    codes = np.stack([table[c].dense.astype(np.int64) for c in known.columns], axis=1)
    values = tuple(table[c].categories for c in known.columns)
    names = table[IDENTITY] if params.identity else None
    own = _by_identity(params.truth, names, known, original, ctx) if params.truth and names is not None else None
    return KindsOfPeople(codes, values, np.ones(len(table), dtype=np.int64), own, names)


def file_of(params: LinkageParams, ctx: AuditContext) -> KnownTable:
    """Return the file of known people."""
    return KnownTable(ctx.home / (params.external or ""), params.delimiter, params.columns, params.identity)


def _originals(known: ReleasedClasses, original: DataView, ctx: AuditContext) -> KindsOfPeople:
    sources = [source_of(c, ctx) for c in known.columns]
    weight = original.schema.weight
    if ctx.pairs is None or weight is not None:
        return _kinds(original.counts(sources), sources, None)
    both = merge(
        count(_beside(left, right, sources, known.columns), [*map(_mine, range(len(sources))), *known.columns])
        for left, right in ctx.pairs.pairs(list(dict.fromkeys(sources)), list(known.columns))
    )
    renamed = [_mine(i) for i in range(len(sources))]
    return _kinds(both, renamed, _own(both, known))


def _mine(place: int) -> str:
    return f"\0{place}"


def _beside(left: Table, right: Table, sources: Sequence[str], columns: Sequence[str]) -> Table:
    mine = {_mine(i): left[s] for i, s in enumerate(sources)}
    return Table({**mine, **{c: right[c] for c in columns}}, left.rows)


def _kinds(counts: Counts, columns: Sequence[str], own: Integers | None) -> KindsOfPeople:
    kept = counts.counts > 0
    codes = np.stack([counts.of(c).astype(np.int64) + SPECIALS for c in columns], axis=1)
    own_class = None if own is None else own[kept]
    return KindsOfPeople(codes[kept], tuple(counts.names(c) for c in columns), counts.counts[kept], own_class)


def _own(counts: Counts, known: ReleasedClasses) -> Integers | None:
    """Return the classes, None where the file writes values otherwise than the steps did."""
    try:
        return known.places(counts)
    except KeyError:
        return None


def _by_identity(
    truth: str, names: Column, known: ReleasedClasses, original: DataView, ctx: AuditContext
) -> Integers | None:
    """Return the class of the released row of each identity; of one who has several rows, the first's."""
    if ctx.pairs is None or truth not in original.schema:
        return None
    classes = np.full(len(names.categories) + SPECIALS, -1, dtype=np.int64)
    for left, right in ctx.pairs.pairs([truth], list(known.columns)):
        dense = named_by(left[truth], names.categories) + SPECIALS
        single = Counts(
            known.columns,
            tuple(right[c].categories for c in known.columns),
            np.stack([right[c].codes for c in known.columns], axis=1),
            np.ones(len(right), dtype=np.int64),
        )
        own = _own(single, known)
        if own is None:
            return None
        there = dense >= SPECIALS
        classes[dense[there][::-1]] = own[there][::-1]
    return classes[names.dense]


def named_by(column: Column, names: pa.StringArray) -> Integers:
    """Return the place of each cell among ``names``, -1 for one that is not there, missing or suppressed."""
    place = pc.index_in(column.categories, value_set=names).fill_null(-1)
    which = place.to_numpy(zero_copy_only=False).astype(np.int64)
    return np.asarray(np.concatenate([[-1, -1], which])[column.dense])

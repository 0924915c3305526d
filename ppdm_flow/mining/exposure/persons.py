"""Whose rows the released rows are, by number, in the order of the rows' numbers in the source."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from ppdm_flow.core.people import PeopleCount
from ppdm_flow.mining.exposure.columns import carriers
from ppdm_flow.mining.exposure.numbers import Ints
from ppdm_flow.sdk.audit import AuditContext
from ppdm_flow.sdk.paired_relation import cells_of
from ppdm_flow.sdk.view import DataView, PairedView


def persons(people: PeopleCount, pairs: PairedView, columns: Sequence[str]) -> Ints:
    """Return the number of each row's person, (rows,), from 0. ``columns`` are released ones that are read as well."""
    texts: list[pa.Array] = [pa.array([], pa.string())]
    rows = [np.zeros(0, np.int64)]
    for left, right in pairs.pairs([people.subject], list(columns)):
        texts.append(cells_of(left[people.subject]).cast(pa.string()))
        rows.append(np.asarray(right.rows, dtype=np.int64))
    coded = pa.concat_arrays(texts).dictionary_encode()
    order = np.argsort(np.concatenate(rows), kind="stable")
    codes = coded.indices.fill_null(-1).to_numpy(zero_copy_only=False)
    return np.asarray(codes, dtype=np.int64)[order]


def by_pseudonym(candidate: DataView, ctx: AuditContext) -> bool:
    """Whether a column leaves that is computed from the subject: then it is seen which rows are one person's."""
    return ctx.people is not None and bool(carriers(ctx.people.subject, candidate, ctx))

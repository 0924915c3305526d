"""Genetic encoding of a column of ids."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ppdm_flow.anonymizers.genetic_encode.spec import INVERTIBLE, GeneticEncodeParams
from ppdm_flow.anonymizers.naming import require
from ppdm_flow.core.diagnostics import Diagnostic, Severity
from ppdm_flow.core.draws import Draws
from ppdm_flow.core.errors import PluginError
from ppdm_flow.core.results import Figure, Finding
from ppdm_flow.sdk.anonymizer import Fitted, StepContext
from ppdm_flow.sdk.view import DataView
from ppdm_flow.tables.column import Column
from ppdm_flow.tables.table import Table

_TRIAL = hashlib.sha256(b"ppdm-flow genetic encoding, trial for figures").digest()
"""A key that everybody knows: figures are those of an encoding that is never released."""
_DIGITS = r"^[0-9]{1,19}$"

Integers = npt.NDArray[np.int64]


def encoded(
    ids: Integers, width: int, head: int | Integers, until: int | Integers | None = None, *, complement: bool = False
) -> Integers:
    """Return the code of every id, shape (rows,), all within [0, 2^width).

    The first ``head`` of the ``width`` bits are reversed (or complemented) and stay, those up to ``until`` (all others,
    if it is None) come from the row after, the last row's from the first one; what is behind ``until`` stays as it is.
    Both may be of shape (rows,): positions of each row.

    Examples
    --------
    >>> encoded(np.array([106, 257, 3000]), 12, 4).tolist()
    [1, 2232, 3434]
    >>> encoded(np.array([106, 257, 3000]), 12, 4, 8).tolist()
    [10, 2225, 3432]
    """
    tail, last = width - np.asarray(head), width - np.asarray(width if until is None else until)
    first = ids >> tail
    kept = ((1 << (width - tail)) - 1) ^ first if complement else mirrored(first, head)
    own = (1 << last) - 1
    passed = ((1 << tail) - 1) ^ own
    codes: Integers = (kept << tail) | (np.roll(ids, -1) & passed) | (ids & own)
    return codes


def mirrored(values: Integers, width: int | Integers) -> Integers:
    """Return the values with their ``width`` bits in opposite order.

    Examples
    --------
    >>> mirrored(np.array([0b0001, 0b1011]), 4).tolist()
    [8, 13]
    """
    out = np.zeros_like(values)
    for place in range(int(np.max(width, initial=0))):
        there = place < np.asarray(width)
        out |= np.where(there, ((values >> place) & 1) << np.where(there, np.asarray(width) - 1 - place, 0), 0)
    return out


def colliding(ids: Integers, codes: Integers) -> int:
    """Return how many rows share their code with a row of another id."""
    order = np.lexsort((ids, codes))
    code, own = codes[order], ids[order]
    start = np.flatnonzero(np.append(True, code[1:] != code[:-1]))[: len(code)]
    if not len(start):
        return 0
    sizes = np.diff(np.append(start, len(code)))
    several = own[start] != own[start + sizes - 1]  # sorted, so the ends differ where any two do
    return int(sizes[several].sum())


class GeneticEncode:
    """Lets ids exchange bits. A reader who knows the order of the rows, and this page, gets every id back."""

    def __init__(self, params: GeneticEncodeParams) -> None:
        self.params = params

    def fit(self, data: DataView, ctx: StepContext) -> Fitted:
        """Look at every id, and count collisions. Raises PluginError, naming the column, where one does not fit."""
        name = self.params.attribute
        require([name], data.schema.names, ctx.step)
        ids = numbers(name, data.table([name])[name], self.params.width)
        transform = GeneticEncodeTransform(self.params)
        order = "in the order in which the rows are read; a shuffle before this step changes the number"
        if transform.draws_per_row:
            order += "; with random positions that are not those of the release"
        trial = transform.codes(ids, Draws(_TRIAL, transform.draws_per_row).words(np.arange(len(ids))))
        lost = Figure(colliding(ids, trial), "rows", note=order)
        some = "many of " if transform.draws_per_row else ""
        text = (
            f"{some}the codes of `{name}` can be turned back by anyone who knows the order of the rows, with nothing"
            " but the description of the method; and different ids can get one code"
        )
        finding = Finding(INVERTIBLE, Severity.WARNING, text, f"{ctx.step}.{name}")
        return Fitted(transform, {"colliding_rows": lost}, findings=(finding,))


@dataclass(frozen=True, slots=True)
class GeneticEncodeTransform:
    """The parameters are all there is to it, and positions where they are drawn: there is no key to turn it back."""

    params: GeneticEncodeParams

    @property
    def draws_per_row(self) -> int:
        """One for each position that is random."""
        return [self.params.head, self.params.until].count("random")

    def apply_table(self, table: Table, draws: Draws) -> Mapping[str, Table]:
        """Replace the ids, in the order of the rows."""
        name = self.params.attribute
        codes = self.codes(numbers(name, table[name], self.params.width), draws.words(table.rows))
        return {"": table.replaced({name: _column(codes)})}

    def codes(self, ids: Integers, words: npt.NDArray[np.uint64]) -> Integers:
        """Return the codes of ids in their order; ``words`` are the draws of each, shape (rows, draws_per_row)."""
        width, head, until = self.params.width, self.params.head, self.params.until
        first = 1 + _below(words[:, 0], self.params.most) if head == "random" else np.full(len(ids), head)
        if until == "random":
            last = first + 1 + _below(words[:, -1], width - first)
        else:
            last = np.full(len(ids), width if until is None else until)
        return encoded(ids, width, first, last, complement=self.params.invert == "complement")

    def describe(self) -> Mapping[str, Any]:
        """Everything but what was drawn."""
        return {**self.params.model_dump(), "invertible": self.draws_per_row == 0}


def _below(words: npt.NDArray[np.uint64], bound: npt.ArrayLike) -> Integers:
    return (words % np.asarray(bound, dtype=np.uint64)).astype(np.int64)


def numbers(name: str, column: Column, width: int) -> Integers:
    """Return a column as whole numbers below 2^width, shape (rows,). Raises PluginError where a cell is none."""
    if (column.codes < 0).any():
        raise _misfit(name, int((column.codes < 0).sum()), "are missing or suppressed")
    used = column.compact()
    digits = pc.match_substring_regex(used.categories, _DIGITS).to_numpy(zero_copy_only=False).astype(bool)
    if not digits.all():
        raise _misfit(name, int(np.isin(used.codes, np.flatnonzero(~digits)).sum()), "are no whole numbers from 0 on")
    values = pc.cast(used.categories, pa.uint64()).to_numpy(zero_copy_only=False)
    if len(values) and int(values.max()) >= 1 << width:
        far = np.flatnonzero(values >= np.uint64(1 << width))
        raise _misfit(name, int(np.isin(used.codes, far).sum()), f"do not fit {width} bits (0 to {(1 << width) - 1:,})")
    return values.astype(np.int64)[used.codes] if len(values) else np.zeros(0, dtype=np.int64)


def _misfit(name: str, rows: int, what: str) -> PluginError:
    return PluginError(
        Diagnostic("PPF823", f"{rows:,} cells of the column `{name}` {what}", help="raise `width`, or clean the ids")
    )


def _column(codes: Integers) -> Column:
    distinct, places = np.unique(codes, return_inverse=True)
    return Column(places.astype(np.int32), pa.array(distinct).cast(pa.string())).compact()

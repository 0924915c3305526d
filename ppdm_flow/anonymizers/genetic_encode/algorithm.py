"""Genetic encoding of a column of ids."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ppdm_flow.anonymizers.deterministic import Deterministic
from ppdm_flow.anonymizers.genetic_encode.spec import INVERTIBLE, GeneticEncodeParams
from ppdm_flow.anonymizers.naming import require
from ppdm_flow.core.diagnostics import Diagnostic, Severity
from ppdm_flow.core.draws import Draws
from ppdm_flow.core.errors import PluginError
from ppdm_flow.core.records import dataclass
from ppdm_flow.core.results import Figure, Finding
from ppdm_flow.sdk.anonymizer import Fitted, StepContext
from ppdm_flow.sdk.view import DataView
from ppdm_flow.tables.column import Column
from ppdm_flow.tables.table import Table

_DIGITS = r"^[0-9]{1,19}$"

Integers = npt.NDArray[np.int64]


def encoded(ids: Integers, width: int, head: int, *, complement: bool = False) -> Integers:
    """Return the code of every id, shape (rows,), all within [0, 2^width).

    The first ``head`` of the ``width`` bits are reversed (or complemented) and stay, the others come from the row
    after; the last row gets the first one's.

    Examples
    --------
    >>> encoded(np.array([106, 257, 3000]), 12, 4).tolist()
    [1, 2232, 3434]
    """
    tail = width - head
    first = ids >> tail
    kept = ((1 << head) - 1) ^ first if complement else mirrored(first, head)
    return (kept << tail) | np.roll(ids & ((1 << tail) - 1), -1)


def mirrored(values: Integers, width: int) -> Integers:
    """Return the values with their ``width`` bits in opposite order.

    Examples
    --------
    >>> mirrored(np.array([0b0001, 0b1011]), 4).tolist()
    [8, 13]
    """
    out = np.zeros_like(values)
    for place in range(width):
        out |= ((values >> place) & 1) << (width - 1 - place)
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
    """Lets ids exchange bits. Whoever knows the order of the rows, and this page, gets every id back."""

    def __init__(self, params: GeneticEncodeParams) -> None:
        self.params = params

    def fit(self, data: DataView, ctx: StepContext) -> Fitted:
        """Look at every id, and count collisions. Raises PluginError, naming the column, where one does not fit."""
        name = self.params.attribute
        require([name], data.schema.names, ctx.step)
        ids = numbers(name, data.table([name])[name], self.params.width)
        transform = GeneticEncodeTransform(self.params)
        order = "in the order in which the rows are read; a shuffle before this step changes the number"
        lost = Figure(colliding(ids, transform.codes(ids)), "rows", note=order)
        text = (
            f"the codes of `{name}` can be turned back by anyone who knows the order of the rows, with nothing but the"
            " description of the method; and different ids can get one code"
        )
        finding = Finding(INVERTIBLE, Severity.WARNING, text, f"{ctx.step}.{name}")
        return Fitted(transform, {"colliding_rows": lost}, findings=(finding,))


@dataclass(frozen=True, slots=True)
class GeneticEncodeTransform(Deterministic):
    """The parameters are all there is to it: there is no key."""

    params: GeneticEncodeParams

    def apply_table(self, table: Table, _draws: Draws) -> Mapping[str, Table]:
        """Replace the ids, in the order of the rows."""
        name = self.params.attribute
        codes = self.codes(numbers(name, table[name], self.params.width))
        return {"": table.replaced({name: _column(codes)})}

    def codes(self, ids: Integers) -> Integers:
        """Return the codes of ids in their order."""
        return encoded(ids, self.params.width, self.params.head, complement=self.params.invert == "complement")

    def describe(self) -> Mapping[str, Any]:
        """Everything."""
        return {**self.params.model_dump(), "invertible": True}


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

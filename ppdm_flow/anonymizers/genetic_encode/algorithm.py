"""Genetic encoding of a column of ids."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ppdm_flow.anonymizers.deterministic import Deterministic
from ppdm_flow.anonymizers.genetic_encode.bits import Integers, colliding, encoded
from ppdm_flow.anonymizers.genetic_encode.spec import INVERTIBLE, GeneticEncodeParams
from ppdm_flow.anonymizers.presence import require
from ppdm_flow.core.diagnostics import Diagnostic, Severity
from ppdm_flow.core.draws import Draws
from ppdm_flow.core.errors import PluginError
from ppdm_flow.core.results import Figure, Finding
from ppdm_flow.sdk.anonymizer import Fitted, StepContext
from ppdm_flow.sdk.view import DataView
from ppdm_flow.tables.column import Column
from ppdm_flow.tables.table import Table

_DIGITS = r"^[0-9]{1,19}$"


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
        told = Finding(INVERTIBLE, Severity.WARNING, text, f"{ctx.step}.{name}")
        return Fitted(transform, {"colliding_rows": lost}, findings=(told,))


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

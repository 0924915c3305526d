"""Class ids, by what is alike and by criteria."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from ppdm_flow.anonymizers.assign_class_id.criteria import ByCriteria
from ppdm_flow.anonymizers.assign_class_id.ranking import Ranking
from ppdm_flow.anonymizers.assign_class_id.spec import AssignClassIdParams
from ppdm_flow.anonymizers.deterministic import Deterministic
from ppdm_flow.anonymizers.presence import require
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.draws import Draws
from ppdm_flow.core.errors import PluginError
from ppdm_flow.core.results import Figure
from ppdm_flow.sdk.anonymizer import Fitted, StepContext
from ppdm_flow.sdk.view import DataView
from ppdm_flow.tables.column import Column
from ppdm_flow.tables.counts import Counts
from ppdm_flow.tables.table import Table

Integers = np.ndarray[Any, np.dtype[np.int64]]


class AssignClassId:
    """Names the class of each row."""

    def __init__(self, params: AssignClassIdParams) -> None:
        self.params = params

    def fit(self, data: DataView, ctx: StepContext) -> Fitted:
        """Look at every combination. Raises PluginError, naming a column, where one belongs to no class."""
        params = self.params
        require(params.named, data.schema.names, ctx.step)
        counts = data.counts(params.named)
        rule: Ranking | ByCriteria
        if params.criteria is None:
            rule = Ranking.of(counts)
            labels = [str(i + 1) for i in range(len(rule))]
        else:
            rule = ByCriteria(params.criteria, params.other is not None)
            labels = [*(c.id for c in params.criteria), *([params.other] if params.other is not None else [])]
        transform = ClassIdTransform(params.name, params.named, rule, tuple(labels))
        return Fitted(transform, _figures(transform.ids(_columns(counts)), counts))


@dataclass(frozen=True, slots=True)
class ClassIdTransform(Deterministic):
    """``rule`` gives places in ``labels``, the ids; of two equal ids the classes are one."""

    name: str
    columns: tuple[str, ...]
    rule: Ranking | ByCriteria
    labels: tuple[str, ...]

    def apply(self, part: Table, _draws: Draws) -> Table:
        """Add the column. Raises PluginError for a row that belongs to no class."""
        return part.replaced({self.name: self.ids({name: part[name] for name in self.columns})})

    def ids(self, columns: Mapping[str, Column]) -> Column:
        """Return the class id of rows."""
        places: Integers = self.rule.places(columns)
        if (places < 0).any():
            listed = ", ".join(f"`{name}`" for name in self.columns)
            text = f"{int((places < 0).sum()):,} rows or combinations belong to no class over {listed}"
            raise PluginError(Diagnostic("PPF825", text, help="add a criterion that covers them, or say `other:`"))
        names = sorted(set(self.labels), key=str.encode)
        code: Callable[[str], int] = {name: i for i, name in enumerate(names)}.__getitem__
        codes = np.array([code(label) for label in self.labels], dtype=np.int32)
        return Column(codes[places], pa.array(names, pa.string()))

    def describe(self) -> Mapping[str, Any]:
        """What classes are made from, and how many there can be."""
        return {"name": self.name, "attributes": list(self.columns), "classes": len(set(self.labels))}


def _columns(counts: Counts) -> dict[str, Column]:
    return {name: Column(counts.of(name), counts.names(name)) for name in counts.columns}


def _figures(ids: Column, counts: Counts) -> dict[str, Figure]:
    sizes = np.bincount(ids.codes, weights=counts.counts, minlength=len(ids.categories))
    sizes = sizes[sizes > 0]
    note = "" if len(sizes) else "there are no rows"
    return {
        "classes": Figure(len(sizes), "classes"),
        "smallest": Figure(int(sizes.min()) if len(sizes) else None, "rows", note=note),
        "largest": Figure(int(sizes.max()) if len(sizes) else None, "rows", note=note),
    }

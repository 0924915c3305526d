"""Class ids, by what is alike and by criteria."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import inf
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ppdm_flow.anonymizers.assign_class_id.spec import AssignClassIdParams, ClassCondition, Criterion
from ppdm_flow.anonymizers.deterministic import DeterministicTransform
from ppdm_flow.anonymizers.naming import require
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.draws import Draws
from ppdm_flow.core.errors import PluginError
from ppdm_flow.core.results import Figure
from ppdm_flow.sdk.anonymizer import Fitted, StepContext
from ppdm_flow.sdk.view import DataView
from ppdm_flow.tables.column import SPECIALS, Column
from ppdm_flow.tables.counts import Counts
from ppdm_flow.tables.table import Table

Integers = npt.NDArray[np.int64]
Marks = npt.NDArray[np.bool_]

_NUMBER = r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$"


@dataclass(frozen=True, slots=True)
class ByCriteria:
    """Classes of rows by the first criterion that a row fulfils.

    ``other`` says that rows that fulfil none have a class of their own, the last one.
    """

    criteria: tuple[Criterion, ...]
    other: bool

    def places(self, columns: Mapping[str, Column]) -> Integers:
        """Return the place of the first criterion that each row fulfils, shape (rows,); -1 where there is none."""
        rows = len(next(iter(columns.values())))
        firsts = np.full(rows, len(self.criteria) if self.other else -1, dtype=np.int64)
        for place in range(len(self.criteria) - 1, -1, -1):
            marks = [fulfilled(columns[name], c) for name, c in self.criteria[place].when.items()]
            firsts[np.logical_and.reduce(marks)] = place
        return firsts


def fulfilled(column: Column, condition: ClassCondition) -> Marks:
    """Return which rows fulfil a condition; a missing or suppressed cell fulfils none."""
    if condition.values is not None:
        good = pc.is_in(column.categories, value_set=pa.array(condition.values, pa.string()))
        by_value: Marks = good.to_numpy(zero_copy_only=False).astype(bool)
    else:
        numeric = pc.match_substring_regex(column.categories, _NUMBER)
        numbers = pc.cast(pc.if_else(numeric, column.categories, None), pa.float64())
        values = pc.fill_null(numbers, np.nan).to_numpy(zero_copy_only=False)
        low = -inf if condition.low is None else condition.low
        high = inf if condition.high is None else condition.high
        by_value = (values >= low) & (values <= high)
    marks: Marks = np.append(by_value, [False, False])[column.codes]
    return marks


@dataclass(frozen=True, slots=True, eq=False)
class Ranking:
    """Combinations in the order of their values, first column first: suppressed, missing, then texts in binary order.

    ``keys[i]`` are, ascending, the pairs (place by the columns before, value of column i) that occur, as one number
    each; the place of a pair among them is the place by the columns so far.
    """

    columns: tuple[str, ...]
    domains: tuple[tuple[str, ...], ...]
    keys: tuple[Integers, ...]

    def __len__(self) -> int:
        return len(self.keys[-1])

    @classmethod
    def of(cls, counts: Counts) -> Ranking:
        """Take in the combinations that occur."""
        place = np.zeros(len(counts), dtype=np.int64)
        keys = []
        for name in counts.columns:
            pairs = place * (len(counts.names(name)) + SPECIALS) + counts.of(name) + SPECIALS
            distinct, place = np.unique(pairs, return_inverse=True)
            keys.append(distinct)
        domains = tuple(tuple(counts.names(name).to_pylist()) for name in counts.columns)
        return cls(counts.columns, domains, tuple(keys))

    def places(self, columns: Mapping[str, Column]) -> Integers:
        """Return the place of each row's combination, shape (rows,), from 0; -1 for one that did not occur."""
        place = np.zeros(len(columns[self.columns[0]]), dtype=np.int64)
        lost = np.zeros(len(place), dtype=bool)
        for name, domain, keys in zip(self.columns, self.domains, self.keys, strict=True):
            column = columns[name]
            known = pc.index_in(column.categories, value_set=pa.array(domain, pa.string())).fill_null(-SPECIALS - 1)
            table = np.concatenate([known.to_numpy(zero_copy_only=False).astype(np.int64), [-SPECIALS, 1 - SPECIALS]])
            pairs = place * (len(domain) + SPECIALS) + table[column.codes] + SPECIALS
            lost |= table[column.codes] < -SPECIALS
            place = np.searchsorted(keys, pairs)
            lost |= keys[np.minimum(place, len(keys) - 1)] != pairs if len(keys) else True
        place[lost] = -1
        return place


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
class ClassIdTransform(DeterministicTransform):
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
            raise PluginError(Diagnostic("PPF789", text, help="add a criterion that covers them, or say `other:`"))
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

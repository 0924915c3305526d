"""The KRIMP generator: learn a code table from the counts of rows, then make rows from it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ppdm_flow.anonymizers.krimp_generator import account
from ppdm_flow.anonymizers.krimp_generator.cells import Maker, Value
from ppdm_flow.anonymizers.krimp_generator.intervals import Placed, empirical, in_intervals, placed, uniform
from ppdm_flow.anonymizers.krimp_generator.learning import Learned, learn, learned_rows, onto
from ppdm_flow.anonymizers.krimp_generator.pilot import pilot
from ppdm_flow.anonymizers.krimp_generator.rejection import rare
from ppdm_flow.anonymizers.krimp_generator.removal import Removal, removal
from ppdm_flow.anonymizers.krimp_generator.spec import GeneratorParams, numeric
from ppdm_flow.anonymizers.krimp_generator.transform import GeneratorTransform
from ppdm_flow.anonymizers.presence import require
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import PluginError
from ppdm_flow.core.roles import Role
from ppdm_flow.mining.generation.model import Model
from ppdm_flow.mining.itemsets.tabular import Tabular, tabular
from ppdm_flow.sdk.anonymizer import Fitted, StepContext
from ppdm_flow.sdk.holdout import Holdout
from ppdm_flow.sdk.view import DataView
from ppdm_flow.tables.counts import Counts


@dataclass(frozen=True, slots=True, eq=False)
class Material:
    """``rows`` are the distinct rows learned from, ``every`` those of the whole table; ``intervals`` by attribute.

    ``items`` are the rows with intervals in place of numbers, as a database.
    """

    rows: Counts
    every: Counts
    intervals: Mapping[str, Placed]
    coded: Counts
    items: Tabular


class KrimpGenerator:
    """Makes a table of new rows from the code table that compresses the original best.

    Source: Vreeken, van Leeuwen, Siebes, "Preserving privacy through data generation", ICDM 2007.
    """

    def __init__(self, params: GeneratorParams) -> None:
        self.params = params

    def fit(self, data: DataView, ctx: StepContext) -> Fitted:
        """Learn. Raises PluginError where there is nothing to learn from, or too much to look through."""
        params = self.params
        names = self._names(data, ctx)
        holdout = None if params.holdout is None else Holdout(params.holdout)
        material = _material(data, names, holdout, ctx)
        least = params.support(ctx.requirements).rows(material.rows.total)
        out = self._removal(material, ctx)
        learned = learn(material.items, least, out, params, ctx)
        transform = self._transform(material, learned, ctx)
        seen = pilot(transform)
        return Fitted(
            transform,
            figures=account.figures(learned, material.rows, material.every, holdout, least, seen),
            findings=account.findings(params, learned, material.coded, material.intervals, out, least, ctx),
            charts=account.charts(learned.table),
            holdout=holdout,
        )

    def _names(self, data: DataView, ctx: StepContext) -> tuple[str, ...]:
        """Return the attributes to generate. Raises PluginError where a name has no column, or there are none."""
        columns = data.schema.names
        require(self.params.attributes or (), columns, ctx.step)
        known = {name: facts for name, facts in ctx.attributes.items() if name in columns}
        for group in self.params.remove:
            require(group, columns, ctx.step)
        names = self.params.chosen(known)
        if not names:
            raise PluginError(Diagnostic("PPF780", "nothing to generate: no column reaches this step but identifiers"))
        for name in names:
            if known[name].role is Role.ITEMS:
                raise PluginError(
                    Diagnostic("PPF742", f"the column `{name}` holds sets of items, not one value a cell")
                )
        return names

    def _removal(self, material: Material, ctx: StepContext) -> Removal:
        coded = material.coded
        known = {name: ctx.attributes[name] for name in coded.columns}
        return removal(self.params.groups(known), coded.columns, coded.categories, material.items)

    def _transform(self, material: Material, learned: Learned, ctx: StepContext) -> GeneratorTransform:
        params, names = self.params, material.rows.columns
        strict = params.blend == "strict"
        limit = params.rare(ctx.requirements).rows(material.every.total)
        makers = tuple(self._maker(name, material) for name in names)
        return GeneratorTransform(
            model=Model.of(learned.table, material.items.database, params.laplace),
            code=material.items.code,
            names=names,
            makers=makers,
            row_count=material.every.total if params.rows == "same" else params.rows,
            rare=rare(material.every, limit) if strict else None,
            account=account.description(params, learned.table, names, material.intervals, limit if strict else None),
        )

    def _maker(self, name: str, material: Material) -> Maker:
        rows = material.rows
        column = material.intervals.get(name)
        if column is None:
            return Value(rows.names(name))
        if self.params.draw == "uniform":
            return uniform(column)
        codes = rows.of(name)
        inside = codes >= 0
        counts = np.zeros(len(column.values), dtype=np.int64)
        np.add.at(counts, codes[inside], rows.counts[inside])
        return empirical(column, rows.names(name), counts)


def _material(data: DataView, names: tuple[str, ...], holdout: Holdout | None, ctx: StepContext) -> Material:
    every = learned_rows(data, names, None)
    rows = every if holdout is None else learned_rows(data, names, holdout)
    if not len(rows):
        what = "all rows are held out" if len(every) else "the table has no rows"
        raise PluginError(Diagnostic("PPF745", f"nothing to learn from: {what}"))
    rows = rows if holdout is None else onto(rows, every)
    intervals = {n: placed(ctx.attributes[n], every.names(n)) for n in names if numeric(ctx.attributes.get(n))}
    coded = in_intervals(rows, intervals)
    return Material(rows, every, intervals, coded, tabular(coded))

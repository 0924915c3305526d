"""The KRIMP generator: learn a code table from the counts of rows, then make rows from it."""

from __future__ import annotations

import numpy as np

from ppdm_flow.anonymizers.krimp_generator import account
from ppdm_flow.anonymizers.krimp_generator.account import pilot
from ppdm_flow.anonymizers.krimp_generator.calibration import Calibration, calibrated
from ppdm_flow.anonymizers.krimp_generator.cells import ItemValue, Maker
from ppdm_flow.anonymizers.krimp_generator.given_table import intervals_of, transform_of
from ppdm_flow.anonymizers.krimp_generator.intervals import PlacedColumn, empirical, uniform
from ppdm_flow.anonymizers.krimp_generator.material import LearnedRows, LearnedTable, learn, material
from ppdm_flow.anonymizers.krimp_generator.rejection import rejection
from ppdm_flow.anonymizers.krimp_generator.removal import dependence
from ppdm_flow.anonymizers.krimp_generator.spec import NO_SUBJECT, GeneratorParams
from ppdm_flow.anonymizers.krimp_generator.transform import GeneratorTransform
from ppdm_flow.anonymizers.naming import require, subject_of
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import PluginError
from ppdm_flow.core.roles import Role
from ppdm_flow.mining.generation.code_table_file import (
    CODE_TABLE,
    GivenCodeTable,
    code_table_document,
    read_code_table,
)
from ppdm_flow.mining.generation.model import RowGenerator
from ppdm_flow.sdk.anonymizer import Fitted, StepContext
from ppdm_flow.sdk.holdout import Holdout
from ppdm_flow.sdk.view import DataView
from ppdm_flow.tables.counts import Counts


class KrimpGenerator:
    """Makes a table of new rows from the code table that compresses the original best.

    Source: Vreeken, van Leeuwen, Siebes, "Preserving privacy through data generation", ICDM 2007.
    """

    def __init__(self, params: GeneratorParams) -> None:
        self.params = params

    def fit(self, data: DataView, ctx: StepContext) -> Fitted:
        """Learn. Raises PluginError where there is nothing to learn from, or too much to look through."""
        params = self.params
        if params.code_table is not None:
            return self._from_given(read_code_table(ctx.home / params.code_table), data, ctx)
        holdout = self._holdout(data, ctx)
        given = material(data, self._names(data, ctx), params, holdout, ctx)
        least = params.support(ctx.requirements).rows(given.rows.total)
        learned = learn(given, least, params, ctx)
        transform = self._transform(given, learned, ctx)
        calibration = self._calibrated(transform, given, learned, least) if params.calibrates else None
        transform = transform if calibration is None else calibration.transform
        seen = pilot(transform)
        left = dependence(given.removal, given.items, seen.drafts.items) if params.remove else None
        return Fitted(
            transform,
            figures=account.figures(learned, given, least, seen, left, calibration),
            findings=account.findings(params, learned, given, least, left, ctx.step),
            charts=account.charts(learned.table),
            holdout=holdout,
            internal={
                CODE_TABLE: code_table_document(learned.table, given.items, given.rows.columns, given.coded.categories)
            },
        )

    def _from_given(self, table: GivenCodeTable, data: DataView, ctx: StepContext) -> Fitted:
        """Make rows from a code table of somebody's own: of the data only the number of rows and of decimals count."""
        rows = data.counts(self._names(data, ctx))
        facts = {name: ctx.attributes[name] for name in rows.columns}
        intervals = intervals_of(rows, facts)
        makers = {name: self._number_maker(name, rows, column) for name, column in intervals.items()}
        transform = transform_of(table, rows, makers, intervals, facts, self.params)
        return Fitted(transform, figures=account.figures_of_given(table, pilot(transform)))

    def _holdout(self, data: DataView, ctx: StepContext) -> Holdout | None:
        """Return which rows are held out: all of a person's or none. Raises PluginError where nobody knows whose."""
        if self.params.holdout is None:
            return None
        chosen = Holdout(self.params.holdout)
        if ctx.people is None:
            return chosen
        known = {name: facts for name, facts in ctx.attributes.items() if name in data.schema.names}
        subject = subject_of(known)
        if subject is None:
            raise PluginError(Diagnostic("PPF780", f"{NO_SUBJECT}: nothing says whose rows are held out"))
        return chosen.by_person(data.partitions([subject]), subject)

    def _names(self, data: DataView, ctx: StepContext) -> tuple[str, ...]:
        """Return the attributes to generate. Raises PluginError where a name has no column, or there are none."""
        columns = data.schema.names
        for named in (self.params.attributes or (), *self.params.remove):
            require(named, columns, ctx.step)
        known = {name: facts for name, facts in ctx.attributes.items() if name in columns}
        names = self.params.chosen(known)
        if not names:
            raise PluginError(Diagnostic("PPF780", "nothing to generate: no column reaches this step but identifiers"))
        sets = [name for name in names if known[name].role is Role.ITEMS]
        if sets:
            raise PluginError(Diagnostic("PPF573", f"the column `{sets[0]}` holds sets of items, not one value a cell"))
        return names

    def _transform(self, given: LearnedRows, learned: LearnedTable, ctx: StepContext) -> GeneratorTransform:
        params, names = self.params, given.rows.columns
        limit = params.rare(ctx.requirements).rows(given.every.total) if params.blend == "strict" else None
        return GeneratorTransform(
            model=RowGenerator.of(learned.table, given.items.database, params.laplace),
            code=given.items.code,
            names=names,
            makers=tuple(self._maker(name, given) for name in names),
            row_count=given.every.total if params.rows is None else params.rows,
            rejection=None if limit is None else rejection(given.every, given.every_coded, limit),
            account=account.description(params, learned.table, given, limit),
        )

    def _calibrated(
        self, transform: GeneratorTransform, given: LearnedRows, learned: LearnedTable, least: int
    ) -> Calibration:
        table, database, laplace = learned.table, given.items.database, self.params.laplace
        return calibrated(transform, table, database, least, lambda f: RowGenerator.of(table, database, laplace, f))

    def _maker(self, name: str, given: LearnedRows) -> Maker:
        column = given.intervals.get(name)
        return ItemValue(given.rows.names(name)) if column is None else self._number_maker(name, given.rows, column)

    def _number_maker(self, name: str, rows: Counts, column: PlacedColumn) -> Maker:
        if self.params.draw == "uniform":
            return uniform(column)
        codes = rows.of(name)
        counts = np.zeros(len(column.values), dtype=np.int64)
        np.add.at(counts, codes[codes >= 0], rows.counts[codes >= 0])
        return empirical(column, rows.names(name), counts)

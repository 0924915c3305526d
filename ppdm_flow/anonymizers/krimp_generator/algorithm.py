"""The KRIMP generator: learn a code table from the counts of rows, then make rows from it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ppdm_flow.anonymizers.krimp_generator.cells import EmpiricalNumber, ItemValue, Maker, Raw, UniformNumber
from ppdm_flow.anonymizers.krimp_generator.material import (
    NOTABLE,
    LargestDependence,
    LearnedRows,
    LearnedTable,
    PlacedColumn,
    dependence,
    empirical,
    learn,
    material,
    placed,
    uniform,
)
from ppdm_flow.anonymizers.krimp_generator.spec import NO_SUBJECT, GeneratorParams, numeric
from ppdm_flow.anonymizers.krimp_generator.transform import Drafts, GeneratorTransform, rejection
from ppdm_flow.anonymizers.naming import require, subject_of
from ppdm_flow.core.attributes import AttributeFacts
from ppdm_flow.core.diagnostics import Diagnostic, Severity
from ppdm_flow.core.draws import Draws, RunKey
from ppdm_flow.core.errors import PluginError
from ppdm_flow.core.results import Chart, Figure, FigureSeries, Finding
from ppdm_flow.core.roles import Role
from ppdm_flow.mining.generation import (
    CODE_TABLE,
    GivenCodeTable,
    RowGenerator,
    code_table_document,
    read_code_table,
    unusable,
)
from ppdm_flow.mining.itemsets.database import ItemDatabase
from ppdm_flow.mining.krimp.code_table import CodeTable
from ppdm_flow.sdk.anonymizer import Fitted, StepContext
from ppdm_flow.sdk.holdout import Holdout
from ppdm_flow.sdk.view import DataView
from ppdm_flow.tables.column import MISSING, SUPPRESSED, SUPPRESSED_TEXT
from ppdm_flow.tables.counts import Counts

Interval = tuple[float, float]
Floats = npt.NDArray[np.float64]


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
            figures=figures(learned, given, least, seen, left, calibration),
            findings=findings(params, learned, given, least, left, ctx.step),
            charts=charts(learned.table),
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
        return Fitted(transform, figures=figures_of_given(table, pilot(transform)))

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
            account=description(params, learned.table, given, limit),
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


# The step's results: figures, findings, the shape of its code table. No values.


_V = "the largest Cramér's V between two of one entry of `remove`, others of its attributes' values taken as one"
_DIVIDED = "data and code table, over the data alone in the code of single values"

ROWS = 10_000


@dataclass(frozen=True, slots=True)
class PilotSample:
    """A sample of rows that is only looked at: made from draws of a fixed key, which no release uses.

    ``drafts`` are rows before any is rejected. ``itemsets`` is the mean number of elements a row.

    Intervals are those of 95 %. Where rows are rejected: the share of drafts that are, and the mean total variation
    distance between the distributions of single attributes over all drafts and over those that pass (None: none pass).
    """

    drafts: Drafts
    itemsets: float
    itemsets_interval: Interval
    rejected: float | None = None
    rejected_interval: Interval | None = None
    distance: float | None = None

    @property
    def sample(self) -> int:
        """The number of rows."""
        return len(self.drafts.items)


def pilot(transform: GeneratorTransform) -> PilotSample:
    """Look at rows before any is rejected."""
    draws = Draws(RunKey.from_seed("ppdm-flow pilot sample").step("pilot"), transform.draws_per_row)
    drafts = transform.drafts(draws.words(np.arange(ROWS, dtype=np.int64)))
    mean = float(drafts.itemsets.mean())
    wide = 1.96 * float(drafts.itemsets.std(ddof=1)) / ROWS**0.5
    seen = PilotSample(drafts, mean, (mean - wide, mean + wide))
    if transform.rejection is None:
        return seen
    out = transform.rejected(drafts)
    distance = None if out.all() else float(np.mean([_distance(r, r[~out]) for r in drafts.raw]))
    share = float(out.mean())
    return PilotSample(drafts, mean, seen.itemsets_interval, share, wilson(int(out.sum()), ROWS), distance)


def wilson(hits: int, total: int) -> Interval:
    """Return the 95 % interval of a share (Wilson, 1927)."""
    z = 1.96
    share = hits / total
    middle = (share + z * z / (2 * total)) / (1 + z * z / total)
    half = z / (1 + z * z / total) * (share * (1 - share) / total + z * z / (4 * total * total)) ** 0.5
    return max(0.0, middle - half), min(1.0, middle + half)


def _distance(one: Raw, other: Raw) -> float:
    _, codes = np.unique(np.concatenate([one, other]), return_inverse=True)
    size = int(codes.max()) + 1
    first = np.bincount(codes[: len(one)], minlength=size) / len(one)
    second = np.bincount(codes[len(one) :], minlength=size) / len(other)
    return float(np.abs(first - second).sum() / 2)


def figures(
    learned: LearnedTable,
    given: LearnedRows,
    least: int,
    seen: PilotSample,
    left: LargestDependence | None,
    calibration: Calibration | None = None,
) -> dict[str, Figure]:
    """Return the step's figures."""
    table, rows, every = learned.table, given.rows, given.every
    figures = {
        "min_support": Figure(least, "rows"),
        "candidates": Figure(learned.candidates, "itemsets"),
        "code_table_itemsets": Figure(table.non_singletons, "itemsets", note="of two values or more, in use"),
        "bits_before": Figure(table.start.total, "bits", note="data and code table, of single values alone"),
        "bits_after": Figure(table.sizes.total, "bits", note="data and code table"),
        "compression": Figure(table.compression, "share", note=_DIVIDED),
        "itemsets_per_row": Figure(seen.itemsets, "itemsets", seen.itemsets_interval, seen.sample),
        "learned_rows": Figure(rows.total, "rows"),
    }
    if left is not None:
        figures["removed_candidates"] = Figure(learned.removed, "itemsets")
        figures["removed_dependence_before"] = Figure(left.before, "ratio", note=_V)
        figures["removed_dependence"] = Figure(left.after, "ratio", None, seen.sample, _V)
    if rows is not every:
        figures["holdout_rows"] = Figure(every.total - rows.total, "rows")
    if seen.rejected is not None:
        figures["rejected"] = Figure(seen.rejected, "share", seen.rejected_interval, seen.sample)
        note = "" if seen.distance is not None else "no row of the sample passes"
        figures["rejection_distance"] = Figure(seen.distance, "share", None, seen.sample, note)
    if calibration is not None:
        size = calibration.sample
        figures["value_distance_before"] = Figure(calibration.before, "share", None, size, "before weights were fitted")
        figures["value_distance"] = Figure(calibration.after, "share", None, size, "with the weights fitted")
    return figures


def figures_of_given(table: GivenCodeTable, seen: PilotSample) -> dict[str, Figure]:
    """Return the figures of a code table that was not learned."""
    larger = sum(len(each.items) > 1 and each.usage > 0 for each in table.elements)
    return {
        "code_table_itemsets": Figure(larger, "itemsets", note="of two values or more, in use"),
        "itemsets_per_row": Figure(seen.itemsets, "itemsets", seen.itemsets_interval, seen.sample),
        "learned_rows": Figure(0, "rows"),
    }


def findings(
    params: GeneratorParams,
    learned: LearnedTable,
    given: LearnedRows,
    least: int,
    left: LargestDependence | None,
    step: str,
) -> tuple[Finding, ...]:
    """Return what a reader should know."""
    texts: list[tuple[str, str, str]] = []
    if given.intervals and params.draw == "empirical":
        text = f"the numbers of {_named(given.intervals)} are drawn from the original's own, and occur in it"
        texts.append(("PPF746", text, step))
    if given.removal.absent:
        text = f"{given.removal.absent} of the values that `remove` names do not occur in the data"
        texts.append(("PPF747", text, f"{step}.values"))
    if left is not None and left.after > NOTABLE:
        text = f"Cramér's V is {left.after:.2f} between two that `remove` names ({left.before:.2f} in the original)"
        texts.append(("PPF747", text, f"{step}.dependence"))
    if not learned.table.non_singletons:
        text = f"no itemset of {least} rows or more is in the code table: attributes are drawn independently"
        texts.append(("PPF748", text, step))
    few = _rare_values(given.coded, least)
    if few:
        text = f"{few} values occur in fewer than {least} rows, and generated rows may have them all the same"
        texts.append(("PPF749", text, step))
    return tuple(Finding(code, Severity.WARNING, text, subject) for code, text, subject in texts)


def description(params: GeneratorParams, table: CodeTable, given: LearnedRows, limit: int | None) -> dict[str, Any]:
    """Return how rows are made, and how many elements of each length the code table has."""
    lengths, counts = np.unique(table.itemsets.lengths[table.usages > 0], return_counts=True)
    intervals = given.intervals
    way = "uniform within" if params.draw == "uniform" else "one of the original's within"
    return {
        "algorithm": "SLIM" if params.algorithm == "slim" else "KRIMP",
        "candidates": _candidates(params),
        "pruning": params.pruning,
        "laplace": params.laplace,
        "calibrated": params.calibrates,
        "attributes": {
            n: f"{way} {len(intervals[n].names)} intervals" if n in intervals else "as in the original"
            for n in given.rows.columns
        },
        "removed_correlations": len(params.remove),
        "code_table": {
            "itemsets_by_length": {str(k): int(c) for k, c in zip(lengths.tolist(), counts.tolist(), strict=True)},
            "single_values": len(table.singles),
        },
        "rejected": _rejected(given, limit),
    }


def _candidates(params: GeneratorParams) -> str:
    if params.algorithm == "slim":
        return "unions of elements"
    return "closed itemsets" if params.closed else "all itemsets"


def _rejected(given: LearnedRows, limit: int | None) -> str:
    if limit is None:
        return "nothing"
    more = ", also when numbers are compared by their intervals" if given.intervals else ""
    return f"rows of the original with a support below {limit}{more}"


def charts(table: CodeTable) -> tuple[Chart, ...]:
    """Return the share of cells of the original that itemsets of each length cover."""
    used = table.usages > 0
    lengths = np.concatenate([table.itemsets.lengths[used], np.ones(len(table.singles), dtype=np.int64)])
    cells = lengths * np.concatenate([table.usages[used], table.singles])
    by_length = np.bincount(lengths, cells)[1:]
    share = by_length / max(1.0, by_length.sum())
    return (
        Chart(
            id="cells_by_length",
            title="What the rows are made of: cells of the original by the length of the itemset that covers them",
            kind="bars",
            x=tuple(str(i + 1) for i in range(len(share))),
            series=(FigureSeries("share of cells", tuple(share.tolist())),),
            x_label="values in the itemset",
            y_label="share of cells",
        ),
    )


def _rare_values(coded: Counts, least: int) -> int:
    """Return how many values have fewer rows than ``least``; intervals are none of the original's values."""
    number = 0
    for place, names in enumerate(coded.categories):
        codes = coded.codes[:, place]
        sums = np.bincount(codes[codes >= 0], coded.counts[codes >= 0], minlength=len(names))
        number += int(((sums > 0) & (sums < least)).sum())
    return number


def _named(names: Mapping[str, object]) -> str:
    return ", ".join(f"`{n}`" for n in names)


# Weights of elements under which generated rows have each value about as often as the original.
#
# Drawing element after element keeps the shares of single values only roughly, and rejecting rows of the original takes
# frequent values away: rows that have them are the likeliest to be rows of the original. So each value gets a factor,
# and an element the product of its values'. The factors are those of iterative proportional fitting (Deming, Stephan,
# Annals of Mathematical Statistics 11, 1940), with drafts in place of expected counts. Each round has drafts of its own
# and the rounds of the second half are averaged (Polyak, Juditsky, SIAM Journal on Control and Optimization 30, 1992),
# so that what is fitted is the model and not one sample of its rows.
#
# Values of fewer rows than an itemset needs to be learned keep the factor 1: nothing is fitted to a few people.


ROUNDS = 32
DRAFTS = 1 << 15
"""Rows of each round, made from draws of a fixed key that no release uses; fewer where rows are very wide."""
FEWEST = 1000
_MOST_WORDS = 1 << 22
REACH = 1.5
"""Each value of an element adds to its weight, so a step is this over the values that an element has on average."""
MOST = float(np.log(20.0))
"""No factor is above 20 or below 1/20: a value that hardly a row may have is not driven further."""


@dataclass(frozen=True, slots=True, eq=False)
class Calibration:
    """The transform with its weights fitted, and how far its rows' single values are from the original's.

    ``before`` and ``after`` are means over attributes of the total variation distance, on ``sample`` drafts that
    nothing was fitted to, rejected ones left out; None: all of them were rejected.
    """

    transform: GeneratorTransform
    before: float | None
    after: float | None
    sample: int


def calibrated(
    transform: GeneratorTransform,
    table: CodeTable,
    database: ItemDatabase,
    least: int,
    weighted: Callable[[Floats], RowGenerator],
) -> Calibration:
    """Fit the factors of all items of ``database`` with ``least`` rows or more.

    ``weighted`` makes the model of ``table`` from factors (items,). Where fitted weights come no nearer on other
    drafts, the transform stays as it is.
    """
    size = min(DRAFTS, max(FEWEST, _MOST_WORDS // max(1, transform.draws_per_row)))
    draws = Draws(RunKey.from_seed("ppdm-flow calibration").step("calibration"), transform.draws_per_row)
    fitted, target = database.supports >= least, database.supports.astype(np.float64)
    step = REACH / _values(table)
    logs, total = np.zeros(database.items), np.zeros(database.items)
    tried = transform
    for number in range(ROUNDS):
        counts = _counts(tried, draws, number, size, database)
        if counts is None:
            break
        logs[fitted] += step * np.log((target[fitted] + 1) / (counts[fitted] + 1))
        np.clip(logs, -MOST, MOST, out=logs)
        total += logs if number >= ROUNDS // 2 else 0.0
        tried = replace(transform, model=weighted(np.exp(logs)))
    chosen = replace(transform, model=weighted(np.exp(total / (ROUNDS - ROUNDS // 2))))
    before, after = (
        _calibration_distance(_counts(t, draws, ROUNDS, size, database), database) for t in (transform, chosen)
    )
    if before is not None and after is not None and after < before:
        return Calibration(chosen, before, after, size)
    return Calibration(transform, before, before, size)


def _values(table: CodeTable) -> float:
    """Return how many values the element has that covers a cell of the original, on average over cells."""
    lengths = np.concatenate([table.itemsets.lengths, np.ones(len(table.singles), dtype=np.int64)])
    cells = lengths * np.concatenate([table.usages, table.singles])
    return float((cells * lengths).sum() / cells.sum())


def _counts(
    transform: GeneratorTransform, draws: Draws, number: int, size: int, database: ItemDatabase
) -> Floats | None:
    """Return how often each item comes up, in as many rows as ``database`` has; None where all drafts are rejected."""
    rows = np.arange(number * size, (number + 1) * size, dtype=np.int64)
    drafts = transform.drafts(draws.words(rows))
    passing = drafts.items[~transform.rejected(drafts)]
    if not len(passing):
        return None
    seen = np.bincount(passing.ravel(), minlength=database.items).astype(np.float64)
    return seen * (database.rows / len(passing))


def _calibration_distance(counts: Floats | None, database: ItemDatabase) -> float | None:
    if counts is None:
        return None
    apart = float(np.abs(counts - database.supports).sum())
    return apart / (2 * database.rows * int(database.cells.shape[1]))


# Rows from a code table that somebody gives, in place of one that is learned.


_MARKS = {None: MISSING, SUPPRESSED_TEXT: SUPPRESSED}


def transform_of(
    table: GivenCodeTable,
    rows: Counts,
    makers: Mapping[str, Maker],
    intervals: Mapping[str, PlacedColumn],
    facts: Mapping[str, AttributeFacts],
    params: GeneratorParams,
) -> GeneratorTransform:
    """Return a generator of the columns of ``rows``, in their order.

    ``makers`` and ``intervals`` are those of numeric columns. Raises PluginError PPF668 where the code table is over
    other attributes, or has values that an attribute does not have.
    """
    names = rows.columns
    if set(table.attributes) != set(names):
        raise unusable(f"the code table is over {len(table.attributes)} attributes, and not over those to generate")
    items = table.items(names)
    code_of: dict[tuple[int, str | None], int] = {}
    every_maker: list[Maker] = []
    for place, name in enumerate(names):
        own = [value for at, value in items if at == place]
        texts = intervals[name].names if name in intervals else tuple(sorted({str(v) for v in own if v not in _MARKS}))
        maker = makers[name] if name in makers else ItemValue(pa.array(texts, pa.string()))
        codes = _MARKS | {text: code for code, text in enumerate(texts)}
        _check(name, own, codes, maker, facts[name])
        code_of |= {(place, value): codes[value] for value in own}
        every_maker.append(maker)
    numbers = {item: number for number, item in enumerate(items)}
    place_of_item = np.array([place for place, _ in items], dtype=np.int32)
    model = RowGenerator.of_weights(*table.laid_out(numbers, names), place_of_item, len(names), params.laplace)
    return GeneratorTransform(
        model=model,
        code=np.array([code_of[item] for item in items], dtype=np.int32),
        names=names,
        makers=tuple(every_maker),
        row_count=rows.total if params.rows is None else params.rows,
        rejection=None,
        account=_description(table, params, len(items)),
    )


def intervals_of(rows: Counts, facts: Mapping[str, AttributeFacts]) -> dict[str, PlacedColumn]:
    """Return the numeric columns in their intervals. Raises PluginError where a number lies in none."""
    return {name: placed(facts[name], rows.names(name)) for name in rows.columns if numeric(facts[name])}


def _check(
    name: str, values: list[str | None], codes: Mapping[str | None, int], maker: Maker, facts: AttributeFacts
) -> None:
    """Raise PluginError for a value that the column cannot have."""
    unknown = sum(value not in codes for value in values)
    if unknown:
        raise unusable(f"{unknown} values of `{name}` in the code table are no intervals of its hierarchy")
    outside = sum(value not in _MARKS and value not in facts.domain for value in values) if facts.domain else 0
    if outside:
        raise unusable(f"{outside} values of `{name}` in the code table are not in its `domain`")
    widths = (
        maker.size
        if isinstance(maker, UniformNumber)
        else np.diff(maker.begin)
        if isinstance(maker, EmpiricalNumber)
        else None
    )
    if widths is not None and any(codes[value] >= 0 and widths[codes[value]] < 1 for value in values):
        raise unusable(f"an interval of `{name}` in the code table has no number that could be drawn")


def _description(table: GivenCodeTable, params: GeneratorParams, items: int) -> dict[str, Any]:
    lengths = [len(each.items) for each in table.elements if len(each.items) > 1]
    return {
        "algorithm": "a code table that was given: nothing was learned",
        "laplace": params.laplace,
        "code_table": {
            "itemsets_by_length": {str(length): lengths.count(length) for length in sorted(set(lengths))},
            "single_values": items,
        },
    }

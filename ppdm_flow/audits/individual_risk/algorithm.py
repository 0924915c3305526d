"""How likely respondents of a survey are found again in the population, one by one and on the whole.

The individual risk of a released row is 1/F, in expectation, where F people of the population have its
quasi-identifiers: estimated from the sampling weights (Benedetti, Franconi 1998; Franconi, Polettini 2004). How many
sample uniques are population uniques follows from a log-linear model instead (Skinner, Holmes 1998; Skinner, Shlomo
2008), which learns from all keys how frequent a rare one is. A missing and a suppressed cell are values of their own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ppdm_flow.audits.individual_risk.spec import CODE, IndividualRiskParams
from ppdm_flow.audits.records.columns import NOT_TRUE, quasi_identifiers, truthful
from ppdm_flow.core.diagnostics import Diagnostic, Severity
from ppdm_flow.core.errors import DataError
from ppdm_flow.core.results import AuditOutcome, Chart, Figure, FigureSeries, Finding
from ppdm_flow.core.roles import Role
from ppdm_flow.mining.exposure.paired import paired_counts
from ppdm_flow.mining.releases.attributes import namesakes, source_of
from ppdm_flow.mining.samples import (
    PopulationUniques,
    SampleKeys,
    Term,
    estimate,
    individual_risks,
    main_effects,
    two_way,
)
from ppdm_flow.sdk.audit import AuditContext
from ppdm_flow.sdk.view import DataView
from ppdm_flow.tables.counts import Counts

Floats = npt.NDArray[np.float64]

EDGES = (0.001, 0.01, 0.05, 0.1, 0.2, 0.5)
"""Ends of the bins of risk; the last bin goes to 1."""
_UNITS = {
    "highest": "probability",
    "global_risk": "probability",
    "at_risk": "rows",
    "at_risk_share": "share",
    "expected_reidentifications": "rows",
    "sample_uniques": "rows",
    "population": "people",
    "population_uniques": "rows",
    "correct_matches": "rows",
    "fit_population_uniques": "standard deviations",
    "fit_correct_matches": "standard deviations",
}
Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class RowRisks:
    """``risks`` (keys,) of the respondents with each key, and how many ``rows`` (keys,) these are."""

    risks: Floats
    rows: npt.NDArray[np.int64]

    @classmethod
    def of(cls, keys: SampleKeys) -> RowRisks:
        """Return the risks of the respondents with these keys."""
        return cls(individual_risks(keys.frequencies, keys.populations), keys.frequencies)

    @property
    def expected(self) -> float:
        """The expected number of rows that are found again."""
        return float((self.risks * self.rows).sum())

    def above(self, threshold: float) -> int:
        """Return the rows with a higher risk."""
        return int(self.rows[self.risks > threshold].sum())

    def by_bin(self) -> tuple[float, ...]:
        """Return the rows in each bin of risk."""
        bins = np.searchsorted(EDGES, self.risks, side="left")
        return tuple(np.bincount(bins, self.rows, len(EDGES) + 1).tolist())


class IndividualRiskAudit:
    """Compares the released keys with the population that the weights represent."""

    def __init__(self, params: IndividualRiskParams) -> None:
        self.params = params

    def measure(self, original: DataView, candidate: DataView, ctx: AuditContext) -> AuditOutcome:
        """Return risks of rows and of the file. Raises DataError where nothing says how large the population is."""
        columns = quasi_identifiers(self.params.attributes, candidate, ctx)
        keys = released_keys(columns, original, candidate, ctx, self.params.sampling_fraction)
        told_apart = _told_apart(columns, candidate)
        by_weight = {} if told_apart is None else {"told_apart_by_weight": Figure(told_apart, "rows")}
        if keys is None:
            untold = {name: Figure(None, unit, note=UNPAIRED) for name, unit in _UNITS.items()}
            return AuditOutcome({**untold, **by_weight}, findings=tuple(_telling(told_apart, ctx)))
        risks, model = RowRisks.of(keys), modelled(keys, self.params.model)
        figures = {**self._figures(keys, risks, _note(columns, ctx)), **_of_model(model), **by_weight}
        findings = (*_scaled(keys, original, ctx), *_telling(told_apart, ctx), *_misfits(model, ctx))
        return AuditOutcome(figures, findings=findings, charts=(self._chart(risks, columns, original, ctx),))

    def _figures(self, keys: SampleKeys, risks: RowRisks, note: str) -> dict[str, Figure]:
        rows, threshold = int(risks.rows.sum()), self.params.threshold
        values = {
            "highest": float(risks.risks.max(initial=0.0)),
            "global_risk": risks.expected / max(1, rows),
            "at_risk": risks.above(threshold),
            "at_risk_share": risks.above(threshold) / max(1, rows),
            "expected_reidentifications": risks.expected,
        }
        figures = {name: Figure(value, _UNITS[name], note=note) for name, value in values.items()}
        figures["sample_uniques"] = Figure(int((keys.frequencies == 1).sum()), "rows")
        figures["population"] = Figure(float(keys.populations.sum()), "people")
        return figures

    def _chart(self, risks: RowRisks, columns: tuple[str, ...], original: DataView, ctx: AuditContext) -> Chart:
        sources = list(dict.fromkeys(s for c in columns if (s := source_of(c, ctx)) in original.schema))
        before = original_keys(sources, original, self.params.sampling_fraction)
        series = [FigureSeries("released", risks.by_bin())]
        if before is not None and len(sources) == len(columns):
            series.insert(0, FigureSeries("original", RowRisks.of(before).by_bin()))
        names = [f"up to {edge:g}" for edge in EDGES]
        note = f"a row is at risk above {self.params.threshold:g}"
        return Chart(
            "rows_by_risk", "Rows by individual risk", "bars", (*names, "up to 1"), tuple(series), "risk", "rows", note
        )


def _note(columns: tuple[str, ...], ctx: AuditContext) -> str:
    return "" if truthful(columns, ctx) else f"at most: {NOT_TRUE}"


def _of_model(model: ModelledUniques) -> dict[str, Figure]:
    return {name: Figure(value, _UNITS[name], note=model.note) for name, value in model.figures().items()}


def _told_apart(columns: tuple[str, ...], candidate: DataView) -> int | None:
    """Return the rows that share their key, and are alone with key and released weight; None without a weight."""
    weights = candidate.schema.having(Role.SAMPLING_WEIGHT)
    if not weights:
        return None
    both = candidate.counts(list(dict.fromkeys((*columns, *weights)))).counts
    return int((both == 1).sum()) - int((candidate.counts(columns).counts == 1).sum())


def _scaled(keys: SampleKeys, original: DataView, ctx: AuditContext) -> Iterator[Finding]:
    if original.schema.sampling_weight is not None and float(keys.populations.sum()) <= int(keys.frequencies.sum()):
        text = (
            "the sampling weights add up to no more people than there are rows: weights that were scaled to the"
            " sample do not say how large the population is, and the risks are those of a census"
        )
        yield Finding("PPF844", Severity.WARNING, text, f"{ctx.release}.individual_risk.weights")


def _telling(told_apart: int | None, ctx: AuditContext) -> Iterator[Finding]:
    if told_apart:
        text = (
            f"{told_apart:,} rows share their quasi-identifiers with others, and are alone with them and the released"
            " sampling weight: who knows how the sample was drawn may tell their stratum by it"
        )
        yield Finding("PPF846", Severity.INFO, text, f"{ctx.release}.individual_risk.told_apart")


def _misfits(model: ModelledUniques, ctx: AuditContext) -> Iterator[Finding]:
    if model.misfit:
        yield Finding("PPF847", Severity.WARNING, model.misfit, f"{ctx.release}.individual_risk.model")


# The released keys: how often each occurs, and how many people of the population are estimated to have it.


UNPAIRED = "released rows cannot be paired with their originals, and no sampling weight is released unchanged"


def released_keys(
    columns: Sequence[str], original: DataView, candidate: DataView, ctx: AuditContext, fraction: float | None
) -> SampleKeys | None:
    """Return the keys over these released columns; None where nobody can tell the weights of released rows.

    The weights are those of the original rows; steps may have changed the released ones. Raises DataError where there
    are none, and ``fraction``, the share of the population that was asked, is None.
    """
    weight = original.schema.sampling_weight
    if fraction is not None:
        return _with_fraction(candidate.counts(columns), columns, fraction)
    if weight is None:
        raise DataError(
            Diagnostic(
                CODE,
                "`individual_risk` has no sampling weights, and no `sampling_fraction`",
                help="give the survey weights `role: sampling_weight`",
            )
        )
    if ctx.pairs is not None:
        counted = paired_counts(candidate, ctx.pairs, columns, [weight])
        return _with_weights(counted, [f"r{i}" for i in range(len(columns))], "o0")
    unchanged = [c for c in namesakes(weight, candidate, ctx) if not ctx.attributes[c].changes]
    if not unchanged:
        return None
    return _with_weights(candidate.counts([*columns, unchanged[0]]), columns, unchanged[0])


def original_keys(columns: Sequence[str], original: DataView, fraction: float | None) -> SampleKeys | None:
    """Return the keys over these columns of the original, all rows of it."""
    if fraction is not None:
        return _with_fraction(original.counts(columns), columns, fraction)
    weight = original.schema.sampling_weight
    return None if weight is None else _with_weights(original.counts([*columns, weight]), columns, weight)


def _occurring(counts: Counts) -> Counts:
    kept = counts.counts > 0
    return Counts(counts.columns, counts.categories, counts.codes[kept], np.ascontiguousarray(counts.counts[kept]))


def _with_fraction(counted: Counts, columns: Sequence[str], fraction: float) -> SampleKeys:
    counts = _occurring(counted)
    codes, widths = _dense(counts, columns, np.arange(len(counts)))
    return SampleKeys(codes, widths, counts.counts, counts.counts / fraction)


def _with_weights(counted: Counts, columns: Sequence[str], weight: str) -> SampleKeys:
    """Add up the weights of each key. ``weight`` is a column of positive numbers."""
    counts = _occurring(counted)
    key, size = counts.groups(columns)
    first = np.full(size, len(counts), dtype=np.int64)
    np.minimum.at(first, key, np.arange(len(counts)))
    numbers = counts.names(weight).cast("float64").to_numpy(zero_copy_only=False)
    people = counts.counts * numbers[counts.of(weight)]
    codes, widths = _dense(counts, columns, first)
    frequencies = np.bincount(key, counts.counts, size).astype(np.int64)
    return SampleKeys(codes, widths, frequencies, np.bincount(key, people, size).astype(np.float64))


def _dense(counts: Counts, columns: Sequence[str], rows: Integers) -> tuple[Integers, tuple[int, ...]]:
    """Number the cells that occur in each column from 0; missing and suppressed ones are values of their own."""
    codes = np.empty((len(rows), len(columns)), dtype=np.int64)
    widths = []
    for i, column in enumerate(columns):
        distinct, codes[:, i] = np.unique(counts.of(column)[rows], return_inverse=True)
        widths.append(len(distinct))
    return codes, tuple(widths)


# Which log-linear model the number of population uniques is estimated by, and whether it fits.


LIMIT = 2.0
"""A statistic of fit beyond it, in standard deviations, speaks against the model."""
_NAMES = {"main_effects": "main effects", "two_way": "two-way interactions"}
_CELLS = {"main_effects": 1 << 22, "two_way": 1 << 20}
"""Possible keys up to which a model is fitted: its tables are held in memory, and swept up to 200 times."""
_FEWEST = {"main_effects": 2, "two_way": 3}
"""Attributes from which on a model has fewer parameters than the table has cells."""


@dataclass(frozen=True, slots=True)
class ModelledUniques:
    """``uniques`` by the model of that ``name``; None where there is none, and ``note`` says why."""

    uniques: PopulationUniques | None
    note: str
    name: str = ""

    def figures(self) -> dict[str, float | None]:
        """Return the figures, by the part of their name after the audit's."""
        u = self.uniques
        fits = (None, None) if u is None else u.fits
        return {
            "population_uniques": None if u is None else u.population_uniques,
            "correct_matches": None if u is None else u.correct_matches,
            "fit_population_uniques": fits[0],
            "fit_correct_matches": fits[1],
        }

    @property
    def misfit(self) -> str:
        """What speaks against the estimates; empty where nothing does."""
        if self.uniques is None:
            return ""
        if not self.uniques.converged:
            return f"the log-linear model with {_NAMES[self.name]} was not fitted to the end: its estimates are rough"
        if self.uniques.misfit <= LIMIT:
            return ""
        worst = max(self.uniques.fits, key=lambda fit: abs(fit or 0.0)) or 0.0
        why = "too simple, mostly too high" if worst > 0 else "too large for so few rows, mostly too low"
        model, _, side = why.partition(", ")
        return (
            f"the log-linear model with {_NAMES[self.name]} does not fit (B/√v = {worst:.1f}, from -{LIMIT:g} to"
            f" {LIMIT:g} where it does): it is {model}, and the numbers of population uniques and of correct matches"
            f" are off, {side}"
        )


def modelled(keys: SampleKeys, model: str) -> ModelledUniques:
    """Estimate by ``model``; by the simplest that fits, or the one that fits best, where it is ``fitting``."""
    if not len(keys.frequencies):
        return ModelledUniques(None, "there are no rows")
    if not (keys.frequencies == 1).any():
        return ModelledUniques(
            PopulationUniques(0.0, 0.0, (None, None), converged=True), "there are no sample uniques", model
        )
    widths = [w for w in keys.widths if w > 1]
    wanted = list(_NAMES) if model == "fitting" else [model]
    possible = [m for m in wanted if len(widths) >= _FEWEST[m] and keys.cells <= _CELLS[m]]
    if not possible:
        few = len(widths) < min(_FEWEST[m] for m in wanted)
        why = "fewer parameters than cells need more quasi-identifiers" if few else "there are too many possible keys"
        return ModelledUniques(None, f"no log-linear model was fitted: {why}")
    name, uniques = _first_that_fits(_tried(keys, possible))
    return ModelledUniques(uniques, f"by the model with {_NAMES[name]}", name)


def _tried(keys: SampleKeys, models: Sequence[str]) -> Iterator[tuple[str, PopulationUniques]]:
    for model in models:
        yield model, estimate(keys, _terms(model, len(keys.widths)))


def _terms(model: str, attributes: int) -> tuple[Term, ...]:
    return main_effects(attributes) if model == "main_effects" else two_way(attributes)


def _first_that_fits(tried: Iterator[tuple[str, PopulationUniques]]) -> tuple[str, PopulationUniques]:
    best: tuple[str, PopulationUniques] | None = None
    for name, uniques in tried:
        if best is None or uniques.misfit < best[1].misfit:
            best = name, uniques
        if uniques.misfit <= LIMIT:
            break
    if best is None:
        raise ValueError("`tried` must yield a model at least, and yields none")
    return best

"""How likely respondents of a survey are found again in the population, each by itself and in the whole.

The individual risk of a released row is 1/F, in expectation, where F people of the population have its
quasi-identifiers: estimated from the sampling weights (Benedetti, Franconi 1998; Franconi, Polettini 2004). How many
sample uniques are population uniques follows from a log-linear model instead (Skinner, Holmes 1998; Skinner, Shlomo
2008), which learns from all keys how frequent a rare one is. A missing and a suppressed cell are values of their own.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ppdm_flow.audits.individual_risk.modelled import ModelledUniques, modelled
from ppdm_flow.audits.individual_risk.sampled import UNPAIRED, original_keys, released_keys
from ppdm_flow.audits.individual_risk.spec import IndividualRiskParams
from ppdm_flow.audits.records.columns import NOT_TRUE, quasi_identifiers, truthful
from ppdm_flow.core.diagnostics import Severity
from ppdm_flow.core.results import AuditOutcome, Chart, Figure, FigureSeries, Finding
from ppdm_flow.core.roles import Role
from ppdm_flow.mining.releases.attributes import source_of
from ppdm_flow.mining.samples.individual import individual_risks
from ppdm_flow.mining.samples.uniques import SampleKeys
from ppdm_flow.sdk.audit import AuditContext
from ppdm_flow.sdk.view import DataView

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
    """Holds the released keys against the population that the weights stand for."""

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

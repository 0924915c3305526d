"""Fine-grain perturbation: find the operators from the requirements and the frequencies."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ppdm_flow.anonymizers.fine_grain_perturbation.account import artifact, figures
from ppdm_flow.anonymizers.fine_grain_perturbation.bounds import bounds_of
from ppdm_flow.anonymizers.fine_grain_perturbation.channel import Channel, Choice, findings
from ppdm_flow.anonymizers.fine_grain_perturbation.spec import FineGrainParams
from ppdm_flow.anonymizers.fine_grain_perturbation.transform import PerturbTransform
from ppdm_flow.anonymizers.fine_grain_perturbation.worth import BoundWorth
from ppdm_flow.anonymizers.naming import carried
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import PluginError
from ppdm_flow.requirements.sensitivities.requirement import Sensitivity
from ppdm_flow.sdk.anonymizer import Fitted, Operator, StepContext
from ppdm_flow.sdk.view import DataView
from ppdm_flow.tables.column import MISSING, SUPPRESSED


@dataclass(frozen=True, slots=True, eq=False)
class Histogram:
    """The domain of an attribute, and how often each of its values occurs.

    ``domain`` has m texts, and None last where values are missing; ``counts`` int64 of shape (m,).
    """

    domain: tuple[str | None, ...]
    counts: npt.NDArray[np.int64]

    @property
    def frequency(self) -> npt.NDArray[np.float64]:
        """Shares of all rows; even ones where there are no rows."""
        total = int(self.counts.sum())
        return self.counts / total if total else np.full(len(self.counts), 1.0 / len(self.counts))


def histogram(data: DataView, requirement: Sensitivity) -> Histogram:
    """Count an attribute's values over its declared domain, else over those that occur.

    A value that only a bound names is in neither: no cell may turn into what nobody has.

    Raises PluginError for suppressed cells, for values outside the declared domain, and for an empty domain.
    """
    name = requirement.attribute
    counted = data.counts([name])
    codes = counted.of(name)
    if (codes == SUPPRESSED).any():
        cells = int(counted.counts[codes == SUPPRESSED].sum())
        raise PluginError(
            Diagnostic(
                "PPF783",
                f"the column `{name}` has {cells} suppressed cells: there is nothing to perturb in them",
                help="perturb before the step that suppresses values of this attribute",
            )
        )
    names = counted.names(name).to_pylist()
    occurring = {names[c]: int(n) for c, n in zip(codes.tolist(), counted.counts.tolist(), strict=True) if c >= 0}
    domain: list[str | None] = list(_domain(requirement, occurring))
    totals = [occurring.get(value, 0) for value in domain if value is not None]
    if (codes == MISSING).any():
        domain.append(None)
        totals.append(int(counted.counts[codes == MISSING].sum()))
    if not domain:
        raise PluginError(Diagnostic("PPF785", f"the column `{name}` has no values, and declares no `domain`"))
    return Histogram(tuple(domain), np.array(totals, dtype=np.int64))


def _domain(requirement: Sensitivity, occurring: dict[str, int]) -> list[str]:
    """The domain in the order of UTF-8 text: an order of the policy or of the data would say more than the values."""
    if requirement.domain is None:
        return _in_order(set(occurring))
    outside = set(occurring) - set(requirement.domain)
    if outside:
        rows = sum(occurring[v] for v in outside)
        raise PluginError(
            Diagnostic(
                "PPF785",
                f"the column `{requirement.attribute}` has {len(outside)} values outside its declared domain,"
                f" in {rows} rows",
            )
        )
    return _in_order(set(requirement.domain))


def _in_order(values: set[str]) -> list[str]:
    return sorted(values, key=str.encode)


class FineGrainPerturbation:
    """Keeps value i with probability p_i, else draws uniformly; p is the best there is under (r1, r2).

    Source: Chaytor, Wang, "Fine grain perturbation for privacy preserving data publishing", sections 3 and 4, with
    the downward constraints that their Theorem 1 leaves out.
    """

    def __init__(self, params: FineGrainParams) -> None:
        self.params = params

    def fit(self, data: DataView, ctx: StepContext) -> Fitted:
        """Find one operator an attribute. Raises PluginError for suppressed cells and values outside the domain."""
        wanted = {r.attribute: r for r in carried(Sensitivity, ctx.requirements, ctx.attributes)}
        chosen = self.params.chosen(tuple(wanted.values()))
        unbound = [a for a in chosen if a not in wanted]
        if unbound or not chosen:
            names = ", ".join(f"`{a}`" for a in unbound) or "this table"
            raise PluginError(Diagnostic("PPF780", f"no `sensitivities` requirement says how to perturb {names}"))
        channels = tuple(self._channel(histogram(data, wanted[a]), wanted[a], ctx.step) for a in chosen)
        every_worth = [BoundWorth.of(c) for c in channels]
        worths = {w.channel.operator.attribute: w for w in every_worth if w is not None}
        dearest = [w.finding() for w in worths.values()]
        return Fitted(
            transform=PerturbTransform(ctx.step, tuple(c.operator for c in channels)),
            figures=figures(channels, worths),
            artifacts={"operator.json": artifact(channels)},
            operators={c.operator.attribute: c.operator for c in channels},
            findings=(*(f for c in channels for f in findings(c)), *(f for f in dearest if f is not None)),
            charts=tuple(w.chart() for w in worths.values()),
        )

    def _channel(self, counted: Histogram, requirement: Sensitivity, step: str) -> Channel:
        frequency = counted.frequency
        bounds = bounds_of(requirement, counted.domain, frequency)
        choice = Choice.of(self.params, frequency, bounds.slack, requirement.directions)
        operator = Operator(requirement.attribute, counted.domain, choice.chosen, step)
        rows = int(counted.counts.sum())
        return Channel(requirement, operator, self.params.operator, frequency, bounds, choice, rows)

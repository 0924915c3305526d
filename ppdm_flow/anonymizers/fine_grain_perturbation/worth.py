"""What each bound costs, as the report shows it: figures, a picture, and a sentence on the dearest one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ppdm_flow.anonymizers.fine_grain_perturbation.ceilings import Floats
from ppdm_flow.anonymizers.fine_grain_perturbation.channel import PerturbationChannel
from ppdm_flow.anonymizers.fine_grain_perturbation.prices import shadow_prices
from ppdm_flow.core.diagnostics import Severity
from ppdm_flow.core.results import Chart, Figure, FigureSeries, Finding

TOP = 40
STEP = 0.01
"""How much of r2 a price is for."""
_NOTHING = 1e-12


@dataclass(frozen=True, slots=True, eq=False)
class BoundWorth:
    """``raising`` and ``lowering``: record utility gained and lost for 0.01 of r2 at the margin; nan where unknown."""

    channel: PerturbationChannel
    raising: Floats
    lowering: Floats

    @classmethod
    def of(cls, channel: PerturbationChannel) -> BoundWorth | None:
        """Find the prices; None where the operator does not stand at the optimum of record utility.

        None, too, where the smallest gamma alone decides, since a person has several different values.
        """
        if not channel.choice.is_record_optimum or (channel.bounds.per_person or 1) > 1:
            return None
        bounds, directions = channel.bounds, channel.requirement.directions
        prices = shadow_prices(channel.frequency, bounds.slack, bounds.r2, directions, channel.choice.record)
        worth = cls(channel, STEP * prices.raising, STEP * prices.lowering)
        return worth if len(worth.places) else None

    @property
    def places(self) -> list[int]:
        """The values with the highest prices, those first."""
        known = np.flatnonzero(np.isfinite(self.raising))
        order = np.lexsort((-self.lowering[known], -self.raising[known]))
        dearest: list[int] = known[order][:TOP].tolist()
        return dearest

    def figures(self) -> dict[str, Figure]:
        """Return ``shadow_price.<value>`` of the values that the policy names."""
        named = {b.value for b in self.channel.requirement.bounds} | set(self.channel.requirement.domain or ())
        domain = self.channel.operator.domain
        return {f"shadow_price.{domain[i]}": self._figure(i) for i in self.places if domain[i] in named}

    def chart(self) -> Chart:
        """Return bars of the gain for each value, with what lowering r2 would lose where that differs."""
        name, chosen = self.channel.requirement.attribute, self.places
        gain, loss = (tuple(float(prices[i]) for i in chosen) for prices in (self.raising, self.lowering))
        series = [FigureSeries("gained by raising r2 by 0.01", gain)]
        if any(abs(a - b) > _NOTHING for a, b in zip(gain, loss, strict=True)):
            series.append(FigureSeries("lost by lowering r2 by 0.01", loss))
        return Chart(
            id=f"{name}.shadow_prices",
            title=f"What each bound on {name} costs",
            kind="bars",
            x=tuple(self.label(i) for i in chosen),
            series=tuple(series),
            x_label="value",
            y_label="share of rows that keep their value",
            note=f"at the margin, for at most {TOP} values, the dearest bounds first",
            group=name,
        )

    def finding(self) -> Finding | None:
        """Say which bound costs most; nothing where no bound alone costs anything."""
        top = self.places[0]
        if not self.raising[top] > _NOTHING:
            return None
        name, points = self.channel.requirement.attribute, 100.0 * float(self.raising[top])
        value = self.label(top)
        what = f"`{value}`" if value == self.channel.operator.domain[top] else value
        text = (
            f"The bound on {what} in `{name}` costs most: raising its r2 by 0.01 would let {points:.3g} percentage"
            " points more of all rows keep their value."
        )
        return Finding("PPF770", Severity.INFO, text, name)

    def label(self, place: int) -> str:
        """Return how a value may be shown: itself where the policy names it, else its number."""
        value = self.channel.operator.domain[place]
        if value is None:
            return "missing"
        requirement = self.channel.requirement
        named = {b.value for b in requirement.bounds} | set(requirement.domain or ())
        return value if value in named else f"value {place + 1}"

    def _figure(self, place: int) -> Figure:
        gain, loss = float(self.raising[place]), float(self.lowering[place])
        note = "gain in record utility for each 0.01 that r2 is raised"
        apart = abs(gain - loss) > _NOTHING + 1e-6 * abs(loss)
        interval = (min(gain, loss), max(gain, loss)) if apart else None
        return Figure(gain, "probability", interval, note=note)

"""Gates: any measured figure with a bound."""

from __future__ import annotations

from dataclasses import dataclass, field

from ppdm_flow.core.requirement import within
from ppdm_flow.core.spans import Span

MAX_WIDTH = 0.2
"""How wide the interval of an estimate may be for a gate on it to hold: that of a share of a hundred people."""


@dataclass(frozen=True, slots=True)
class FigureGate:
    """Any measured figure with a bound on either side (or both).

    ``releases`` are those that it is about: on each of them the figure has to be measured, and to hold. There are none
    where the figure is a step's.
    The figure itself is compared with the bounds. That of an estimate counts only where its interval is at most
    ``max_width`` wide, for figures above 1 as a share of the figure: else it says too little to hold anything.
    """

    id: str
    metric: str
    minimum: float | None
    maximum: float | None
    span: Span | None = field(default=None, compare=False)
    releases: tuple[str, ...] = ()
    max_width: float = MAX_WIDTH

    @property
    def figure(self) -> str:
        """The metric without a release before it."""
        return self.metric.rpartition("/")[2]

    def sure(self, value: float, interval: tuple[float, float] | None) -> bool:
        """Whether the figure is exact, or its interval narrow enough."""
        if interval is None:
            return True
        return within(interval[1] - interval[0], self.max_width * max(1.0, abs(value)), at_most=True)

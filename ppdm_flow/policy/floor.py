"""One demand of a template on one place of the policy."""

from __future__ import annotations

from dataclasses import dataclass

from ppdm_flow.core.spans import Span
from ppdm_flow.policy.demands import Demand, RelativeDemand
from ppdm_flow.policy.text.nodes import PolicyPath, written

STAR = "*"


@dataclass(frozen=True, slots=True)
class Floor:
    """A path (``*`` for any name), what it demands, and the line that says so.

    ``anchor`` is the line of the template whose own value is what must be kept.
    """

    path: PolicyPath
    demand: Demand
    span: Span
    anchor: Span | None = None

    @property
    def text(self) -> str:
        """The path as the policy writes it."""
        return written(self.path)

    @property
    def bound_text(self) -> str:
        """The demand as the policy writes it: ``>= 5``, ``one of ["internal", "partner"]``."""
        return self.demand.text

    @property
    def words(self) -> str:
        """The demand as a phrase: ``be at least 5``."""
        return self.demand.words

    @property
    def starred(self) -> bool:
        """Whether it is about every name that the policy has there."""
        return STAR in self.path


@dataclass(frozen=True, slots=True)
class RelativeFloor:
    """A floor that goes by what the file that states it, or files between it and the policy, say themselves."""

    path: PolicyPath
    demand: RelativeDemand
    span: Span


Wanted = Floor | RelativeFloor
"""Either form of a demand that a file may state under `floors`."""

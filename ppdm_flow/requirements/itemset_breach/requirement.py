"""Privacy breaches of randomized sets."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from ppdm_flow.core.requirement import Columns, OnAttribute
from ppdm_flow.core.spans import Span


@dataclass(frozen=True, slots=True)
class ItemsetBreach(OnAttribute):
    """No released set lets one infer an item of its original with more than ``level``, in (0, 1).

    For every itemset A of so many items as ``sizes`` say, and every item z, in A or not: Pr[z in t | A in t'] is at
    most ``level``, for original sets t and what was released in their place t'. ``attribute`` holds the sets.
    ``max_supports``: the largest supports of itemsets of 1, 2, .. items that anyone has to reckon with, as shares of
    the sets of one length; ``max_supports_by_length``: for sets of some lengths others. Empty: those of the data.
    Lengths with fewer than ``pool`` sets are judged together with their neighbours.

    Source: Evfimievski, Srikant, Agrawal, Gehrke, KDD 2002, section 4.2.
    """

    kind: ClassVar[str] = "itemset_breach"
    on_sets: ClassVar[bool] = True
    needs_operator: ClassVar[bool] = True
    id: str
    attribute: str
    level: float
    sizes: tuple[int, ...] = (1, 2, 3)
    max_supports: tuple[float, ...] = ()
    max_supports_by_length: tuple[tuple[int, tuple[float, ...]], ...] = ()
    pool: int = 1000
    span: Span | None = field(default=None, compare=False)
    releases: tuple[str, ...] = ()

    def declared(self, length: int) -> tuple[float, ...]:
        """Return the maximal supports that the policy gives for sets of ``length`` items; empty where it gives none."""
        return dict(self.max_supports_by_length).get(length, self.max_supports)

    def on_columns(self, columns: Columns) -> Iterator[ItemsetBreach]:
        """Yield it for each column that its name means."""
        return (replace(self, attribute=name) for name in columns.meant(self.attribute, self))

    def document(self) -> dict[str, Any]:
        """Return what it asks."""
        by_length = {str(length): list(supports) for length, supports in self.max_supports_by_length}
        return {
            "attribute": self.attribute,
            "level": self.level,
            "sizes": list(self.sizes),
            "pool": self.pool,
            **({"max_supports": list(self.max_supports)} if self.max_supports else {}),
            **({"max_supports_by_length": by_length} if by_length else {}),
        }

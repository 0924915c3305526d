"""k^m-anonymity: so many items of a set tell it from few others."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from ppdm_flow.core.requirement import Columns, OnAttribute
from ppdm_flow.core.spans import Span


@dataclass(frozen=True, slots=True)
class KmAnonymity(OnAttribute):
    """Every combination of at most ``m`` items of ``attribute`` occurs in none of the sets, or in at least ``k``.

    Source: Terrovitis, Mamoulis, Kalnis, PVLDB 1(1), 2008.
    """

    kind: ClassVar[str] = "km_anonymity"
    on_sets: ClassVar[bool] = True
    counts_values: ClassVar[bool] = True
    id: str
    attribute: str
    k: int
    m: int
    span: Span | None = field(default=None, compare=False)
    releases: tuple[str, ...] = ()

    @property
    def counts_rows(self) -> bool:
        """Whether a group has to have so many rows."""
        return True

    def on_columns(self, columns: Columns) -> Iterator[KmAnonymity]:
        """Yield it for each column that its name means."""
        return (replace(self, attribute=name) for name in columns.meant(self.attribute, self))

    def document(self) -> dict[str, Any]:
        """Return what it asks."""
        return {"attribute": self.attribute, "k": self.k, "m": self.m}

"""Cumulative k-anonymity: releases leave several people together."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from ppdm_flow.core.requirement import Columns, Requirement
from ppdm_flow.core.spans import Span


@dataclass(frozen=True, slots=True)
class CumulativeK(Requirement):
    """Whoever holds this and all earlier releases cannot tell anybody from fewer than ``k`` - 1 others.

    People are alike if they are in the same class of every release, or absent from it alike. Source: Ganta,
    Kasiviswanathan, Smith, KDD 2008 (intersection attack); Xiao, Tao, SIGMOD 2007 (re-publication).
    """

    kind: ClassVar[str] = "cumulative_k"
    successive: ClassVar[bool] = True
    id: str
    k: int
    attributes: tuple[str, ...]
    span: Span | None = field(default=None, compare=False)
    releases: tuple[str, ...] = ()

    @property
    def grouping(self) -> tuple[str, ...]:
        """The attributes that form the classes of each release."""
        return self.attributes

    @property
    def counts_rows(self) -> bool:
        """Whether a group has to have so many rows."""
        return True

    def on_columns(self, columns: Columns) -> Iterator[CumulativeK]:
        """Yield it with the columns that its names mean."""
        yield replace(self, attributes=columns.every(self.attributes, self))

    def document(self) -> dict[str, Any]:
        """Return what it asks."""
        return {"k": self.k, "attributes": list(self.attributes)}

"""LKC-privacy: who knows few attributes of somebody finds many rows, and infers little."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from ppdm_flow.core.requirement import (
    Columns,
    NameOf,
    OnValues,
    absent,
    pairs_reaching,
    reaching,
)
from ppdm_flow.core.roles import ValuesAbsent
from ppdm_flow.core.spans import Span


@dataclass(frozen=True, slots=True)
class LKC(OnValues):
    """Whoever knows at most ``l`` of ``attributes`` finds at least ``k`` rows, and learns no more than ``c``.

    ``sensitive`` are (attribute, value): of the rows that fit, a share of at most c has one of an attribute's values; c
    is None without any. Source: Mohammed, Fung, Hung, Lee, KDD 2009.
    """

    kind: ClassVar[str] = "lkc"
    counts_values: ClassVar[bool] = True
    classes: ClassVar[str] = "ppdm_flow.requirements.lkc.classes:models"
    id: str
    l: int  # noqa: E741  # the model's own letter
    k: int
    attributes: tuple[str, ...]
    c: float | None = None
    sensitive: tuple[tuple[str, str], ...] = ()
    span: Span | None = field(default=None, compare=False)
    values_absent: ValuesAbsent = ValuesAbsent.ERROR
    releases: tuple[str, ...] = ()

    @property
    def grouping(self) -> tuple[str, ...]:
        """The attributes of which some are known."""
        return self.attributes

    @property
    def counts_rows(self) -> bool:
        """Whether a group has to have so many rows."""
        return True

    @property
    def groups_are_classes(self) -> bool:
        """Whether all attributes may be known at once; then smaller groups are unions of classes."""
        return self.l >= len(self.attributes)

    def is_absent_from(self, _sources: frozenset[str]) -> bool:
        """Whether nothing is told: groups have to be large all the same."""
        return False

    def on_columns(self, columns: Columns) -> Iterator[LKC]:
        """Yield it with the columns that its names mean."""
        pairs = columns.pairs(self.sensitive, self)
        yield replace(self, attributes=columns.every(self.attributes, self), sensitive=pairs)

    def renamed(self, name_of: NameOf) -> LKC:
        """Return it in present names."""
        pairs = pairs_reaching(self.sensitive, name_of)
        return replace(self, attributes=reaching(self.attributes, name_of), sensitive=pairs)

    def document(self) -> dict[str, Any]:
        """Return what it asks."""
        return {
            "l": self.l,
            "k": self.k,
            "attributes": list(self.attributes),
            "sensitive": [list(pair) for pair in self.sensitive],
            **({} if self.c is None else {"c": self.c}),
            **absent(self.values_absent),
        }

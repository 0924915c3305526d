"""Inference templates: what must not be inferred from a channel."""

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
class Template(OnValues):
    """<IC -> pi, h>: in no group over ``channel`` is one of ``sensitive`` more frequent than ``confidence``.

    Several (attribute, value) pairs are several templates with one channel and threshold, never their union
    (Wang, Fung, Yu, ICDM 2005, section 3).

    ``negated``: the inference is to *not* having the value, so its confidence is the share of rows without it, missing
    and suppressed ones included. ``min_support``: beside that, no group over the channel has fewer rows. Small groups
    are never excused from the confidence: an inference about few people is the more dangerous one.
    """

    kind: ClassVar[str] = "templates"
    id: str
    name: str
    channel: tuple[str, ...]
    sensitive: tuple[tuple[str, str], ...]
    confidence: float
    span: Span | None = field(default=None, compare=False)
    negated: bool = False
    min_support: int = 1
    values_absent: ValuesAbsent = ValuesAbsent.ERROR
    releases: tuple[str, ...] = ()

    @property
    def grouping(self) -> tuple[str, ...]:
        """The channel."""
        return self.channel

    @property
    def counts_rows(self) -> bool:
        """Whether a group has to have so many rows."""
        return self.min_support > 1

    def on_columns(self, columns: Columns) -> Iterator[Template]:
        """Yield it with the columns that its names mean."""
        pairs = columns.pairs(self.sensitive, self)
        yield replace(self, channel=columns.every(self.channel, self), sensitive=pairs)

    def renamed(self, name_of: NameOf) -> Template | None:
        """Return it in present names; None where no sensitive attribute reaches the step.

        The channel is narrowed to what is left of it: whoever knew the dropped attributes cannot use them here, but a
        coarser grouping can still reveal the sensitive value.
        """
        pairs = pairs_reaching(self.sensitive, name_of)
        return replace(self, channel=reaching(self.channel, name_of), sensitive=pairs) if pairs else None

    def document(self) -> dict[str, Any]:
        """Return what it asks."""
        return {
            "channel": list(self.channel),
            "sensitive": [list(pair) for pair in self.sensitive],
            "confidence": self.confidence,
            **({"negated": True} if self.negated else {}),
            **({"min_support": self.min_support} if self.min_support > 1 else {}),
            **absent(self.values_absent),
        }

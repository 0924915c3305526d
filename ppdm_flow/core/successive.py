"""What must hold of a release together with earlier releases about the same people."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from ppdm_flow.core.spans import Span


@dataclass(frozen=True, slots=True)
class CumulativeK:
    """Whoever holds this and all earlier releases cannot tell anybody from fewer than ``k`` - 1 others.

    People are alike if they are in the same class of every release, or absent from it alike. Source: Ganta,
    Kasiviswanathan, Smith, KDD 2008 (intersection attack); Xiao, Tao, SIGMOD 2007 (re-publication).
    """

    kind: ClassVar[str] = "cumulative_k"
    id: str
    k: int
    attributes: tuple[str, ...]
    span: Span | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class FirstDraw:
    """None of the randomized ``attributes`` has been released before, of any of the same people.

    Two independent draws multiply their likelihood ratios, so that an (r1, r2) bound on each is none on both.
    """

    kind: ClassVar[str] = "first_draw"
    id: str
    attributes: tuple[str, ...]
    span: Span | None = field(default=None, compare=False)


Successive = CumulativeK | FirstDraw
"""What is judged with the release ledger."""

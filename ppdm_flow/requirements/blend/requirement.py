"""Blending: rare rows of the release are not rare rows of the original."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from ppdm_flow.core.requirement import Requirement
from ppdm_flow.core.spans import Span
from ppdm_flow.core.supports import Support


@dataclass(frozen=True, slots=True)
class Blend(Requirement):
    """Rare rows of the release are not rare rows of the original: a minimal support in the role of k.

    Of the released rows with a support below ``min_support`` in the release, at most a share of ``maximum`` occurs in
    the original with a support below ``min_support``. Source: Vreeken, van Leeuwen, Siebes, ICDM 2007.
    """

    kind: ClassVar[str] = "blend"
    counts_whole_rows: ClassVar[bool] = True
    id: str
    min_support: Support
    maximum: float = 0.0
    span: Span | None = field(default=None, compare=False)
    releases: tuple[str, ...] = ()

    def document(self) -> dict[str, Any]:
        """Return what it asks."""
        return {"min_support": self.min_support.document, "max": self.maximum}

"""The alpha of (alpha, k)-anonymity: no sensitive value is frequent in a class."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, ClassVar

from ppdm_flow.core.requirement import NamedValue, OnSensitive, absent
from ppdm_flow.core.roles import ValuesAbsent
from ppdm_flow.core.spans import Span


@dataclass(frozen=True, slots=True)
class AlphaK(OnSensitive):
    """No value of ``attribute``, or none of ``values``, has a share above ``alpha`` in any class.

    The k of (alpha, k)-anonymity is a requirement of its own. Source: Wong, Li, Fu, Wang, KDD 2006.
    """

    kind: ClassVar[str] = "alpha_k"
    classes: ClassVar[str] = "ppdm_flow.requirements.alpha_k.classes:models"
    id: str
    attribute: str
    alpha: float
    attributes: tuple[str, ...]
    values: tuple[str, ...] = ()
    span: Span | None = field(default=None, compare=False)
    values_absent: ValuesAbsent = ValuesAbsent.ERROR
    releases: tuple[str, ...] = ()

    def named_values(self) -> Iterator[NamedValue]:
        """Yield the values that it is about, where it names them."""
        return ((self.attribute, value, self.span) for value in self.values)

    def bounds(self) -> dict[str, Any]:
        """Return its figures."""
        return {
            "alpha": self.alpha,
            **({"values": list(self.values)} if self.values else {}),
            **absent(self.values_absent),
        }

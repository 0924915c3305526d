"""The alpha of (alpha, k)-anonymity: no sensitive value is too frequent in a class."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, ClassVar

from pydantic import Field

from ppdm_flow.core.model import LOWER, MORE, Absent, Texts
from ppdm_flow.core.requirement import NamedValue
from ppdm_flow.core.requirement_families import OnSensitive
from ppdm_flow.core.roles import ValuesAbsent
from ppdm_flow.core.shares import SHARE


class AlphaK(OnSensitive):
    """No sensitive value, or none of ``values``, has a share above ``alpha`` in any class.

    The k of (alpha, k)-anonymity is a requirement of its own. Source: Wong, Li, Fu, Wang, KDD 2006.
    """

    kind: ClassVar[str] = "alpha_k"
    bounds_confidence: ClassVar[bool] = True
    classes: ClassVar[str] = "ppdm_flow.requirements.alpha_k.algorithm:models"
    alpha: Annotated[
        float, Field(gt=0.0, description="The largest share of a value in a group.", examples=["0.5"]), LOWER, SHARE
    ]
    values: Annotated[
        Texts,
        Field(description="The values that it is about; every value where it is left out.", examples=[["HIV"]]),
        MORE,
    ] = ()
    values_absent: Absent = ValuesAbsent.ERROR

    def named_values(self) -> Iterator[NamedValue]:
        """Yield the values that it is about, where it names them."""
        return ((self.attribute, value, self.span) for value in self.values)

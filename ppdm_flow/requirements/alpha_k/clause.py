"""The entry of a policy for the alpha of (alpha, k)-anonymity."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from ppdm_flow.core.roles import ValuesAbsent
from ppdm_flow.policy.language.model import LOWER, Clause, Texts


class AlphaK(Clause):
    """No sensitive value, or none of ``values``, has a share above ``alpha`` in any class."""

    alpha: Annotated[float, Field(gt=0.0), LOWER]
    values: Texts | None = None
    attributes: Texts | None = None
    values_absent: ValuesAbsent = ValuesAbsent.ERROR

"""The entry of a policy for t-closeness."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from ppdm_flow.core.roles import ValuesAbsent
from ppdm_flow.policy.language.model import LOWER, Clause, Texts
from ppdm_flow.requirements.t_closeness.requirement import Distance


class TCloseness(Clause):
    """A sensitive attribute is distributed in every class as in the whole release, within a distance of ``t``."""

    t: Annotated[float, Field(gt=0.0), LOWER]
    distance: Distance = Distance.EQUAL
    order: Texts | None = None
    attributes: Texts | None = None
    values_absent: ValuesAbsent = ValuesAbsent.ERROR

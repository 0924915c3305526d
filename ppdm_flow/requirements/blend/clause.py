"""The entry of a policy for blending."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from ppdm_flow.core.supports import Supported
from ppdm_flow.policy.language.model import LOWER, Clause


class Blend(Clause):
    """Of released rows rarer than ``min_support``, at most a share of ``max`` is rarer than that in the original too.

    That is minsup in the role of k: rare original rows do not show among the released ones.
    """

    min_support: Supported
    max: Annotated[float, Field(ge=0.0, le=1.0), LOWER] = 0.0

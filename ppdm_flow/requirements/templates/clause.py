"""The entry of a policy for an inference template."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from ppdm_flow.core.roles import ValuesAbsent
from ppdm_flow.policy.language.model import HIGHER_IF_ANY, LOWER, Clause, Flag


class Template(Clause):
    """<IC -> pi, h>: no group over ``channel`` lets one infer a sensitive value with more than ``confidence``.

    ``negated``: to infer that someone has *not* the value. ``min_support``: besides, no group has fewer rows.
    """

    channel: Annotated[tuple[str, ...], Field(min_length=1)]
    sensitive: Annotated[dict[str, Annotated[tuple[str, ...], Field(min_length=1)]], Field(min_length=1)]
    confidence: Annotated[float, Field(gt=0.0, lt=1.0), LOWER]
    negated: Flag = False
    min_support: Annotated[Annotated[int, Field(ge=2)] | None, HIGHER_IF_ANY] = None
    values_absent: ValuesAbsent = ValuesAbsent.ERROR

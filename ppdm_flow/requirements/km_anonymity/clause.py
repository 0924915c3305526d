"""The entry of a policy for k^m-anonymity."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from ppdm_flow.policy.language.model import HIGHER, Clause


class KmAnonymity(Clause):
    """Every combination of at most ``m`` items that occurs is in at least ``k`` sets."""

    k: Annotated[int, Field(ge=2), HIGHER]
    m: Annotated[int, Field(ge=1, le=4), HIGHER] = 2
    attribute: str | None = None

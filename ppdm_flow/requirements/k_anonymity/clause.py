"""The entry of a policy for k-anonymity."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from ppdm_flow.policy.language.model import HIGHER, Clause, Texts


class KAnonymity(Clause):
    """Every combination of quasi-identifier values occurs in at least ``k`` released rows."""

    k: Annotated[int, Field(ge=2), HIGHER]
    attributes: Texts | None = None

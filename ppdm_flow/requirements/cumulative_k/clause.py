"""The entry of a policy for cumulative k."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from ppdm_flow.policy.language.model import HIGHER, Clause, Texts


class CumulativeK(Clause):
    """All earlier releases of the ledger, and this one, together leave groups of at least ``k`` people."""

    k: Annotated[int, Field(ge=2), HIGHER]
    attributes: Texts | None = None

"""k over several releases: the size of the groups of people that they leave together."""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import Field

from ppdm_flow.core.asks import AccessRequirements, DataAccess
from ppdm_flow.core.model import HIGHER, GroupedBy
from ppdm_flow.core.requirement_families import OnClasses
from ppdm_flow.sdk.spec import Params, requirement_audit

NO_EARLIER_RELEASE = "There is no earlier release"
"""How the sentence of a first release begins, whose advice differs."""
_K = "The least number of people that all releases together leave alike."
_MORE = "What else others may know, beside the quasi-identifiers."


class CumulativeK(OnClasses):
    """All earlier releases of the ledger, and this one, together leave groups of at least ``k`` people.

    People are alike if they are in the same class of every release, or absent from it alike. Source: Ganta,
    Kasiviswanathan, Smith, KDD 2008 (intersection attack); Xiao, Tao, SIGMOD 2007 (re-publication).
    """

    kind: ClassVar[str] = "cumulative_k"
    successive: ClassVar[bool] = True
    k: Annotated[int, Field(ge=2, description=_K, examples=["5"]), HIGHER]
    attributes: Annotated[GroupedBy, Field(description=_MORE, examples=[["job"]])] = ()

    @property
    def counts_rows(self) -> bool:
        """Whether a group has to have so many rows."""
        return True


class CumulativeKParams(Params):
    """Parameters: where the policy asks for no cumulative k, groups of fewer than ``k`` people are reported."""

    k: Annotated[int, Field(ge=2)] | None = None


AUDIT = requirement_audit(
    "cumulative_k",
    "ppdm_flow.requirements.cumulative_k.algorithm:CumulativeKAudit",
    params=CumulativeKParams,
    asks=AccessRequirements(DataAccess.COUNTS, passes=1),
)

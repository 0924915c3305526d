"""Blending: a minimal support in the role of k."""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import Field

from ppdm_flow.core.asks import AccessRequirements, DataAccess
from ppdm_flow.core.model import LOWER
from ppdm_flow.core.requirement import Requirement
from ppdm_flow.core.supports import Supported
from ppdm_flow.sdk.spec import Effect, Params, Problem, Scope, requirement_audit

_RARE = "Below this support a row is rare: `{count: ROWS}`, or `{ratio: SHARE}` of each table's rows."
_SHARE = "The largest share of the rare released rows that may be rare original rows."


class Blend(Requirement):
    """Of released rows rarer than ``min_support``, at most a share of ``max`` is rarer than that in the original too.

    That is minsup in the role of k: rare original rows do not show among the released ones. Source: Vreeken, van
    Leeuwen, Siebes, ICDM 2007.
    """

    kind: ClassVar[str] = "blend"
    counts_whole_rows: ClassVar[bool] = True
    min_support: Annotated[Supported, Field(description=_RARE, examples=[{"count": "20"}])]
    max: Annotated[float, Field(ge=0.0, le=1.0, description=_SHARE, examples=["0.03"]), LOWER] = 0.0


class BlendParams(Params):
    """``min_support``: below it a row is rare; a ratio is one of each table's rows. A requirement brings its own."""

    min_support: Supported | None = None


def _effect(params: BlendParams, _scope: Scope) -> Effect:
    if params.min_support is not None:
        return Effect()
    text = "`min_support` is missing in the parameters of `blend`"
    return Effect(problems=(Problem("PPF202", text, hint="add `with: {min_support: {count: 20}}`"),))


AUDIT = requirement_audit(
    "blend",
    "ppdm_flow.requirements.blend.algorithm:BlendAudit",
    params=BlendParams,
    effect=_effect,
    standalone=True,
    asks=AccessRequirements(DataAccess.TABLE, passes=6),
)

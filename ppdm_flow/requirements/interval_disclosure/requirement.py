"""Interval disclosure: few released numbers lie near the original number of the same record."""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import Field

from ppdm_flow.core.asks import AccessRequirements, DataAccess
from ppdm_flow.core.model import HIGHER, LOWER, Model
from ppdm_flow.core.requirement_families import OnAttribute
from ppdm_flow.core.roles import AttributeType
from ppdm_flow.core.shares import SHARE
from ppdm_flow.sdk.spec import Effect, Params, Problem, Scope, requirement_audit

_ABSOLUTE = "In the units of the attribute; days for a date and for a timestamp."
_RELATIVE = "As a share of the original number; not for dates and timestamps."
_SD = "In standard deviations of the original numbers of the released rows."
_RANK = "In ranks among the original numbers of the released rows, as a share of these rows."
_WIDTH = "How near an estimate has to be to count as disclosure; exactly one of four forms."
_MAX = "The largest share of released rows, and of people where they are counted, that are disclosed; 0 is none."


class Width(Model):
    """How far an estimate may be from the original number, on either side, to disclose it: one of four forms."""

    absolute: Annotated[
        Annotated[float, Field(ge=0.0)] | None, Field(description=_ABSOLUTE, examples=["500"]), HIGHER
    ] = None
    relative: Annotated[
        Annotated[float, Field(ge=0.0)] | None, Field(description=_RELATIVE, examples=["0.05"]), HIGHER, SHARE
    ] = None
    sd: Annotated[Annotated[float, Field(ge=0.0)] | None, Field(description=_SD, examples=["0.1"]), HIGHER] = None
    rank: Annotated[
        Annotated[float, Field(ge=0.0, le=1.0)] | None, Field(description=_RANK, examples=["0.01"]), HIGHER
    ] = None

    @property
    def forms(self) -> dict[str, float]:
        """The forms that are given, with their sizes."""
        named = {"absolute": self.absolute, "relative": self.relative, "sd": self.sd, "rank": self.rank}
        return {name: size for name, size in named.items() if size is not None}

    @property
    def form(self) -> str:
        """The first form that is given. Raises ValueError where none is."""
        return next(iter(self.forms), "") or _no_form()

    @property
    def size(self) -> float:
        """How wide that is."""
        return self.forms[self.form]

    @property
    def words(self) -> str:
        """Say how wide it is."""
        form, size = self.form, self.size
        if form == "relative":
            return f"{size:.4g} times the original number"
        if form == "sd":
            return f"{size:.4g} standard deviations"
        return f"{size:.4g} of the ranks" if form == "rank" else f"{size:.6g}"

    def fault(self, kind: AttributeType) -> str:
        """Return why it measures nothing on numbers of a type; empty where it does."""
        if len(self.forms) != 1:
            return "a `width` has exactly one of `absolute`, `relative`, `sd` and `rank`"
        if kind.is_time and self.relative is not None:
            return "a moment has no size that a width could be relative to: give it in days, by `sd` or by `rank`"
        return ""


class IntervalDisclosure(OnAttribute):
    """At most a share ``max`` of released rows shows a number within ``width`` of the original one of the same row.

    Source: Domingo-Ferrer, Torra, Confidentiality, Disclosure and Data Access, 2001 (interval disclosure).
    """

    kind: ClassVar[str] = "interval_disclosure"
    counts_people: ClassVar[bool] = True
    width: Annotated[Width, Field(description=_WIDTH, examples=[{"relative": "0.05"}])]
    max: Annotated[float, Field(ge=0.0, le=1.0, description=_MAX, examples=["0.1"]), LOWER]

    @property
    def numbers(self) -> tuple[str, ...]:
        """The attribute."""
        return (self.attribute,)


def _no_form() -> str:
    raise ValueError("a width needs one of `absolute`, `relative`, `sd` and `rank`")


class IntervalDisclosureParams(Params):
    """``attribute`` of the source and the ``width`` that counts; a requirement brings its own."""

    attribute: str | None = None
    width: Width | None = None


def _effect(params: IntervalDisclosureParams, scope: Scope) -> Effect:
    """Complain of what is missing, and of an attribute that the release tells nothing of."""
    lacking = [name for name in ("attribute", "width") if getattr(params, name) is None]
    if lacking or params.attribute is None or params.width is None:
        hint = "add `with: {attribute: income, width: {relative: 0.05}}`"
        text = "parameters of `interval_disclosure` are missing: "
        return Effect(problems=(Problem("PPF202", text + ", ".join(f"`{n}`" for n in lacking), hint=hint),))
    carriers = [facts for facts in scope.attributes.values() if facts.carries(params.attribute)]
    if not carriers:
        text = f"the release has nothing that is computed from `{params.attribute}`"
        return Effect(problems=(Problem("PPF861", text, ("attribute",)),))
    types = {facts.type for facts in carriers if facts.source == params.attribute}
    fault = params.width.fault(next(iter(types), AttributeType.FLOAT))
    return Effect(problems=(Problem("PPF599", fault, ("width",)),) if fault else ())


AUDIT = requirement_audit(
    "interval_disclosure",
    "ppdm_flow.requirements.interval_disclosure.algorithm:IntervalDisclosureAudit",
    params=IntervalDisclosureParams,
    effect=_effect,
    standalone=True,
    asks=AccessRequirements(DataAccess.TABLE, passes=6),
)

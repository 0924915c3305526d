"""Special uniques: few people are singled out by few attributes."""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import Field

from ppdm_flow.core.asks import AccessRequirements, DataAccess
from ppdm_flow.core.model import HIGHER, LOWER
from ppdm_flow.core.requirement_families import OnClasses
from ppdm_flow.core.suggest import closest
from ppdm_flow.sdk.spec import Effect, Params, Problem, Scope, requirement_audit

_SIZE = "How many attributes of a person somebody may know, 1 to 5; all of them where there are fewer."
_SHARE = "The largest share of the released rows, or people, that so many attributes may single out."


class FewUniques(OnClasses):
    """At most a share ``max_share`` of the released rows is unique by some ``size`` of the ``attributes``.

    Source: Elliot, Manning, Ford, IJUFKS 10(5), 2002.
    """

    kind: ClassVar[str] = "special_uniques"
    on_groups: ClassVar[bool] = True
    of_all_files: ClassVar[bool] = True
    counts_people: ClassVar[bool] = True
    size: Annotated[int, Field(ge=1, le=5, description=_SIZE, examples=["3"]), HIGHER] = 3
    max_share: Annotated[float, Field(ge=0.0, lt=1.0, description=_SHARE, examples=["0.01"]), LOWER] = 0.0

    @property
    def groups_are_classes(self) -> bool:
        """Whether all attributes may be known at once."""
        return self.size >= len(self.attributes)


class SpecialUniquesParams(Params):
    """A requirement brings its own ``attributes`` and ``size``; the others are for `audits:`."""

    attributes: Annotated[tuple[str, ...], Field(min_length=1)] | None = None
    size: Annotated[int, Field(ge=1, le=5)] = 3
    sampling_fraction: Annotated[float, Field(gt=0.0, le=1.0)] = 0.01
    threshold: Annotated[float, Field(gt=0.0, lt=1.0)] = 0.1


def _effect(params: SpecialUniquesParams, scope: Scope) -> Effect:
    """Complain of attributes that the release tells nothing of."""
    every = scope.attributes.values()
    released_names = {n for a in every for n in (a.name, a.source, *a.lineage.computed_from) if n}
    problems = []
    for i, name in enumerate(params.attributes or ()):
        if name not in released_names:
            near = closest(name, released_names)
            hint = f"did you mean `{near}`?" if near else None
            problems.append(Problem("PPF861", f"the release has no attribute `{name}`", ("attributes", str(i)), hint))
    return Effect(problems=tuple(problems))


AUDIT = requirement_audit(
    "special_uniques",
    "ppdm_flow.requirements.special_uniques.algorithm:SpecialUniquesAudit",
    params=SpecialUniquesParams,
    effect=_effect,
    counts_people=True,
    standalone=True,
    asks=AccessRequirements(DataAccess.COUNTS, {"people": DataAccess.TABLE}, passes=2),
)

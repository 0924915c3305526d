"""Numeric linkage: few original records are found again by the numbers that are released of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, ClassVar, Self

from pydantic import Field

from ppdm_flow.core.asks import AccessRequirements, DataAccess
from ppdm_flow.core.model import HIGHER, LOWER, LOWER_IF_ANY, Texts
from ppdm_flow.core.requirement import NameOf, NamePattern, Requirement
from ppdm_flow.core.requirement_families import reaching
from ppdm_flow.sdk.spec import Effect, FilePath, Params, Problem, Scope, requirement_audit

_ATTRIBUTES = "The numbers, dates and timestamps of a person that an intruder knows, and categories beside them."
_MAX = "The largest share of original records that are found; the upper end of its interval must not exceed it."
_EXCESS = "The largest share found of the records that naming rows at random misses; its upper end must not exceed it."
_CONTROL = (
    "A CSV file of people who are not in the source, relative to this file: `max_excess` bounds what exceeds them too."
)
_AGAINST = "A CSV file of people whom the intruder knows, relative to this file: in place of the original numbers."
_KEY = "The attribute, and the column of the file `against`, that says which released row is whose."
_CANDIDATES = "How many of the nearest released rows the intruder may name."
_SAMPLE = "The most original records that are looked for."


class NumericLinkage(Requirement):
    """At most a share ``max`` of original records is found by nearest neighbours over ``attributes``.

    Source: Domingo-Ferrer, Torra, Confidentiality, Disclosure and Data Access, 2001 (distance-based record linkage).
    """

    kind: ClassVar[str] = "numeric_linkage"
    counts_people: ClassVar[bool] = True
    attributes: Annotated[Texts, Field(description=_ATTRIBUTES, examples=[["income", "age"]])]
    max: Annotated[float, Field(ge=0.0, le=1.0, description=_MAX, examples=["0.05"]), LOWER]
    max_excess: Annotated[
        Annotated[float, Field(ge=0.0, le=1.0)] | None, Field(description=_EXCESS, examples=["0.02"]), LOWER_IF_ANY
    ] = None
    control: Annotated[str | None, Field(description=_CONTROL, examples=["others.csv"])] = None
    against: Annotated[str | None, Field(description=_AGAINST, examples=["known.csv"])] = None
    key: Annotated[str | None, Field(description=_KEY, examples=["patient"])] = None
    candidates: Annotated[int, Field(ge=1, le=1000, description=_CANDIDATES, examples=["1"]), HIGHER] = 1
    sample: Annotated[int, Field(ge=1, le=1_000_000, description=_SAMPLE, examples=["1000"])] = 1000

    @property
    def numbers(self) -> tuple[str, ...]:
        """What the intruder knows."""
        return self.attributes

    @property
    def asks(self) -> tuple[str, ...]:
        """What tells whose row is whose."""
        return () if self.key is None else (self.key,)

    def is_absent_from(self, sources: frozenset[str]) -> bool:
        """Whether nothing is released that is computed from what the intruder knows."""
        return sources.isdisjoint(self.attributes)

    def on_columns(self, columns: NamePattern) -> Iterator[Self]:
        """Yield it with the columns that its names mean."""
        yield self.changed(attributes=columns.every(self.attributes, self))

    def renamed(self, name_of: NameOf) -> Self | None:
        """Return it in present names; None where none of the attributes reaches the step."""
        names = reaching(self.attributes, name_of)
        key = self.key and (name_of(self.key) or self.key)
        return self.changed(attributes=names, key=key) if names else None


class NumericLinkageParams(Params):
    """``attributes`` of the source that an intruder knows; a requirement brings its own.

    ``candidates``: how many released rows the intruder may name; ``sample``: the most records that are looked for;
    ``control``: a CSV file of people who are not in the source, ``against``: one of people whom the intruder knows,
    both relative to the policy; ``key``: the attribute and column that says which row is whose.
    """

    attributes: Annotated[tuple[str, ...], Field(min_length=1)] | None = None
    candidates: Annotated[int, Field(ge=1, le=1000)] = 1
    sample: Annotated[int, Field(ge=1, le=1_000_000)] = 1000
    control: FilePath | None = None
    against: FilePath | None = None
    key: str | None = None


def _effect(params: NumericLinkageParams, scope: Scope) -> Effect:
    """Complain where the attributes are missing, or the release tells nothing of one."""
    if params.attributes is None:
        text = "`attributes` is missing in the parameters of `numeric_linkage`"
        return Effect(problems=(Problem("PPF202", text, hint="add `with: {attributes: [income, age]}`"),))
    problems = []
    if (params.against is None) != (params.key is None):
        hint = "the file says by `key`, an attribute of the source and a column of the file, which row is whose"
        problems.append(
            Problem(
                "PPF202",
                "`against` and `key` go together",
                ("key" if params.against is None else "against",),
                hint=hint,
            )
        )
    for i, name in enumerate(params.attributes):
        if not any(facts.carries(name) for facts in scope.attributes.values()):
            text = f"the release has nothing that is computed from `{name}`"
            problems.append(Problem("PPF861", text, ("attributes", str(i))))
    return Effect(problems=tuple(problems), asks={"key": params.key} if params.key is not None else {})


AUDIT = requirement_audit(
    "numeric_linkage",
    "ppdm_flow.requirements.numeric_linkage.algorithm:NumericLinkageAudit",
    params=NumericLinkageParams,
    effect=_effect,
    standalone=True,
    asks=AccessRequirements(DataAccess.TABLE, passes=10),
)

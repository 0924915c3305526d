"""Class ids: their card, parameters and effect."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from ppdm_flow.anonymizers.naming import missing_ones
from ppdm_flow.core.asks import AccessRequirements, DataAccess
from ppdm_flow.core.attributes import AttributeFacts
from ppdm_flow.core.lineage import CellKind, Derivation
from ppdm_flow.core.plugin_info import Kind, PluginInfo
from ppdm_flow.core.roles import Role
from ppdm_flow.sdk.spec import Effect, Params, PluginSpec, Problem, Scope


class ClassCondition(Params):
    """A value is among ``values``, or is a number from ``low`` to ``high``, both included."""

    values: Annotated[tuple[str, ...], Field(min_length=1)] | None = None
    low: float | None = None
    high: float | None = None


def _condition(value: Any) -> Any:
    """Read ``[20, 29]`` as a range and a text as a value."""
    if isinstance(value, str):
        return {"values": (value,)}
    if isinstance(value, list | tuple):
        if len(value) != 2:
            raise ValueError("a range has two ends, as in [20, 29]; several values are written as {values: [a, b, c]}")
        return {"low": value[0], "high": value[1]}
    return value


class Criterion(Params):
    """Rows that fulfil every condition of ``when`` are in class ``id``."""

    id: Annotated[str, Field(min_length=1)]
    when: Annotated[dict[str, Annotated[ClassCondition, BeforeValidator(_condition)]], Field(min_length=1)]


class AssignClassIdParams(Params):
    """Classes are all rows that are alike in ``attributes``, or those that ``criteria`` describe."""

    attributes: Annotated[tuple[str, ...], Field(min_length=1)] | None = None
    criteria: Annotated[tuple[Criterion, ...], Field(min_length=1)] | None = None
    other: Annotated[str, Field(min_length=1)] | None = None
    name: Annotated[str, Field(min_length=1)] = "class_id"

    @property
    def named(self) -> tuple[str, ...]:
        """The attributes that classes are made from, each once."""
        conditions = (name for criterion in self.criteria or () for name in criterion.when)
        return tuple(dict.fromkeys((*(self.attributes or ()), *conditions)))


def effect(params: AssignClassIdParams, scope: Scope) -> Effect:
    """Add a column."""
    known = tuple(scope.attributes)
    path = ("attributes",) if params.attributes is not None else ("criteria",)
    problems = [Problem(p.code, p.message, path, p.hint) for p in missing_ones(params.named, known, path)]
    if (params.attributes is None) == (params.criteria is None):
        problems.append(Problem("PPF782", "classes come from `attributes` or from `criteria`: give one of them"))
    if params.other is not None and params.criteria is None:
        problems.append(Problem("PPF782", "`other` goes with `criteria`", ("other",)))
    problems += _conditions(params)
    fact = AttributeFacts(params.name, Role.QUASI_IDENTIFIER, source=params.name)
    named = tuple(n for n in params.named if n in scope.attributes)
    return Effect(
        reads=named,
        adds=(fact,),
        derivations={params.name: Derivation(named, kind=CellKind.CLASS_ID)},
        guarantee="rows of one class have one id, and no id depends on the order of rows",
        problems=tuple(problems),
    )


def _conditions(params: AssignClassIdParams) -> list[Problem]:
    problems = []
    for i, criterion in enumerate(params.criteria or ()):
        for name, condition in criterion.when.items():
            ends = (condition.low, condition.high)
            path = ("criteria", str(i), "when", name)
            if (condition.values is None) == (ends == (None, None)):
                problems.append(Problem("PPF782", "a condition is a range or a list of values", path))
            elif None not in ends and ends[0] > ends[1]:  # type: ignore[operator]  # both are numbers here
                problems.append(Problem("PPF782", "the lower end of the range comes first", path))
    return problems


SPEC = PluginSpec(
    info=PluginInfo.of_page(
        "anonymizers/assign_class_id", Kind.ROW_WISE, asks=AccessRequirements(DataAccess.COUNTS, passes=1)
    ),
    params=AssignClassIdParams,
    algorithm="ppdm_flow.anonymizers.assign_class_id.algorithm:AssignClassId",
    effect=effect,
)

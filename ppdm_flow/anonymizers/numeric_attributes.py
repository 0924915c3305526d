"""What steps that work on numbers ask of attributes at compile time: that they are numbers, and what bounds mean."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from typing import Annotated

from pydantic import BeforeValidator, Field

from ppdm_flow.anonymizers.naming import missing_ones
from ppdm_flow.core.attributes import AttributeFacts
from ppdm_flow.core.roles import AttributeType
from ppdm_flow.core.texts import canonical
from ppdm_flow.sdk.spec import Problem, Scope

NO_NUMBERS = "PPF848"
BEYOND = "PPF849"

Names = Annotated[tuple[str, ...], Field(min_length=1)]
NumberText = Annotated[str, BeforeValidator(str)]
"""A number, date or timestamp, as a typed column writes it."""


def present(names: Iterable[str], scope: Scope) -> tuple[str, ...]:
    """Return the attributes that reach the step, each once."""
    return tuple(n for n in dict.fromkeys(names) if n in scope.attributes)


def of_names(names: tuple[str, ...], scope: Scope) -> list[Problem]:
    """Return a problem for each attribute of the parameter ``attributes`` that is absent or holds no numbers."""
    problems = list(missing_ones(names, scope.attributes, ("attributes",)))
    for place, name in enumerate(names):
        facts = scope.attributes.get(name)
        if facts is not None and not facts.is_numeric:
            problems.append(
                Problem(NO_NUMBERS, *_why(name, facts)[:1], ("attributes", str(place)), _why(name, facts)[1])
            )
    return problems


def _why(name: str, facts: AttributeFacts) -> tuple[str, str]:
    if facts.type.is_numeric:
        return (
            f"`{name}` has labels here, and this step works on numbers",
            "move the step before the one that recodes it",
        )
    return (
        f"`{name}` has no numbers: it is of type `{facts.type}`",
        "say `type: integer`, `float`, `date` or `timestamp`",
    )


def of_bounds(
    low: str | None, high: str | None, names: Iterable[str], scope: Scope, keys: tuple[str, str]
) -> list[Problem]:
    """Return a problem for each bound that no column of these types has, and for two in the wrong order."""
    problems = []
    for kind in dict.fromkeys(scope.attributes[n].type for n in present(names, scope)):
        if not kind.is_numeric:
            continue
        spelled = {}
        for key, text in zip(keys, (low, high), strict=True):
            spelled[key] = None if text is None else canonical(text, kind)
            if text is not None and spelled[key] is None:
                problems.append(Problem("PPF782", f"`{key}` is no value of type `{kind}`", (key,)))
        least, most = spelled[keys[0]], spelled[keys[1]]
        if least is not None and most is not None and not _ascends(least, most, kind):
            problems.append(Problem("PPF782", f"`{keys[0]}` must lie below `{keys[1]}`", (keys[0],)))
    return problems


def _ascends(low: str, high: str, kind: AttributeType) -> bool:
    return low < high if kind.is_time else Decimal(low) < Decimal(high)

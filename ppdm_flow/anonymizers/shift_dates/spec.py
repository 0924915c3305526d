"""Shift dates: its card, parameters and effect."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from ppdm_flow.anonymizers.naming import changed_subject, subject_of
from ppdm_flow.anonymizers.numeric_attributes import NO_NUMBERS, Names, of_names, present
from ppdm_flow.core.asks import AccessRequirements, DataAccess
from ppdm_flow.core.attributes import Change
from ppdm_flow.core.lineage import CellKind, Derivation, changed_in_place
from ppdm_flow.core.plugin_info import Kind, PluginInfo
from ppdm_flow.core.roles import AttributeType
from ppdm_flow.core.texts import canonical
from ppdm_flow.sdk.spec import Effect, Params, PluginSpec, Problem, Scope

UNITS = ("days", "hours", "seconds")
_LIMIT = 2**40
_Whole = Annotated[int, Field(ge=-_LIMIT, le=_LIMIT)]
_Range = Annotated[tuple[_Whole, _Whole], Field()]


class ShiftParams(Params):
    """``attributes`` move by an offset between the two ends of ``days``, ``hours`` or ``seconds``.

    ``keep`` are values that are no dates of anybody, as "no end", and stay as they are.
    """

    attributes: Names
    days: _Range | None = None
    hours: _Range | None = None
    seconds: _Range | None = None
    zero: bool = True
    keep: tuple[str, ...] = ()

    @property
    def unit(self) -> str:
        """What offsets are counted in."""
        return next((unit for unit in UNITS if getattr(self, unit) is not None), UNITS[0])

    @property
    def ends(self) -> tuple[int, int]:
        """The smallest and the largest offset."""
        ends: tuple[int, int] = getattr(self, self.unit) or (0, 0)
        return ends


def contradictions(params: ShiftParams) -> list[Problem]:
    """Return what cannot be said together."""
    if sum(getattr(params, unit) is not None for unit in UNITS) != 1:
        return [Problem("PPF782", "give one of `days`, `hours` and `seconds`")]
    low, high = params.ends
    if low > high:
        return [Problem("PPF782", f"the first end of `{params.unit}` must not lie above the second", (params.unit,))]
    if low == high:
        return [Problem("PPF782", "one offset for all moves everybody alike, and hides nothing", (params.unit,))]
    if not params.zero and low <= 0 <= high and high - low == 1:
        return [Problem("PPF782", "without zero there is one offset for all, which hides nothing", ("zero",))]
    return []


def effect(params: ShiftParams, scope: Scope) -> Effect:
    """Move dates, which stay dates."""
    there = present(params.attributes, scope)
    subject = subject_of(scope.attributes)
    problems = [*contradictions(params), *of_names(params.attributes, scope), *changed_subject(scope.attributes)]
    for place, name in enumerate(params.attributes):
        kind = scope.attributes[name].type if name in scope.attributes else AttributeType.DATE
        if kind.is_numeric and not kind.is_time:
            text = f"`{name}` is of type `{kind}`, and this step moves dates and timestamps"
            problems.append(Problem(NO_NUMBERS, text, ("attributes", str(place))))
        elif kind is AttributeType.DATE and params.unit != "days":
            text = f"`{name}` is a date, which moves by whole `days`"
            problems.append(Problem("PPF782", text, (params.unit,)))
    for place, text in enumerate(params.keep):
        kinds = [scope.attributes[name].type for name in there if scope.attributes[name].type.is_time]
        if kinds and all(canonical(text, kind) is None for kind in kinds):
            problems.append(Problem("PPF782", "no attribute has such a value", ("keep", str(place))))
    if subject is None and scope.people is not None:
        text = "each row moves by an offset of its own: no attribute with `role: subject` reaches this step"
        problems.append(Problem("PPF780", text, hint="drop the subject after this step", warning=True))
    alike = () if subject is None else (subject,)
    return Effect(
        reads=tuple(dict.fromkeys((*there, *alike))),
        changes=dict.fromkeys(there, Change.OTHER),
        numbers=there,
        derivations=changed_in_place(
            there, Derivation((), alike, kind=CellKind.NOISY, moved=True)
        ),  # by a keyed hash: it says which draw is whose
        problems=tuple(problems),
    )


SPEC = PluginSpec(
    info=PluginInfo.of_page(
        "anonymizers/shift_dates",
        Kind.ROW_WISE,
        randomized=True,
        asks=AccessRequirements(DataAccess.COUNTS, {"people": DataAccess.ROWS}, passes=1),
    ),
    params=ShiftParams,
    algorithm="ppdm_flow.anonymizers.shift_dates.algorithm:ShiftDates",
    effect=effect,
)

"""The ``floors:`` of one file: read, and held against the language."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.spans import Span
from ppdm_flow.core.suggest import closest, did_you_mean
from ppdm_flow.policy.demands import (
    Demand,
    EqualTo,
    FigureBound,
    GroupsBy,
    HasAll,
    IsSet,
    IsUnset,
    NotWeaker,
    OneOf,
    RelativeDemand,
    SubsetOf,
)
from ppdm_flow.policy.floor import Floor, RelativeFloor
from ppdm_flow.policy.floors.grammar import HINT, NUMERIC, demands
from ppdm_flow.policy.floors.relative import comparable
from ppdm_flow.policy.floors.strength import forms_groups, ordered
from ppdm_flow.policy.language.shape import (
    FixedKeys,
    FreeShape,
    ListOf,
    MapOf,
    Number,
    Shape,
    SupportShape,
    Text,
    at,
    model_for,
)
from ppdm_flow.policy.language.words import short
from ppdm_flow.policy.params import ANSWERS, WAIVERS
from ppdm_flow.policy.text.nodes import Map, PolicyPath, Scalar, split


def floors_of(node: Map | None) -> tuple[list[Floor | RelativeFloor], list[Diagnostic]]:
    """Read the floors of one file, and report those that cannot be read (PPF309)."""
    floors: list[Floor | RelativeFloor] = []
    diagnostics: list[Diagnostic] = []
    for key, entry in node.entries.items() if node else ():
        value = entry.node
        if not isinstance(value, Scalar) or value.broken or value.text is None:
            continue
        if key == WAIVERS:
            diagnostics.extend(_answer(value))
            continue
        path = split(key)
        fault = _unknown_path(path, entry.key_span)
        if fault is not None:
            diagnostics.append(fault)
            continue
        for demand in demands(value.text) or (None,):
            wrong = _misfit(path, demand, value)
            if wrong is not None:
                diagnostics.append(wrong)
            elif demand is not None:
                floors.append(_floor(path, demand, entry.key_span))
    return floors, diagnostics


def _floor(path: PolicyPath, demand: Demand | RelativeDemand, span: Span) -> Floor | RelativeFloor:
    return RelativeFloor(path, demand, span) if isinstance(demand, RelativeDemand) else Floor(path, demand, span)


def _answer(value: Scalar) -> Iterator[Diagnostic]:
    if value.text not in ANSWERS:
        hint = did_you_mean(value.text or "", ANSWERS) or f"write `{ANSWERS[0]}` or `{ANSWERS[1]}`"
        yield Diagnostic("PPF309", f"`{WAIVERS}` must be one of `allowed`, `forbidden`", value.span, hint=hint)


def _misfit(path: PolicyPath, demand: Demand | RelativeDemand | None, value: Scalar) -> Diagnostic | None:
    """Report a demand that cannot be read, or that nothing of this place's kind could meet."""
    shown = short(value.text or "")
    hint: str | None
    if demand is None:
        hint = NUMERIC if isinstance(at(path), Number) else HINT
        return Diagnostic("PPF309", f"`{shown}` is not a valid bound", value.span, hint=hint)
    why, hint = _unfit(path, demand, at(path))
    return (
        Diagnostic("PPF309", f"`{shown}` does not fit `{'.'.join(path)}`: {why}", value.span, hint=hint)
        if why
        else None
    )


def _unfit(path: PolicyPath, demand: Demand | RelativeDemand, shape: Shape | None) -> tuple[str, str | None]:
    if isinstance(shape, FreeShape) or isinstance(demand, IsSet | IsUnset):
        return "", None
    if isinstance(demand, RelativeDemand):
        good = comparable(path, shape)
        return ("", None) if good else ("nothing there is known to be weaker or stronger", "write `is VALUE`")
    if isinstance(demand, FigureBound):
        return _unfit_bound(demand, shape)
    if isinstance(demand, HasAll | SubsetOf):
        listing = isinstance(shape, ListOf | MapOf | FixedKeys)
        return ("", None) if listing else ("that is not a list", "write `is VALUE` or `one of [A, B]`")
    if isinstance(demand, GroupsBy):
        good = forms_groups(path)
        return ("", None) if good else ("no groups are formed by these names", "write `contains [A, B]`")
    if isinstance(demand, NotWeaker):
        return _unknown_word((demand.than,), ordered(path), "nothing there is known to be weaker or stronger")
    if isinstance(demand, OneOf) and not isinstance(shape, Text | Number):
        return "that is not a single value", "write `contains [A, B]`"
    wanted: Any = demand.tree if isinstance(demand, EqualTo) else demand.wanted
    words = (wanted,) if isinstance(wanted, str) else wanted
    return _unknown_word(tuple(words), shape.choices, "") if isinstance(shape, Text) and shape.choices else ("", None)


def _unfit_bound(demand: FigureBound, shape: Shape | None) -> tuple[str, str | None]:
    if isinstance(shape, ListOf) and shape.single:
        shape = shape.item
    if isinstance(shape, SupportShape):
        return ("", None) if demand.unit else ("it lacks a unit", "write `>= {count: ROWS}` or `>= {ratio: SHARE}`")
    if demand.unit:
        return "that is not a number of rows", f"write `{demand.sign} {demand.figure}`"
    return ("", None) if isinstance(shape, Number) else ("that is not a number", "write `is VALUE` or `one of [A, B]`")


def _unknown_word(wanted: tuple[str, ...], known: tuple[str, ...], none: str) -> tuple[str, str | None]:
    if not known:
        return none, "write `is VALUE`" if none else None
    odd = next((w for w in wanted if w not in known), None)
    if odd is None:
        return "", None
    near = closest(odd, known) if isinstance(odd, str) else None
    return f"it takes {', '.join(f'`{k}`' for k in known)}", f"did you mean `{near}`?" if near else None


def _unknown_path(path: PolicyPath, span: Span) -> Diagnostic | None:
    model = model_for(path)
    for length in range(1, len(path) + 1):
        if at(path[:length], model) is None:
            above = at(path[: length - 1])
            near = closest(path[length - 1], above.keys) if isinstance(above, FixedKeys) else None
            good = ".".join((*path[: length - 1], near, *path[length:])) if near else None
            return Diagnostic(
                "PPF309",
                f"the policy language has no key `{short('.'.join(path))}`",
                span,
                hint=f"did you mean `{good}`?" if good else None,
            )
    return None

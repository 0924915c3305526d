"""A plugin's parameters against its own model: every fault at the line of the policy that it stands on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.spans import Span
from ppdm_flow.core.suggest import closest
from ppdm_flow.policy.language.shape import FixedKeys, MapOf, Shape, Text, at
from ppdm_flow.policy.language.words import expected, short
from ppdm_flow.policy.loaded import PolicyPath, ResolvedPlaces
from ppdm_flow.sdk.spec import Params

_RANGE = frozenset({"greater_than", "greater_than_equal", "less_than", "less_than_equal", "finite_number"})
_LENGTHS = frozenset({"too_short", "too_long", "string_too_short", "string_too_long"})
_OWN_WORDS = frozenset({"value_error", "assertion_error"})


class Parameters:
    """The parameters of the plugin ``name``, which stand at ``path`` in the policy."""

    def __init__(self, name: str, model: type[Params], given: Mapping[str, Any], path: PolicyPath) -> None:
        self.name = name
        self.model = model
        self.given = given
        self.path = path

    def faults(self, error: ValidationError, places: ResolvedPlaces) -> list[Diagnostic]:
        """Return one diagnostic for each thing that the model refuses."""
        diagnostics: dict[tuple[tuple[str, ...], str], Diagnostic] = {}
        for each in error.errors(include_url=False, include_input=False):
            loc = self._written(tuple(str(part) for part in each["loc"]))
            diagnostics.setdefault((loc, each["type"]), self._fault(loc, each, places))
        return list(diagnostics.values())

    def _written(self, loc: tuple[str, ...]) -> tuple[str, ...]:
        """Return the part of pydantic's location that stands in the policy: it adds tags of unions and ``[key]``."""
        value: Any = self.given
        path: list[str] = []
        for part in loc:
            if isinstance(value, Mapping):
                if part not in value and part != loc[-1]:
                    continue
                value = value.get(part)
            elif isinstance(value, list) and part.isdecimal() and int(part) < len(value):
                value = value[int(part)]
            else:
                continue
            path.append(part)
        return tuple(path)

    def _fault(self, loc: tuple[str, ...], each: ErrorDetails, places: ResolvedPlaces) -> Diagnostic:
        path = (*self.path, *loc)
        if each["loc"][-1:] == ("[key]",) and loc:
            text = f"`{short(loc[-1])}` does not fit as a key of {self._of(loc[:-1])}"
            return Diagnostic("PPF203", text, places.key(*path), path=path)
        match each["type"]:
            case "extra_forbidden":
                return self._unknown(loc, places)
            case "missing":
                shape = at(loc, self.model)
                what = expected(shape) if shape is not None else "a value"
                text = f"`{loc[-1]}` is missing in {self._of(loc[:-1])}"
                return Diagnostic("PPF202", text, places.key(*path[:-1]), hint=f"add `{loc[-1]}: …`, {what}", path=path)
            case kind:
                return self._value(loc, kind, each, places)

    def _unknown(self, loc: tuple[str, ...], places: ResolvedPlaces) -> Diagnostic:
        shape = at(loc[:-1], self.model)
        known = sorted(shape.keys) if isinstance(shape, FixedKeys) else []
        near = closest(loc[-1], known)
        takes = ", ".join(f"`{key}`" for key in known)
        return Diagnostic(
            "PPF201",
            f"unknown key `{short(loc[-1])}` in {self._of(loc[:-1])}",
            places.key(*self.path, *loc),
            hint=f"did you mean `{near}`?" if near else None,
            help=(f"it takes {takes}" if takes else "it takes none") if not near else None,
            path=(*self.path, *loc),
        )

    def _value(self, loc: tuple[str, ...], kind: str, each: ErrorDetails, places: ResolvedPlaces) -> Diagnostic:
        shape = at(loc, self.model)
        value = _at(self.given, loc)
        if isinstance(shape, MapOf) and isinstance(value, str) and (kind in _RANGE or kind.endswith("_parsing")):
            shape = shape.value  # one value that stands for a whole map
        code, hint = "PPF203", None
        if kind in _OWN_WORDS or shape is None or not loc:
            says = each["msg"].partition(", ")[2] if kind in _OWN_WORDS else "does not fit"
        elif kind in _LENGTHS or kind == "string_pattern_mismatch":
            says = _extent(kind, each.get("ctx", {}))
        else:
            code, hint = _coded(kind, shape, value)
            says = f"must be {expected(shape)}{_but(value)}"
        subject = f"`{short(loc[-1])}` of {self._of(loc[:-1])}" if loc else self._of(())
        if loc and loc[-1].isdecimal() and isinstance(_at(self.given, loc[:-1]), list):
            subject = f"item {int(loc[-1]) + 1} of `{short(loc[-2])}` in {self._of(loc[:-2])}"
        path = (*self.path, *loc)
        return Diagnostic(code, f"{subject}: {says}", _tight(places, path), hint=hint, path=path)

    def _of(self, loc: tuple[str, ...]) -> str:
        inner = ".".join(short(part) for part in loc)
        return f"`{inner}` of `{self.name}`" if inner else f"the parameters of `{self.name}`"


def _coded(kind: str, shape: Shape, value: Any) -> tuple[str, str | None]:
    """Return the code of a wrong value, and the choice that was meant."""
    if isinstance(shape, Text) and shape.choices:
        near = closest(value, shape.choices) if isinstance(value, str) else None
        return "PPF205", f"did you mean `{near}`?" if near else None
    return ("PPF204" if kind in _RANGE else "PPF203"), None


def _but(value: Any) -> str:
    if isinstance(value, str):
        return f", not `{short(value)}`"
    if isinstance(value, Mapping):
        return ", not a map"
    return ", not a list" if isinstance(value, list) else ""


def _extent(kind: str, context: Mapping[str, Any]) -> str:
    """Say how long a value must be, or what form it must have."""
    if kind == "string_pattern_mismatch":
        return f"must have the form `{context.get('pattern', '')}`"
    noun = "character" if kind.startswith("string") else "item"
    least = kind.endswith("short")
    number = context.get("min_length" if least else "max_length", 1)
    return f"must have at {'least' if least else 'most'} {number} {noun}{'' if number == 1 else 's'}"


def _at(tree: Any, loc: tuple[str, ...]) -> Any:
    for part in loc:
        if isinstance(tree, Mapping):
            tree = tree.get(part)
        elif isinstance(tree, list) and part.isdecimal() and int(part) < len(tree):
            tree = tree[int(part)]
        else:
            return None
    return tree


def _tight(places: ResolvedPlaces, path: PolicyPath) -> Span | None:
    """Return the value's place; its key's where the value goes over several lines."""
    span = places.value(*path)
    return places.key(*path) if span is not None and span.end_line > span.line else span

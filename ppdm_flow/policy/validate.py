"""Validates the resolved tree by the typed models, and reports every fault of shape at its own place."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.spans import Span
from ppdm_flow.core.suggest import NO_ALIASES, closest, confident
from ppdm_flow.core.supports import refusal
from ppdm_flow.policy.flatten import FlatPolicy
from ppdm_flow.policy.language.kinds import aliases, third_parties
from ppdm_flow.policy.language.models import Policy, PolicyHeader
from ppdm_flow.policy.language.shape import (
    FixedKeys,
    ListOf,
    MapOf,
    Number,
    Shape,
    SupportShape,
    Text,
    as_written,
    at,
    homes,
    kinds_named,
    placed,
    policy_model,
    whole_model,
)
from ppdm_flow.policy.language.words import NAME_RULE, choices, expected, place_name, short
from ppdm_flow.policy.loaded import PolicyPath

M = TypeVar("M", bound=BaseModel)

_RANGE = {"greater_than", "greater_than_equal", "less_than", "less_than_equal", "finite_number"}


def validate(flat: FlatPolicy, model: type[M], *, complete: bool = True) -> tuple[M | None, list[Diagnostic]]:
    """Return the typed value of a tree, or all the faults of its shape.

    Faults of values that are already reported are left out, and missing keys unless the tree is ``complete`` (it is not
    where a file that it inherits from could not be read).
    """
    try:
        return model.model_validate(flat.tree, by_alias=True, by_name=False), []
    except ValidationError as error:
        wide = whole_model(kinds_named(flat.tree)) if issubclass(model, Policy) else model  # to say what was meant
        judge = _Judge(flat, wide, complete=complete)
        errors = error.errors(include_url=False, include_input=False)
        diagnostics = [d for e in errors if not _is_short_by_faults(e, errors) for d in judge.of(e)]
        return None, [d for d in diagnostics if not (d.code == "PPF202" and d.path in judge.misspelt)]


def _is_short_by_faults(error: ErrorDetails, errors: Iterable[ErrorDetails]) -> bool:
    """Whether a list is too short only because items of it are at fault, which is reported there."""
    loc = error["loc"]
    below = (e["loc"] for e in errors if len(e["loc"]) > len(loc))
    return error["type"] == "too_short" and any(each[: len(loc)] == loc for each in below)


_FROM_PACKAGES = "; others come with packages, and `ppdm-flow list requirements` shows what is installed"


class _Judge:
    """Turns pydantic's errors about one tree into diagnostics."""

    def __init__(self, flat: FlatPolicy, model: type[BaseModel], *, complete: bool) -> None:
        self.flat = flat
        self.model = model
        self.complete = complete
        self.language = policy_model() if model is PolicyHeader else model
        self.top = "the policy" if issubclass(self.language, Policy) else "the file"
        self.misspelt: set[PolicyPath] = set()

    def of(self, error: Any) -> Iterable[Diagnostic]:
        loc = placed(error["loc"], self.flat.tree)
        kind = error["type"]
        if loc and loc[-1] == "[key]":
            yield self._name(loc[:-1])
        elif kind == "missing":
            lost = loc[:-1] in self.flat.partial or self.flat.broken_here(loc)
            if self.complete and not lost:
                yield self._missing(loc)
        elif kind == "extra_forbidden":
            yield self._unknown(loc)
        elif not self.flat.broken_here(loc) and not (kind == "too_short" and self.flat.lost_below(loc)):
            yield self._value(loc, kind)

    def _name(self, path: PolicyPath) -> Diagnostic:
        return Diagnostic(
            "PPF206",
            f"`{short(path[-1])}` is not a valid name",
            self.flat.places.key(*path),
            hint=f"a name is {NAME_RULE}",
            path=path,
        )

    def _missing(self, path: PolicyPath) -> Diagnostic:
        shape = self._shape(path)
        what = expected(shape) if shape is not None else "a value"
        return Diagnostic(
            "PPF202",
            f"`{path[-1]}` is missing in {self._place(path[:-1])}",
            self._parent(path[:-1]),
            hint=f"add `{path[-1]}: …`, {what}",
            path=path,
        )

    def _parent(self, path: PolicyPath) -> Span | None:
        """The key of the map that lacks something; at the top, the first key of the file."""
        if path and path[-1].isdecimal() and path not in self.flat.keys:
            return self._at(path)
        if path:
            return self.flat.places.key(*path)
        tops = [span for at_, span in self.flat.keys.items() if len(at_) == 1]
        root = self.flat.values.get(())
        here = [s for s in tops if root is None or s.file == root.file]
        return min(here, default=root)

    def _unknown(self, path: PolicyPath) -> Diagnostic:
        name, above = path[-1], path[:-1]
        shape = at(above, self.model)
        if isinstance(shape, MapOf):
            shape = as_written(shape, self._tree(above))
        if isinstance(shape, ListOf) and shape.single:
            shape = shape.item
        known = list(shape.keys) if isinstance(shape, FixedKeys) else []
        hint = self._meant(name, above, shape)
        more = _FROM_PACKAGES if above == ("privacy",) else ""
        return Diagnostic(
            "PPF201",
            f"unknown key `{short(name)}` in {self._place(above)}",
            self.flat.places.key(*path),
            hint=hint,
            help=f"{self._place(above)} takes {', '.join(f'`{k}`' for k in known)}{more}"
            if known and not hint
            else None,
            path=path,
        )

    def _meant(self, name: str, above: PolicyPath, shape: Shape | None) -> str | None:
        """The key that was meant here, or the place where this key belongs; failing that, the one key still needed."""
        known = list(shape.keys) if isinstance(shape, FixedKeys) else []
        if above == ("privacy",):
            known += sorted(third_parties().difference(known))
        absent = [k for k in known if (*above, k) not in self.flat.keys]
        words = aliases() if above == ("privacy",) else NO_ALIASES
        here = confident(name, absent, words) or (name and confident(name, known, words))
        elsewhere = homes(self.language).get(name, ())
        if here and not (elsewhere and here not in absent):
            self.misspelt.add((*above, here))
            return f"did you mean `{here}`?"
        if hint := plugin_hint(name, above):
            return hint
        if elsewhere:
            return f"`{name}` belongs {under(elsewhere, self.top)}"
        needed = [k for k in absent if isinstance(shape, FixedKeys) and k in shape.keys and shape.keys[k].required]
        near = closest(name, absent) or closest(name, known) or (needed[0] if len(needed) == 1 else None)
        if near:
            self.misspelt.add((*above, near))
        return f"did you mean `{near}`?" if near else None

    def _value(self, path: PolicyPath, kind: str) -> Diagnostic:
        shape = self._shape(path)
        value = self._tree(path)
        name = subject(path)
        if isinstance(shape, SupportShape):
            return self._support(path, value)
        if shape is None:
            return Diagnostic("PPF203", f"{name} is not of a kind that fits", self._at(path), path=path)
        if isinstance(value, (dict, list)) or isinstance(shape, (FixedKeys, MapOf, ListOf)):
            return self._structure(path, shape, value)
        if isinstance(shape, Text) and shape.choices:
            return self._choice(path, shape, value)
        if isinstance(shape, Text) and shape.pattern and value:
            return Diagnostic(
                "PPF206", f"{name} is not a valid name", self._at(path), hint=f"a name is {NAME_RULE}", path=path
            )
        code = "PPF204" if kind in _RANGE else "PPF203"
        return Diagnostic(
            code,
            f"{name} must be {expected(shape)}{self._not(path, value)}",
            self._at(path),
            hint=number_hint(shape, value),
            related=self._origin(path),
            notes=self._notes(path),
            path=path,
        )

    def _shape(self, path: PolicyPath) -> Shape | None:
        """Return the value at a path; below a map that may be a model, the value that the tree has for it."""
        above = at(path[:-1], self.model) if path else None
        if isinstance(above, MapOf) and above.instead is not None:
            above = as_written(above, self._tree(path[:-1]))
            if isinstance(above, FixedKeys):
                return above.keys[path[-1]].shape if path[-1] in above.keys else None
        return at(path, self.model)

    def _support(self, path: PolicyPath, value: Any) -> Diagnostic:
        return Diagnostic(
            "PPF529",
            f"{subject(path)} {refusal(value)}{self._not(path, value)}",
            self._at(path),
            hint=support_hint(value),
            related=self._origin(path),
            notes=self._notes(path),
            path=path,
        )

    def _choice(self, path: PolicyPath, shape: Text, value: Any) -> Diagnostic:
        if path == ("version",):
            return Diagnostic(
                "PPF207",
                f"there is no version{self._not(path, value)[5:]} of the policy language",
                self._at(path),
                hint="this ppdm-flow reads `version: 1`",
                path=path,
            )
        near = closest(value, shape.choices) if isinstance(value, str) and self._quotable(path) else None
        return Diagnostic(
            "PPF205",
            f"{subject(path)} must be {choices(shape.choices)}{self._not(path, value)}",
            self._at(path),
            hint=f"did you mean `{near}`?" if near else None,
            related=self._origin(path),
            notes=self._notes(path),
            path=path,
        )

    def _structure(self, path: PolicyPath, shape: Shape, value: Any) -> Diagnostic:
        if isinstance(value, (list, dict)) and not value and isinstance(shape, (ListOf, MapOf)):
            return Diagnostic(
                "PPF209", f"{subject(path)} must not be empty", self._at(path), hint="name at least one", path=path
            )
        is_a = "a map" if isinstance(value, dict) else "a list" if isinstance(value, list) else "a single value"
        hint = None
        if path and isinstance(shape, (MapOf, FixedKeys)) and isinstance(value, str) and self._quotable(path):
            hint = map_hint(path, shape, value)
        elif isinstance(shape, ListOf) and not shape.single and isinstance(value, str) and self._quotable(path):
            hint = f"write `[{short(value, 30)}]`"
        elif isinstance(shape, (MapOf, FixedKeys)) and isinstance(value, list):
            hint = "write `name: …` for each entry, without `-`" if isinstance(shape, MapOf) else None
        return Diagnostic(
            "PPF208", f"{subject(path)} must be {expected(shape)}, not {is_a}", self._at(path), hint=hint, path=path
        )

    def _place(self, path: PolicyPath) -> str:
        return place_name(path) if path else self.top

    def _at(self, path: PolicyPath) -> Span | None:
        """The value's place; its key's where the value goes over several lines."""
        span = self.flat.places.value(*path)
        if span is not None and span.end_line > span.line and path in self.flat.keys:
            return self.flat.keys[path]
        return span

    def _tree(self, path: PolicyPath) -> Any:
        value = self.flat.tree
        for part in path:
            value = value[int(part)] if isinstance(value, list) else value[part]
        return value

    def _quotable(self, path: PolicyPath) -> bool:
        node = self.flat.scalars.get(path)
        return node is None or node.quotable

    def _not(self, path: PolicyPath, value: Any) -> str:
        return f", not `{short(value)}`" if isinstance(value, str) and self._quotable(path) else ""

    def _origin(self, path: PolicyPath) -> Any:
        node = self.flat.scalars.get(path)
        return node.origin if node is not None else ()

    def _notes(self, path: PolicyPath) -> tuple[str, ...]:
        node = self.flat.scalars.get(path)
        return node.notes if node is not None else ()


# What a message about a shape calls its value, and what it advises.


_READING = frozenset({"delimiter", "encoding", "header", "quote", "sheet", "skip_rows", "strip"})
_FIRST = {"attributes": "role", "source": "path"}
"""The key that a single value most likely is, where more than one or none must be given."""


def subject(path: PolicyPath) -> str:
    """``item 2 of `channel``` or `` `confidence` of template `x` ``."""
    if not path:
        return "the policy"
    if path[-1].isdecimal() and len(path) > 1:
        return f"item {int(path[-1]) + 1} of `{short(path[-2])}`"
    if len(path) == 1:
        return f"`{path[0]}`"
    owner = place_name(path[:-1])
    name = place_name(path)
    return name if not name.startswith("`") else f"`{short(path[-1])}` of {owner}"


def number_hint(shape: Shape, value: Any) -> str | None:
    """Advise on a percentage where a share is meant, and on a decimal comma."""
    if not isinstance(shape, Number) or not isinstance(value, str):
        return None
    text = value.strip()
    percent = text.removesuffix("%").strip().replace(",", ".")
    try:
        figure = float(percent)
    except ValueError:
        return None
    if shape.lt == 1.0 and 0.0 < figure < 100.0 and (figure >= 2.0 or "%" in text):
        return f"write `{figure / 100:g}` for {figure:g} %"
    if "%" in text and not shape.integer:
        return "a percentage is at most 100%" if shape.share else f"write `{figure / 100:g}` for {figure:g} %"
    if "," in text and not shape.integer:
        return f"write `{percent}`, with a point"
    return None


def support_hint(value: Any) -> str | None:
    """Advise on two units, a percentage, a ratio that counts rows."""
    if isinstance(value, dict):
        if {"count", "ratio"} <= value.keys():
            return "`count: null` or `ratio: null` takes back an inherited one"
        value = value.get("ratio")
    if not isinstance(value, str):
        return None
    share = number_hint(Number(integer=False, gt=0.0, lt=1.0), value)
    counts = value.strip().isdecimal() and int(value) > 1
    return f"write `{{count: {short(value, 20)}}}` for rows" if counts else share


def map_hint(path: PolicyPath, shape: Shape, value: str) -> str | None:
    """Advise on a single value where a map must stand: `age: QI` for `age: {role: QI}`."""
    if _glued(path):
        return "a blank belongs after the colon"
    if isinstance(shape, MapOf) and isinstance(shape.value, ListOf):
        return f"write `{{{short(value, 30)}: [VALUE, …]}}`"
    if not isinstance(shape, FixedKeys):
        return None
    needed = [key.name for key in shape.keys.values() if key.required]
    above = path[-2] if len(path) > 1 else path[-1]
    name = needed[0] if len(needed) == 1 else _FIRST.get(above)
    return f"write `{{{name}: {short(value, 30)}}}`" if name in shape.keys else None


def _glued(path: PolicyPath) -> bool:
    return ":{" in path[-1] or ":[" in path[-1]


def empty_hint(path: PolicyPath) -> str:
    """Advise on a key without a value; a decimal comma makes one in a map in braces: `{r2: 0,25}`."""
    if path[-1].isdecimal():
        return "numbers have a decimal point: a comma begins a new key"
    return "a blank belongs after the colon" if _glued(path) else "write a value, or remove the key"


def plugin_hint(name: str, above: PolicyPath) -> str | None:
    """Advise on a parameter of a plugin that stands beside ``with:``."""
    step = len(above) == 2 and above[0] in ("steps", "audits")
    if step or (above == ("source",) and name in _READING):
        return f"what a plugin takes stands under `with`: `with: {{{short(name)}: …}}`"
    return None


def under(places: tuple[str, ...], top: str = "the policy") -> str:
    """Name the places that a key may stand under."""
    named = [f"under `{p}`" if p else f"at the top of {top}" for p in places[:2]]
    return " or ".join(named)

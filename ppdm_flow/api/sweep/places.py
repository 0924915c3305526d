"""Where a swept value goes: the user's dotted path as a path of the policy's tree, or as one of its params."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ppdm_flow.api.sweep.grid import Axis, Point
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import UsageError
from ppdm_flow.core.suggest import closest
from ppdm_flow.policy.language.shape import FixedKeys, FreeShape, MapOf, Shape, at
from ppdm_flow.policy.language.words import place_name
from ppdm_flow.policy.loaded import PolicyPath, PolicyReading

_PARAMS = "params"
_WITH = "with"


@dataclass(frozen=True, slots=True)
class AxisPlaces:
    """Params by the axis that sets them, and paths of the resolved tree by the axis that replaces them."""

    params: Mapping[str, str] = field(default_factory=dict)
    paths: Mapping[str, PolicyPath] = field(default_factory=dict)

    def sets(self, point: Point) -> dict[str, str]:
        """Return the params that a point sets."""
        return {name: point[axis] for axis, name in self.params.items()}

    def over(self, point: Point) -> dict[PolicyPath, str]:
        """Return the values that a point lays over the policy."""
        return {path: point[axis] for axis, path in self.paths.items()}


def places(every: Iterable[Axis], loaded: PolicyReading, sets: Mapping[str, str]) -> AxisPlaces:
    """Find the place of each axis. Raises UsageError, with all places that the policy does not have at once.

    A param that the policy does not declare is found by whoever loads it with :meth:`Places.sets`.
    """
    params: dict[str, str] = {}
    paths: dict[str, PolicyPath] = {}
    faults: list[Diagnostic] = []
    for axis in every:
        head, _, rest = axis.path.partition(".")
        if head == _PARAMS and rest:
            fault = _set_twice(rest) if rest in sets else None
            params[axis.path] = rest
        else:
            place = _path(tuple(axis.path.split(".")), loaded.tree)
            fault = place if isinstance(place, Diagnostic) else _twice(place, axis.path, paths)
            if not isinstance(place, Diagnostic):
                paths[axis.path] = place
        faults += [fault] if fault is not None else []
    if faults:
        raise UsageError(faults, loaded.sources)
    return AxisPlaces(params, paths)


def _twice(path: PolicyPath, axis: str, paths: Mapping[str, PolicyPath]) -> Diagnostic | None:
    other = next((a for a, p in paths.items() if p == path), None)
    return None if other is None else Diagnostic("PPF120", f"`--over {axis}` and `--over {other}` are one place")


def _set_twice(name: str) -> Diagnostic:
    return Diagnostic("PPF120", f"`--set {name}` and `--over params.{name}` both set one param")


def _path(parts: PolicyPath, tree: Any) -> PolicyPath | Diagnostic:
    """Follow the tree; names with dots in them are taken whole, and ``with`` may be left out."""
    path: PolicyPath = ()
    while parts:
        shape = at(path)
        if isinstance(shape, FixedKeys) and _WITH in shape.keys and (parts[0] == _WITH or parts[0] not in shape.keys):
            path, parts = (*path, _WITH), parts[parts[0] == _WITH :]
            tree = tree.get(_WITH, {}) if isinstance(tree, Mapping) else {}
            continue
        head = _head(parts, tree)
        if head is None:
            fault = _missing(path, parts, shape, tree)
            if fault is not None:
                return fault
            return (*path, *parts)
        path = (*path, head)
        parts = parts[len(head.split(".")) :]
        tree = tree[int(head)] if isinstance(tree, list) else tree[head]
    if isinstance(tree, Mapping) and isinstance(at(path), (FixedKeys, MapOf)):
        text = f"`{'.'.join(path)}` is a map: name the one value in it that is to vary"
        return _nowhere(text, next(iter(tree), None), ".".join(path) + ".", None)
    return path


def _head(parts: PolicyPath, tree: Any) -> str | None:
    """Return the key that stands at the next part, or at the next few together."""
    if isinstance(tree, list):
        return parts[0] if parts[0].isdecimal() and int(parts[0]) < len(tree) else None
    if not isinstance(tree, Mapping):
        return None
    return next((h for n in range(len(parts), 0, -1) if (h := ".".join(parts[:n])) in tree), None)


def _missing(path: PolicyPath, parts: PolicyPath, shape: Shape | None, tree: Any) -> Diagnostic | None:
    """Return what is wrong with a key that the policy does not write; None where it may be added."""
    if isinstance(shape, FreeShape) and isinstance(tree, Mapping):
        return None  # the plugin's own model says whether it knows the parameter
    if isinstance(shape, FixedKeys) and len(parts) == 1 and parts[0] in shape.keys:
        return None
    here = set(tree) if isinstance(tree, Mapping) else set()
    known = here | (set(shape.keys) if isinstance(shape, FixedKeys) and len(parts) == 1 else set())
    prefix = "".join(f"{part}." for part in path)
    where = place_name(path) if path else "the policy"
    if isinstance(shape, MapOf) and path:
        where = f"the policy's `{'.'.join(path)}`"
    listed = ", ".join(f"`{k}`" for k in sorted(known)[:12])
    return _nowhere(
        f"{where} has no `{parts[0]}`", closest(parts[0], known), prefix, f"it has {listed}" if listed else None
    )


def _nowhere(text: str, near: str | None, prefix: str, rest: str | None) -> Diagnostic:
    hint = f"did you mean `{prefix}{near}`?" if near else rest
    return Diagnostic("PPF121", text, help=hint)

"""What a sweep goes over: places of the policy and their values, as the command line has them."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import UsageError
from ppdm_flow.core.suggest import closest
from ppdm_flow.policy.language.shape import FixedKeys, FreeShape, MapOf, Shape, at
from ppdm_flow.policy.language.words import place_name
from ppdm_flow.policy.loaded import PolicyPath, PolicyReading

MOST_POINTS = 1_000
_NUMBER = r"-?[0-9]+(?:\.[0-9]+)?"
_RANGE = re.compile(rf"({_NUMBER})\.\.({_NUMBER})(?::([0-9]+))?\Z")
_MOST_DIGITS = 20
"""Of a number in a range; with more, `Decimal` does not have all of them."""
_QUOTES = "\"'"
_OPEN, _CLOSE = "[{", "]}"


@dataclass(frozen=True, slots=True)
class Axis:
    """A place as the user wrote it (``params.k``, ``steps.generate.min_support``) and the texts to put there."""

    path: str
    values: tuple[str, ...]


Point = Mapping[str, str]
"""The value at each axis, by its path."""


def axes(words: Iterable[str]) -> tuple[Axis, ...]:
    """Return the axes of ``PATH=V1,V2,…`` words. Raises UsageError, with all that is wrong at once.

    A value may be a range: ``2..5`` are the whole numbers from 2 to 5, ``0.1..0.9:5`` five numbers evenly apart.
    """
    axis_of: dict[str, Axis] = {}
    faults: list[Diagnostic] = []
    for word in words:
        try:
            axis = _axis(word)
            if axis.path in axis_of:
                raise _unclear(f"`--over {axis.path}` is given twice", "put all of its values into one, with commas")
            axis_of[axis.path] = axis
        except UsageError as error:
            faults += error.diagnostics
    if faults:
        raise UsageError(faults)
    return tuple(axis_of.values())


def grid(every: Sequence[Axis]) -> tuple[Point, ...]:
    """Return every combination of values, the last axis fastest. Raises UsageError where they are too many."""
    size = math.prod(len(axis.values) for axis in every)
    if size > MOST_POINTS:
        raise _too_many(f"{' times '.join(str(len(axis.values)) for axis in every)} values are {size:,} points")
    names = [axis.path for axis in every]
    return tuple(dict(zip(names, values, strict=True)) for values in itertools.product(*(a.values for a in every)))


def _axis(word: str) -> Axis:
    path, equals, text = word.partition("=")
    path = path.strip()
    if not equals or not path or "" in path.split("."):
        raise _unclear(f"`--over {word}` names no place with values", "write `--over steps.NAME.PARAM=1,5,20`")
    written = [_read_values(path, part) for part in _parts(text)]
    size = sum(map(len, written))  # counted before a range is written out
    if size > MOST_POINTS:
        raise _too_many(f"{size:,} values of `--over {path}` are as many points")
    return Axis(path, tuple(dict.fromkeys(value for values in written for value in values)))


def _parts(text: str) -> Iterator[str]:
    """Yield what stands between commas, outside of brackets and quotes."""
    depth, quote, start, is_blank = 0, "", 0, True
    for i, c in enumerate(text):
        blank_before, is_blank = is_blank, is_blank and c.isspace()
        if quote:
            quote = "" if c == quote else quote
        elif c in _QUOTES and blank_before:
            quote = c
        elif c in _OPEN:
            depth += 1
        elif c in _CLOSE:
            depth -= 1
        elif c == "," and depth <= 0:
            yield text[start:i].strip()
            start, is_blank = i + 1, True
    yield text[start:].strip()


@dataclass(frozen=True, slots=True)
class _Range:
    """``size`` numbers evenly apart, both ends among them."""

    low: Decimal
    high: Decimal
    size: int

    def __len__(self) -> int:
        return self.size

    def __iter__(self) -> Iterator[str]:
        step = (self.high - self.low) / (self.size - 1) if self.size > 1 else Decimal(0)
        return (_plain(self.low + i * step) for i in range(self.size))


def _read_values(path: str, part: str) -> tuple[str, ...] | _Range:
    """Return what stands between two commas: a value, or a range that is not written out yet."""
    if not part:
        raise _unclear(f"`--over {path}=…` has an empty value", 'write "" for the empty text')
    if len(part) > 1 and part[0] in _QUOTES and part[-1] == part[0]:
        return (part[1:-1],)
    match = _RANGE.match(part)
    if match is None:
        return (part,)
    if any(len(number or "") > _MOST_DIGITS for number in match.groups()):
        raise _unclear(f"a range of `--over {path}` has a number of more than {_MOST_DIGITS} digits", "round it")
    return _range(path, part, Decimal(match[1]), Decimal(match[2]), match[3])


def _range(path: str, part: str, low: Decimal, high: Decimal, count: str | None) -> _Range:
    if count is None and (low % 1 or high % 1):
        raise _unclear(f"`{part}` of `--over {path}` is not a range of whole numbers", f"say how many: `{part}:5`")
    many = int(count) if count is not None else int(abs(high - low)) + 1
    if not (2 <= many <= MOST_POINTS or (many == 1 and low == high)):
        raise _unclear(
            f"`{part}` of `--over {path}` is not a range of 2 to {MOST_POINTS:,} numbers", "`LOW..HIGH:COUNT`"
        )
    return _Range(low, high, many)


def _plain(value: Decimal) -> str:
    text = f"{round(value, 12):f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _too_many(text: str) -> UsageError:
    return UsageError(Diagnostic("PPF122", f"{text}: at most {MOST_POINTS:,}", help="give fewer values, or fewer axes"))


def _unclear(text: str, hint: str) -> UsageError:
    return UsageError(Diagnostic("PPF120", text, help=hint))


# Where a swept value goes: the user's dotted path as a path of the policy's tree, or as one of its params.


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

    A param that the policy does not declare is found when the policy is loaded with :meth:`AxisPlaces.sets`.
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
    deeper = [] if path or len(parts) > 1 else [".".join(each) for each in _paths_to(parts[0], tree)]
    if deeper:
        return _nowhere(f"{where} has no `{parts[0]}` at its top", deeper[0], "", None)
    listed = ", ".join(f"`{k}`" for k in sorted(here or known)[:12])
    return _nowhere(
        f"{where} has no `{parts[0]}`", closest(parts[0], known), prefix, f"it has {listed}" if listed else None
    )


def _paths_to(name: str, tree: Any, path: PolicyPath = ()) -> Iterator[PolicyPath]:
    """Yield the paths of the policy that end with a key."""
    for key, value in tree.items() if isinstance(tree, Mapping) else ():
        if key == name:
            yield (*path, key)
        yield from _paths_to(name, value, (*path, key))


def _nowhere(text: str, near: str | None, prefix: str, rest: str | None) -> Diagnostic:
    hint = f"did you mean `{prefix}{near}`?" if near else rest
    return Diagnostic("PPF121", text, help=hint)

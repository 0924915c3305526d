"""Floors: bounds that a template puts on figures, and that nothing which extends it may go below."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from ppdm_flow.core.diagnostics import Diagnostic, Related
from ppdm_flow.core.spans import Span
from ppdm_flow.core.suggest import closest
from ppdm_flow.policy.flatten import Flat
from ppdm_flow.policy.loaded import PolicyPath
from ppdm_flow.policy.nodes import Map, Scalar
from ppdm_flow.policy.params import number
from ppdm_flow.policy.permission import ANSWERS, WAIVERS
from ppdm_flow.policy.shape import Keys, at
from ppdm_flow.policy.words import short

_BOUND = re.compile(r"\s*(>=|<=|>|<|==)\s*(\S+)\s*\Z")
_COMPARE: Mapping[str, Callable[[Decimal, Decimal], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    ">": operator.gt,
    "<": operator.lt,
    "==": operator.eq,
}
_WORDS = {">=": "at least", "<=": "at most", ">": "above", "<": "below", "==": "exactly"}


@dataclass(frozen=True, slots=True)
class Floor:
    """One bound: a path (``*`` for any name), a comparison and a number."""

    path: PolicyPath
    sign: str
    bound: Decimal
    span: Span
    text: str

    @property
    def bound_text(self) -> str:
        """The bound as the policy writes it: ``>= 5``."""
        return f"{self.sign} {self.bound}"

    @property
    def words(self) -> str:
        """The bound as a phrase: ``at least 5``."""
        return f"{_WORDS[self.sign]} {self.bound}"


def floors_of(node: Map | None) -> tuple[list[Floor], list[Diagnostic]]:
    """Read the floors of one file, and report those that cannot be read (PPF309)."""
    floors: list[Floor] = []
    found: list[Diagnostic] = []
    for key, entry in node.entries.items() if node else ():
        value = entry.node
        if not isinstance(value, Scalar) or value.broken or value.text is None:
            continue
        if key == WAIVERS and value.text in ANSWERS:
            continue
        path = tuple(key.split("."))
        fault = _unknown_path(path, entry.key_span)
        match = _BOUND.match(value.text)
        bound = number(match[2]) if match else None
        if match is None or bound is None:
            hint = 'write a comparison and a number, such as ">= 5"'
            fault = Diagnostic("PPF309", f"`{short(value.text)}` is no bound", value.span, hint=hint)
        if fault is not None or match is None or bound is None:
            found.extend([fault] if fault else [])
            continue
        floors.append(Floor(path, match[1], bound, entry.key_span, key))
    return floors, found


def violations(flat: Flat, floors: Iterable[Floor], use: Span | None) -> Iterator[Diagnostic]:
    """Report every figure below a floor, and every figure that a floor needs and the policy lacks (PPF308).

    ``use`` is the place that stands for the policy where a figure is missing altogether.
    """
    for floor in floors:
        paths = list(_fitting(flat.tree, floor.path))
        if not paths and "*" not in floor.path:
            yield Diagnostic(
                "PPF308",
                f"a floor wants `{floor.text}` to be {floor.words}, and this policy has no such figure",
                use or floor.span,
                hint=f"state `{floor.text}`" if use else None,
                related=(Related(floor.span, "the floor"),) if use else (),
            )
        for path in paths:
            yield from _violation(flat, floor, path)


def _violation(flat: Flat, floor: Floor, path: PolicyPath) -> Iterator[Diagnostic]:
    node = flat.scalars.get(path)
    if node is None or node.broken or node.text is None:
        return
    figure = number(node.text)
    if figure is None or _COMPARE[floor.sign](figure, floor.bound):
        return
    shown = f"; it is {short(node.text)}" if node.quotable else ""
    yield Diagnostic(
        "PPF308",
        f"`{'.'.join(path)}` must be {floor.words}{shown}",
        node.span,
        hint="a floor forbids this",
        related=(Related(floor.span, "the floor"), *node.origin),
        notes=node.notes,
        path=path,
    )


def _fitting(tree: Any, pattern: PolicyPath, path: PolicyPath = ()) -> Iterator[PolicyPath]:
    """The paths of the tree that a floor's path fits; names with dots in them are taken whole."""
    if not pattern:
        yield path
        return
    if isinstance(tree, list):  # each of several must keep the floor
        for place, item in enumerate(tree):
            yield from _fitting(item, pattern, (*path, str(place)))
        return
    if not isinstance(tree, Mapping):
        return
    for length in range(len(pattern), 0, -1):
        head, rest = ".".join(pattern[:length]), pattern[length:]
        if head in tree:
            yield from _fitting(tree[head], rest, (*path, head))
            return
    if pattern[0] == "*":
        for key, below in tree.items():
            yield from _fitting(below, pattern[1:], (*path, key))


def _unknown_path(path: PolicyPath, span: Span) -> Diagnostic | None:
    for length in range(1, len(path) + 1):
        if at(path[:length]) is None:
            above = at(path[: length - 1])
            near = closest(path[length - 1], above.keys) if isinstance(above, Keys) else None
            good = ".".join((*path[: length - 1], near, *path[length:])) if near else None
            return Diagnostic(
                "PPF309",
                f"the policy language has no place `{short('.'.join(path))}`",
                span,
                hint=f"did you mean `{good}`?" if good else None,
            )
    return None

"""Diagnostics for conflicts between templates that no extending file resolves (PPF315)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from ppdm_flow.core.diagnostics import Diagnostic, RelatedPlace, Severity
from ppdm_flow.core.spans import Span
from ppdm_flow.policy.flatten import FlatPolicy
from ppdm_flow.policy.floor import STAR, Floor
from ppdm_flow.policy.inheritance.joining import Conflict
from ppdm_flow.policy.language.words import short
from ppdm_flow.policy.params.params import ParamValue
from ppdm_flow.policy.text.nodes import Node, PolicyPath, Scalar


def unresolved_conflicts(
    conflicts: Iterable[Conflict], flat: FlatPolicy, floors: Collection[Floor]
) -> Iterator[Diagnostic]:
    """Report each conflict whose outcome still stands in the resolved tree; under a floor it is an error."""
    for each in conflicts:
        if flat.values.get(each.path) != each.holds.span:
            continue
        guarded = not each.deleted and any(_guards(f.path, each.path) for f in floors)
        yield _conflict(each, Severity.ERROR if guarded else Severity.WARNING)


def ambiguous_param(name: str, span: Span, values: tuple[ParamValue, ParamValue]) -> Diagnostic:
    """Report the use of a param that two templates give different values."""
    first, second = values
    related = [RelatedPlace(v.span, w) for v, w in ((second, "this one is used"), (first, "the other")) if v.span]
    return Diagnostic(
        "PPF315",
        f"two templates give the param `{short(name)}` different values{_texts(second, first)}",
        span,
        Severity.WARNING,
        hint=f"declare `{short(name)}` under `params:` here",
        related=tuple(related),
    )


def _conflict(each: Conflict, severity: Severity) -> Diagnostic:
    text = ".".join(each.path)
    if each.deleted:
        message = f"one template takes `{text}` away, another brings it in: it stays"
        hint = f"write `{each.path[-1]}: null` or its value here"
        related = (RelatedPlace(each.holds.span, "brought in here"), RelatedPlace(each.other.span, "taken away here"))
        return Diagnostic("PPF315", message, each.at, severity, hint=hint, related=related, path=each.path)
    message = f"two templates give `{text}` different values{_texts(each.holds, each.other)}"
    return Diagnostic(
        "PPF315",
        message,
        each.at,
        severity,
        hint=f"say here what `{text}` is",
        help="a floor is about it, so that the order of templates must not decide"
        if severity is Severity.ERROR
        else None,
        related=(*_place(each.holds, "this one is used"), *_place(each.other, "the other")),
        path=each.path,
    )


def _place(node: Node, what: str) -> Iterator[RelatedPlace]:
    yield RelatedPlace(node.span, what)
    yield from node.origin if isinstance(node, Scalar) else ()


def _texts(holds: Node | ParamValue, other: Node | ParamValue) -> str:
    shown = []
    for each in (holds, other):
        if not isinstance(each, Scalar | ParamValue) or not each.text or not each.quotable:
            return ""
        shown.append(f"`{short(each.text, 30)}`")
    return f", {shown[0]} and {shown[1]}"


def _guards(floor: PolicyPath, path: PolicyPath) -> bool:
    """Whether a floor is about the place, or about something in it."""
    return all(a in (STAR, b) for a, b in zip(floor, path, strict=False))

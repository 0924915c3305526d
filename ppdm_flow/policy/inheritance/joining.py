"""Merges several templates side by side: the nearer template wins, and ties are conflicts.

A file is nearer than the files that it extends. What it lays over them therefore wins against another template that
brings the same files in (as in the C3 order of base classes). Of two templates that know nothing of each other the
later one wins, and the conflict is kept until a file above says what is meant.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field

from ppdm_flow.core.diagnostics import Diagnostic, RelatedPlace, Severity
from ppdm_flow.core.spans import Span
from ppdm_flow.policy.flatten import FlatPolicy
from ppdm_flow.policy.floor import STAR, Floor
from ppdm_flow.policy.language.words import short
from ppdm_flow.policy.params import ParamValue
from ppdm_flow.policy.text.nodes import Map, MappingEntry, Node, PolicyPath, Scalar, Seq, is_none, is_null

Under = dict[PolicyPath, frozenset[Span]]

_UNCONTESTED = frozenset({"description"})
_NONE: frozenset[Span] = frozenset()


@dataclass(frozen=True, slots=True)
class Conflict:
    """Two templates give a place different values; ``holds`` is the one that is used.

    ``deleted`` says that the other one gives no value, but takes it away. ``at`` is where the second is extended.
    """

    path: PolicyPath
    holds: Node
    other: Node
    at: Span
    deleted: bool = False


@dataclass(slots=True)
class MergedTree:
    """A tree with a record of what it overrides.

    ``under`` are, for a value, the places of those that it replaced; ``gone`` the ``null`` that took something away,
    ``gone_under`` the places of what that was.
    """

    node: Map
    under: Under = field(default_factory=dict)
    gone: dict[PolicyPath, Span] = field(default_factory=dict)
    gone_under: Under = field(default_factory=dict)


def lay(base: MergedTree, over: Map) -> MergedTree:
    """Merge a file's own part over its inherited tree, with a record of the replaced values."""
    made = MergedTree(over, dict(base.under), dict(base.gone), dict(base.gone_under))
    made.node = _laid(base.node, over, (), made)
    return made


def _laid(base: Map, over: Map, path: PolicyPath, made: MergedTree) -> Map:
    entries = dict(base.entries)
    for key, entry in over.entries.items():
        below, here = entries.get(key), (*path, key)
        if below is None:
            entries[key] = entry
        elif is_null(entry.node):
            del entries[key]
            made.gone[here] = entry.key_span
            made.gone_under[here] = places(below.node) | _all(made.under, here)
        elif isinstance(below.node, Map) and isinstance(entry.node, Map):
            entries[key] = MappingEntry(entry.key_span, _laid(below.node, entry.node, here, made), entry.plain)
        else:
            made.under[here] = places(below.node) | _all(made.under, here)
            entries[key] = entry
    return Map(entries, over.span, base.partial or over.partial)


def join(first: MergedTree, second: MergedTree, at: Span, conflicts: list[Conflict]) -> MergedTree:
    """Put two templates side by side; ``at`` is where the second one is extended."""
    gone = {**first.gone, **second.gone}
    gone_under = {**first.gone_under}
    for path, spans in second.gone_under.items():
        gone_under[path] = gone_under.get(path, _NONE) | spans
    made = MergedTree(second.node, _union(first.under, second.under), gone, gone_under)
    joiner = _Joiner(first, second, at, made, conflicts)
    made.node = joiner.maps(first.node, second.node, ())
    return made


@dataclass(slots=True)
class _Joiner:
    first: MergedTree
    second: MergedTree
    at: Span
    made: MergedTree
    conflicts: list[Conflict]

    def maps(self, one: Map, two: Map, path: PolicyPath) -> Map:
        entries = dict(one.entries)
        for key, entry in one.entries.items():
            if key not in two.entries:
                self._taken(entry.node, (*path, key), self.second)
        for key, entry in two.entries.items():
            below, here = entries.get(key), (*path, key)
            if below is None:
                self._taken(entry.node, here, self.first)
                entries[key] = entry
            elif is_null(entry.node) and not is_null(below.node):
                del entries[key]
                self.made.gone[here] = entry.key_span
                self.made.gone_under[here] = places(below.node) | _all(self.made.under, here)
            elif isinstance(below.node, Map) and isinstance(entry.node, Map):
                entries[key] = MappingEntry(entry.key_span, self.maps(below.node, entry.node, here), entry.plain)
            else:
                entries[key] = self._one(below, entry, here)
        return Map(entries, two.span, one.partial or two.partial)

    def _one(self, one: MappingEntry, two: MappingEntry, path: PolicyPath) -> MappingEntry:
        """Decide between two values of one place. Any requirements of one template hold against ``privacy: none``."""
        if path == ("privacy",) and (is_none(one.node) or is_none(two.node)):
            return one if is_none(two.node) else two
        if is_null(one.node) or same(one.node, two.node):
            return two
        if places(two.node) <= self.first.under.get(path, _NONE):
            return one
        if not places(one.node) <= self.second.under.get(path, _NONE) and path[-1] not in _UNCONTESTED:
            self.conflicts.append(Conflict(path, two.node, one.node, self.at))
        return two

    def _taken(self, node: Node, path: PolicyPath, other: MergedTree) -> None:
        """Keep what one template takes away and the other brings in, since it may be a protection; but say so."""
        if path in other.gone and places(node) and places(node) <= other.gone_under[path]:
            self.conflicts.append(Conflict(path, node, Scalar(None, other.gone[path]), self.at, deleted=True))


def same(one: Node, two: Node) -> bool:
    """Whether two values say the same, wherever they stand."""
    if isinstance(one, Scalar) and isinstance(two, Scalar):
        return one.text == two.text or one.broken or two.broken
    if isinstance(one, Seq) and isinstance(two, Seq):
        return len(one.items) == len(two.items) and all(same(a, b) for a, b in zip(one.items, two.items, strict=True))
    if isinstance(one, Map) and isinstance(two, Map):
        return one.entries.keys() == two.entries.keys() and all(
            same(e.node, two.entries[k].node) for k, e in one.entries.items()
        )
    return False


def places(node: Node) -> frozenset[Span]:
    """Return where the values of a tree stand: a list is one value."""
    if isinstance(node, Map):
        return frozenset().union(*(places(e.node) for e in node.entries.values())) if node.entries else _NONE
    return frozenset({node.span})


def _all(under: Under, path: PolicyPath) -> frozenset[Span]:
    """Everything that the values at a path, and below it, were laid over."""
    return _NONE.union(*(spans for at, spans in under.items() if at[: len(path)] == path))


def _union(one: Under, two: Under) -> Under:
    union = dict(one)
    for path, spans in two.items():
        union[path] = union.get(path, _NONE) | spans
    return union


Declarations = dict[str, tuple[Span, Map]]
"""The place of the key and the declaration of each param, by its name."""


def declarations(root: Map) -> Declarations:
    """Return those of one file."""
    params = root.get("params")
    entries = params.entries.items() if isinstance(params, Map) else ()
    return {name: (entry.key_span, entry.node) for name, entry in entries if isinstance(entry.node, Map)}


def over(base: Declarations, nearer: Declarations) -> Declarations:
    """Lay declarations over others: each by the merge rule, in the place of the nearest."""
    laid = dict(base)
    for name, (span, declaration) in nearer.items():
        known = laid.get(name)
        laid[name] = (span, lay(MergedTree(known[1]), declaration).node) if known else (span, declaration)
    return laid


def known(nearer: Declarations, own: Declarations) -> Declarations:
    """Return those of the nearer files that ``own`` declares as well."""
    return {name: declaration for name, declaration in nearer.items() if name in own}


# Diagnostics for conflicts between templates that no extending file resolves (PPF315).


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

"""Rules on attributes: roles, overlapping patterns, domains, and the source's own list of columns."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.roles import AttributeType, Role
from ppdm_flow.core.suggest import closest, did_you_mean
from ppdm_flow.core.texts import canonical
from ppdm_flow.policy.language.models import Attribute
from ppdm_flow.policy.language.patterns import is_pattern, matches, overlap
from ppdm_flow.policy.language.words import short
from ppdm_flow.policy.rules.repeats import repeats
from ppdm_flow.policy.rules.scene import SUPPRESSED, Scene

_SINGLE = (Role.WEIGHT, Role.SAMPLING_WEIGHT, Role.SUBJECT, Role.ITEMS)


def judge(scene: Scene) -> Iterator[Diagnostic]:
    """Judge the attributes."""
    yield from _single_roles(scene)
    yield from _two_weights(scene)
    yield from _overlaps(scene)
    for name, attribute in scene.policy.attributes.items():
        yield from _domain(scene, name, attribute)
        yield from _determined(scene, name, attribute)
        if attribute.role is Role.ITEMS:
            yield from _items(scene, name, attribute)


def _determined(scene: Scene, name: str, attribute: Attribute) -> Iterator[Diagnostic]:
    """Yield what an attribute is said to determine and is no attribute, or itself."""
    for place, other in enumerate(attribute.determines or ()):
        path = ("attributes", name, "determines", str(place))
        if is_pattern(name):
            yield scene.fault("PPF323", "a pattern fits several columns: say it of each by its name", path)
        elif other == name or other not in scene.policy.attributes:
            hint = did_you_mean(other, [a for a in scene.policy.attributes if a != name])
            yield scene.fault("PPF323", f"`{short(other)}` is no other attribute of this policy", path, hint=hint)


def _single_roles(scene: Scene) -> Iterator[Diagnostic]:
    for role in _SINGLE:
        having = [n for n, a in scene.policy.attributes.items() if a.role is role]
        for name in having[1:]:
            yield scene.fault(
                "PPF511",
                f"two attributes have the role `{role}`",
                ("attributes", name, "role"),
                hint="only one can",
                related=scene.related(("attributes", having[0]), "the first"),
            )


def _two_weights(scene: Scene) -> Iterator[Diagnostic]:
    """Report a weight beside a sampling weight: each respondent in a collapsed row has their own sampling weight."""
    first = {role: n for n, a in reversed(scene.policy.attributes.items()) for role in [a.role]}
    if Role.WEIGHT in first and Role.SAMPLING_WEIGHT in first:
        yield scene.fault(
            "PPF537",
            "a `weight` counts rows, and a `sampling_weight` is that of one respondent: a table has one of them",
            ("attributes", first[Role.SAMPLING_WEIGHT], "role"),
            hint="write the rows out singly, each with its own sampling weight",
            related=scene.related(("attributes", first[Role.WEIGHT]), "the weight"),
        )


def _items(scene: Scene, name: str, attribute: Attribute) -> Iterator[Diagnostic]:
    hint = "items are names, also where they are written as numbers"
    if attribute.type is not AttributeType.TEXT:
        message = f"`{short(name)}` is the set of items: its items have no type"
        yield scene.fault("PPF535", message, ("attributes", name, "type"), hint=hint)
    for form in ("intervals", "prefix", "date", "order"):
        if attribute.hierarchy is not None and getattr(attribute.hierarchy, form) is not None:
            message = f"`{short(name)}` is the set of items: its items fall into no `{form}`"
            yield scene.fault("PPF535", message, ("attributes", name, "hierarchy", form), hint=hint)


def _overlaps(scene: Scene) -> Iterator[Diagnostic]:
    attributes = scene.policy.attributes
    patterns = [n for n in attributes if is_pattern(n)]
    for first, second in combinations(patterns, 2):
        if attributes[first] != attributes[second] and overlap(first, second):
            yield scene.fault(
                "PPF519",
                f"the patterns `{short(first)}` and `{short(second)}` can fit the same column",
                ("attributes", second),
                at_key=True,
                warning=True,
                hint="the first one holds for it",
                related=scene.related(("attributes", first), "the first"),
            )


def _domain(scene: Scene, name: str, attribute: Attribute) -> Iterator[Diagnostic]:
    path = ("attributes", name, "domain")
    if attribute.domain is None:
        return
    yield from repeats(scene, attribute.domain, path, f"the domain of `{short(name)}`")
    missing = set(scene.policy.source.missing)
    for i, value in enumerate(attribute.domain):
        here = (*path, str(i))
        if value == SUPPRESSED:
            yield suppressed(scene, here)
        elif value in missing:
            message = f"`{short(value)}` is read as a missing value, so it never occurs"
            yield scene.fault("PPF523", message, here, warning=True, hint="take it out of the domain, or of `missing`")
        elif not typed(value, attribute.type):
            message = (
                f"`{short(value)}` is not a {_TYPES.get(attribute.type, 'text')}, as `type: {attribute.type}` says"
            )
            yield scene.fault("PPF521", message, here)
        elif (spelling := canonical(value, attribute.type)) != value:
            message = f"`{short(value)}` never occurs: of `type: {attribute.type}` that number is written `{spelling}`"
            yield scene.fault("PPF528", message, here, hint=f"write `{spelling}`")


def suppressed(scene: Scene, path: tuple[str, ...], *, at_key: bool = False) -> Diagnostic:
    """Report a value that is spelled like a suppressed cell (PPF509)."""
    message = f"`{SUPPRESSED}` is how suppressed cells are written, so it cannot be a value"
    return scene.fault("PPF509", message, path, at_key=at_key, hint="rename the value in the data first")


def typed(text: str, kind: AttributeType) -> bool:
    """Whether a text can be a value of that type."""
    return canonical(text, kind) is not None


_TYPES = {
    AttributeType.INTEGER: "whole number",
    AttributeType.FLOAT: "number",
    AttributeType.DATE: "date (YYYY-MM-DD)",
    AttributeType.TIMESTAMP: "timestamp (YYYY-MM-DDTHH:MM:SS)",
}


_SETS = ("transactions", "baskets", "long", "randomized_sets")
_SENT = ("randomized_sets", "jsonl", "parquet")
"""Formats that hold sets which clients randomized."""


def judge_source(scene: Scene) -> Iterator[Diagnostic]:
    """Judge ``source:``."""
    source = scene.policy.source
    yield from repeats(scene, source.missing, ("source", "missing"), "`missing`")
    yield from _spellings(scene)
    yield from _clients(scene)
    if source.columns is None:
        return
    if source.format in _SETS:
        message = f"a file in `format: {source.format}` has one column, and the attribute with `role: items` names it"
        yield scene.fault("PPF536", message, ("source", "columns"), hint="leave `columns` out")
        return
    yield from repeats(scene, source.columns, ("source", "columns"), "`columns`", warning=False)
    if not scene.lacks("attributes"):
        yield from _undeclared(scene, source.columns)
    yield from _absent(scene, source.columns)


def _clients(scene: Scene) -> Iterator[Diagnostic]:
    """Judge ``randomized_by`` and ``operator`` (PPF445)."""
    source, place = scene.policy.source, ("source", "randomized_by")
    if source.randomized_by is None:
        if source.operator is not None:
            text = "`operator` says how clients randomized the data, and the policy does not say that they did"
            yield scene.fault("PPF445", text, ("source", "operator"), at_key=True, hint="add `randomized_by: clients`")
        elif source.format == "randomized_sets":
            text = "`format: randomized_sets` are sets that clients randomized, and the policy does not say so"
            hint = "add `randomized_by: clients` and `operator: FILE`"
            yield scene.fault("PPF445", text, ("source", "format"), hint=hint)
        return
    if source.operator is None:
        text = "the data are randomized, and the policy does not say by which operator"
        yield scene.fault("PPF445", text, place, at_key=True, hint="add `operator: FILE`: the one that clients had")
    if source.format is not None and source.format not in _SENT:
        text = f"`format: {source.format}` holds no sets that clients randomized"
        hint = "lines of JSON (`randomized_sets`) do, and bits or seeds in `parquet`"
        yield scene.fault("PPF445", text, ("source", "format"), hint=hint)
    roles = [attribute.role for attribute in scene.policy.attributes.values()]
    if not scene.lacks("attributes") and roles.count(Role.ITEMS) != 1:
        text = "clients randomized a set of items, and not one attribute of the policy has `role: items`"
        yield scene.fault("PPF445", text, place, at_key=True)
    if Role.WEIGHT in roles:
        text = "each row is the set of one client, so that a weight cannot multiply it"
        yield scene.fault("PPF445", text, place, at_key=True, hint="collect the rows one by one")


def _spellings(scene: Scene) -> Iterator[Diagnostic]:
    """Judge ``normalize`` and ``keep_apart`` (PPF635)."""
    source, ledger = scene.policy.source, scene.policy.ledger
    for key in ("normalize", "keep_apart"):
        yield from repeats(scene, getattr(source, key), ("source", key), f"`{key}`")
    for i, word in enumerate(source.keep_apart):
        place = ("source", "keep_apart", str(i))
        if word in source.normalize:
            text, hint = (
                f"`{word}` is taken away at reading, so it tells nothing apart",
                "remove it from one of the two",
            )
            yield scene.fault("PPF635", text, place, hint=hint, related=scene.related(("source", "normalize"), "here"))
        elif ledger is not None and word in ledger.ignore:
            text = f"people whose ids differ in `{word}` are two here, and one in the ledger"
            hint = f"say `ledger: {{ignore: …}}` without `{word}`"
            yield scene.fault("PPF635", text, place, hint=hint)


def _undeclared(scene: Scene, columns: tuple[str, ...]) -> Iterator[Diagnostic]:
    if scene.policy.undeclared != "error":
        return
    for i, name in enumerate(columns):
        if scene.declared.key(name) is None:
            near = closest(name, [a for a in scene.policy.attributes if a not in columns])
            hint = f"did you mean `{short(near)}`?" if near else "declare it, or say `undeclared: drop`"
            message = f"the column `{short(name)}` is not declared under `attributes:`"
            yield scene.fault("PPF524", message, ("source", "columns", str(i)), hint=hint)


def _absent(scene: Scene, columns: tuple[str, ...]) -> Iterator[Diagnostic]:
    for name in scene.policy.attributes:
        there = any(matches(name, c) for c in columns) if is_pattern(name) else name in columns
        if there or scene.lacks("attributes", name):
            continue
        near = closest(name, [c for c in columns if scene.declared.key(c) is None])
        yield scene.fault(
            "PPF524",
            f"`source.columns` has no column `{short(name)}`",
            ("attributes", name),
            at_key=True,
            warning=is_pattern(name),
            hint=f"did you mean `{short(near)}`?" if near else None,
            related=scene.related(("source", "columns"), "the columns"),
        )
